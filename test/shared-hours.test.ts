/** Attacks of an admin on the hours of others at the privacy level `named`. */
import t from 'tap'
import { localHoursOf } from '../src/features/minutes/heatmap.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays } from '../src/platform/time/days.js'
import { findHole, type Unknown } from './adversary.js'
import { type Caller, startService } from './service.js'

const service = await startService(t)
const today = await readToday(service.database)
/** Finished days. On days that go on, a viewer who reloads sees what was added. */
const [day, dayBefore] = [addDays(today, -1), addDays(today, -2)]

const logins = ['ada', 'bob', 'cleo', 'dan', 'eve', 'fay', 'gus']
const people: Caller[] = []
for (const login of logins) people.push(await service.signIn(login))
const [ada, bob, cleo, dan, eve] = people as [Caller, Caller, Caller, Caller, Caller]

/** With a repository owner of its own, so that a flush counts there alone. */
const makeTeam = async (members: Caller[]) => {
  const { id } = await service.workspace(ada, { members })
  const owner = `acme-${id.slice(-12)}`
  await ada.put(`/api/team/workspaces/${id}/patterns`, { patterns: [`${owner}/*`] })
  return { id, owner }
}

const flush = async (caller: Caller, entries: object[], timezone = 'UTC') => {
  const { body } = await caller.post('/api/team/active-minutes', { entries, timezone })
  t.same([body.ignored, body.capped], [0, 0])
}

const leave = async (id: string, { login }: Caller) =>
  t.equal((await ada.delete(`/api/team/workspaces/${id}/members?login=${login}`)).status, 200)

const entry = (repo: string, hours: Record<number, number>, on = day) => ({
  repo,
  day: on,
  minutes: Object.values(hours).reduce((sum, minutes) => sum + minutes, 0),
  hours,
})

const path = (id: string, from: string, to: string, query = '') =>
  `/api/team/dashboard?workspace=${id}&from=${from}&to=${to}${query}`

interface Cell {
  weekday: number
  hour: number
  minutes: number
}

const readHeatmap = async (id: string, from: string, to: string, query = ''): Promise<Cell[] | null> =>
  (await ada.get(path(id, from, to, query))).body.heatmap

/** The hours of the cells with minutes, whichever the weekday. */
const hoursOf = (cells: Cell[] | null) =>
  cells && Object.fromEntries(cells.flatMap(({ hour, minutes }) => (minutes > 0 ? [[hour, minutes]] : [])))

/** From the activity, and from the rollups. */
const bothWays = async (check: (how: string) => Promise<void>) => {
  await check('from the activity')
  await service.app.rollups.run()
  await check('from the rollups')
}

t.test('a heatmap leaves out days on which fewer than two other people had hours', async (t) => {
  const { id, owner } = await makeTeam([bob, cleo, dan])
  const api = `${owner}/api`
  await flush(ada, [entry(api, { 9: 11 }), entry(api, { 9: 11 }, dayBefore)])
  await flush(bob, [entry(api, { 10: 20 }), entry(api, { 14: 25 }, dayBefore)])
  await flush(cleo, [entry(api, { 11: 30 })])
  // Minutes without hours are in no cell, so they hide no one.
  await flush(dan, [{ repo: api, day: dayBefore, minutes: 40 }])
  await bothWays(async (how) => {
    t.same(hoursOf(await readHeatmap(id, day, day)), { 9: 11, 10: 20, 11: 30 }, how)
    t.equal(await readHeatmap(id, dayBefore, dayBefore), null, how)
    t.same(await readHeatmap(id, dayBefore, day), await readHeatmap(id, day, day), how)
    t.equal(await readHeatmap(id, day, day, '&member=bob'), null, how)
    t.equal(await readHeatmap(id, day, day, `&member=bob&repo=${api}`), null, how)
    const nothing = await readHeatmap(id, addDays(day, -9), addDays(day, -9))
    t.equal(nothing?.filter(({ minutes }) => minutes === 0).length, 168, how)
    for (const own of [
      await readHeatmap(id, dayBefore, day, '&member=ada'),
      (await ada.get(path(id, dayBefore, day).replace('dashboard', 'dashboard/mine'))).body.heatmap,
    ])
      t.equal(
        own.reduce((sum: number, { minutes }: Cell) => sum + minutes, 0),
        22,
        how,
      )
  })
})

t.test('the viewer’s own minutes never count as another person', async (t) => {
  const { id, owner } = await makeTeam([bob])
  const api = `${owner}/api`
  await flush(bob, [entry(api, { 22: 50 })])
  for (const decoy of [entry(api, { 3: 1 }), entry(`${owner}/web`, { 22: 1 }), entry(api, { 22: 5 })]) {
    await flush(ada, [decoy])
    await bothWays(async (how) => {
      for (const query of ['', `&repo=${api}`]) t.equal(await readHeatmap(id, day, day, query), null, how)
    })
  }
  t.same(hoursOf(await readHeatmap(id, day, day, `&repo=${owner}/web`)), { 22: 1 }, 'the viewer alone')
})

t.test('people who have left count as people, and those whose accounts were deleted do not', async (t) => {
  const [ivy, joe] = await service.signInAll('ivy', 'joe')
  const { id, owner } = await makeTeam([bob, ivy, joe])
  const api = `${owner}/api`
  await flush(bob, [entry(api, { 10: 20 }), entry(api, { 10: 20 }, dayBefore)])
  await flush(ivy, [entry(api, { 11: 30 })])
  await flush(joe, [entry(api, { 12: 40 }, dayBefore)])
  await leave(id, ivy)
  t.equal((await joe.request('DELETE', '/api/me', { body: { confirm: 'joe' } })).status, 200)
  await service.app.erasures.run()
  await bothWays(async (how) => {
    t.same(hoursOf(await readHeatmap(id, day, day)), { 10: 20, 11: 30 }, how)
    t.equal(await readHeatmap(id, dayBefore, dayBefore), null, how)
  })
})

t.test('the hours that only one time zone reaches on a UTC day are not shown of one person', async (t) => {
  const { id, owner } = await makeTeam([bob, cleo, dan, eve])
  const [api, web] = [`${owner}/api`, `${owner}/web`]
  await flush(bob, [entry(api, { 10: 20 })], 'Europe/Berlin')
  await flush(cleo, [entry(api, { 10: 30 })], 'Europe/Paris')
  // In Los Angeles the UTC day begins on the afternoon before.
  await flush(dan, [entry(api, { 1: 50 })], 'America/Los_Angeles')
  await bothWays(async (how) => {
    const cells = await readHeatmap(id, day, day)
    t.equal(
      cells?.reduce((sum, { minutes }) => sum + minutes, 0),
      50,
      how,
    )
    t.equal(cells?.filter(({ minutes }) => minutes > 0).length, 1, how)
  })
  await flush(eve, [entry(web, { 2: 5 })], 'America/Los_Angeles')
  await bothWays(async (how) => {
    const cells = await readHeatmap(id, day, day)
    t.same(cells?.flatMap(({ minutes }) => (minutes > 0 ? minutes : [])).sort(), [5, 50, 50], how)
  })
})

t.test('the rest of a day, without the hours of repositories, is never one person’s', async (t) => {
  const { id, owner } = await makeTeam([bob, cleo, dan, eve])
  const [api, docs, web] = [`${owner}/api`, `${owner}/docs`, `${owner}/web`]
  for (const [index, caller] of [bob, cleo, dan].entries())
    await flush(caller, [entry(api, { [9 + index]: 20 })], 'UTC')
  for (const [index, caller] of [dan, eve].entries())
    await flush(caller, [entry(web, { [14 + index]: 30 })], 'UTC')
  const inApi = { 9: 20, 10: 20, 11: 20 }
  const inWeb = { 14: 30, 15: 30 }
  await bothWays(async (how) => {
    t.same(hoursOf(await readHeatmap(id, day, day, `&repo=${api}`)), inApi, how)
    t.same(hoursOf(await readHeatmap(id, day, day, `&repo=${web.toUpperCase()}`)), inWeb, how)
  })
  // All that is neither in api nor in web would be bob's.
  await flush(bob, [entry(docs, { 20: 40 })])
  await bothWays(async (how) => {
    t.same(hoursOf(await readHeatmap(id, day, day)), { ...inApi, ...inWeb, 20: 40 }, how)
    t.same(hoursOf(await readHeatmap(id, day, day, `&repo=${api}`)), inApi, how)
    t.equal(await readHeatmap(id, day, day, `&repo=${web}`), null, how)
    t.equal(await readHeatmap(id, day, day, `&repo=${docs}`), null, how)
  })
  await flush(cleo, [entry(`${owner}/own`, { 21: 10 })])
  await bothWays(async (how) => {
    t.same(hoursOf(await readHeatmap(id, day, day, `&repo=${web}`)), inWeb, how)
  })
})

t.test(
  'repositories with three people each show their hours until someone is alone in another',
  async (t) => {
    const { id, owner } = await makeTeam([bob, cleo, dan, eve])
    const [api, docs, web] = [`${owner}/api`, `${owner}/docs`, `${owner}/web`]
    for (const [index, caller] of [bob, cleo, dan].entries())
      await flush(caller, [entry(api, { [9 + index]: 20 }), entry(web, { [14 + index]: 30 })])
    await flush(eve, [entry(api, { 12: 20 })])
    const inApi = { 9: 20, 10: 20, 11: 20, 12: 20 }
    await bothWays(async (how) => {
      t.same(hoursOf(await readHeatmap(id, day, day, `&repo=${api}`)), inApi, how)
      t.same(hoursOf(await readHeatmap(id, day, day, `&repo=${web}`)), { 14: 30, 15: 30, 16: 30 }, how)
    })
    for (const caller of [eve, ada]) {
      await flush(caller, [entry(docs, { 20: 10 })])
      await bothWays(async (how) => {
        const there = `${how}, with ${caller.login} in the other`
        t.same(hoursOf(await readHeatmap(id, day, day, `&repo=${api}`)), inApi, there)
        t.equal(await readHeatmap(id, day, day, `&repo=${web}`), null, there)
        t.equal(await readHeatmap(id, day, day, `&repo=${docs}`), null, there)
      })
    }
  },
)

t.test('nothing but the heatmap depends on the hours', async (t) => {
  const { id, owner } = await makeTeam([bob, cleo])
  for (const [index, caller] of [ada, bob, cleo].entries())
    await flush(caller, [
      entry(`${owner}/api`, { [9 + index]: 20 }),
      entry(`${owner}/web`, { 14: 5 }, dayBefore),
    ])
  const readAll = async () => {
    const answers = []
    for (const query of ['', '&trends=true', `&repo=${owner}/api`, '&member=bob', '&format=csv']) {
      const { body, text } = await ada.get(path(id, dayBefore, day, query))
      const { generated_at: _, heatmap, ...content } = body ?? { text }
      answers.push({ content, heatmap })
    }
    return answers
  }
  const before = await readAll()
  await service.database.hot.statement(
    `with moved as (
      update activity set hours = hours[3:24] || hours[1:2] where workspace_id = $1::uuid returning day
    )
    insert into stale_days (workspace_id, day) select distinct $1::uuid, day from moved`,
    [id],
  )
  await bothWays(async () => {
    const after = await readAll()
    t.same(
      after.map(({ content }) => content),
      before.map(({ content }) => content),
    )
    t.not(JSON.stringify(after[0]?.heatmap), JSON.stringify(before[0]?.heatmap))
  })
})

/** Numbers from 0 to below 1, the same in every run. */
const randomOf = (seed: number) => () => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 1
  return (seed >>> 8) / 2 ** 23
}

interface Work {
  person: number
  day: string
  repo: string
  timezone: string
  hours: Record<number, number>
}

const CELLS = 168
const HOURS = Array.from({ length: 24 }, (_, hour) => hour)
const cellOf = ({ day, timezone }: Work, hour: number) =>
  (CELLS + (new Date(day).getUTCDay() + 6) * 24 + (localHoursOf(timezone, day)[hour] ?? 0)) % CELLS

const sumOf = (works: Work[]) => {
  const cells = new Array<number>(CELLS).fill(0)
  for (const work of works)
    for (const [hour, minutes] of Object.entries(work.hours))
      cells[cellOf(work, Number(hour))] = (cells[cellOf(work, Number(hour))] ?? 0) + minutes
  return cells
}

/** The people whose work adds up to what is shown: the fewest, where that can be several. */
const findPeople = (works: Work[], cells: Cell[]): number[] | undefined => {
  const here = [...new Set(works.map(({ person }) => person))]
  const subsets = Array.from({ length: 2 ** here.length }, (_, bits) =>
    here.filter((_, index) => (bits >> index) & 1),
  ).sort((one, other) => one.length - other.length)
  const shown = cells.map(({ minutes }) => minutes).join()
  return subsets.find((some) => sumOf(works.filter(({ person }) => some.includes(person))).join() === shown)
}

t.test('no queries about finished days reveal the hours of fewer than two others', async (t) => {
  const random = randomOf(11)
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value
  const days = [day, dayBefore]
  const shown = { team: 0, repository: 0, hidden: 0 }
  for (let round = 0; round < 5; round++) {
    const size = 3 + Math.floor(random() * 5)
    const { id, owner } = await makeTeam(people.slice(1, size))
    const repos = ['api', 'docs', 'web'].map((name) => `${owner}/${name}`)
    const works: Work[] = []
    const density = pick([0.3, 0.6, 0.9])
    for (const [person, caller] of people.slice(0, size).entries()) {
      const timezone = pick(['UTC', 'UTC', 'Europe/Berlin', 'Europe/Paris', 'America/Los_Angeles'])
      const hasHours = random() < 0.9
      const own = days.flatMap((day) =>
        repos.flatMap((repo): Work[] => {
          // The viewer is everywhere.
          if (person > 0 && random() > density) return []
          const hours = Object.fromEntries(
            [pick([0, 8, 9]), pick([10, 22])].map((hour) => [hour, 1 + Math.floor(random() * 19)]),
          )
          return [{ person, day, repo, timezone, hours }]
        }),
      )
      const entries = own.map(({ repo, day, hours }) => {
        const { hours: _, ...withoutHours } = entry(repo, hours, day)
        return hasHours ? entry(repo, hours, day) : withoutHours
      })
      await flush(caller, entries, timezone)
      if (hasHours) works.push(...own)
      if (person > 1 && random() < 0.2) await leave(id, caller)
    }
    await bothWays(async (how) => {
      /** The terms of each number. */
      const numbers: { works: Work[]; cell: number }[] = []
      for (const repo of [undefined, ...repos]) {
        const query = repo === undefined ? '' : `&repo=${repo}`
        const single: (Cell[] | null)[] = []
        for (const day of days) {
          const asked = works.filter((work) => work.day === day && (repo === undefined || work.repo === repo))
          const shownCells = await readHeatmap(id, day, day, query)
          single.push(shownCells)
          if (shownCells === null) {
            shown.hidden++
            continue
          }
          const told = findPeople(asked, shownCells)
          if (told === undefined) throw new Error(`${how}, round ${round}: no one’s work adds up to it`)
          shown[repo === undefined ? 'team' : 'repository'] += Math.min(
            1,
            told.filter((one) => one > 0).length,
          )
          const parts = asked.filter(({ person }) => told.includes(person))
          // In all others, no one can have worked.
          const cells = new Set(parts.flatMap((work) => HOURS.map((hour) => cellOf(work, hour))))
          for (const cell of cells) numbers.push({ works: parts, cell })
        }
        // A longer range says nothing that its days don't say.
        const both = await readHeatmap(id, dayBefore, day, query)
        const expected = single.some((cells) => cells?.some(({ minutes }) => minutes > 0))
          ? sumOf([]).map((_, cell) => single.reduce((sum, cells) => sum + (cells?.[cell]?.minutes ?? 0), 0))
          : single.some((cells) => cells === null)
            ? undefined
            : sumOf([])
        t.same(
          both?.map(({ minutes }) => minutes),
          expected,
          how,
        )
        for (const { login } of people.slice(1, size)) {
          const { status, body } = await ada.get(path(id, dayBefore, day, `&member=${login}${query}`))
          t.ok(status === 404 || body.heatmap === null, 'no one is shown alone')
        }
      }
      // The viewer knows their own hours, and everyone's minutes in each repository on each day.
      const unknowns = works
        .filter(({ person }) => person > 0)
        .flatMap((work): Unknown[] => {
          const partOf = (hour: number) =>
            numbers.flatMap((number, index) =>
              number.works.includes(work) && number.cell === cellOf(work, hour) ? index : [],
            )
          const first = partOf(0)
          return Array.from({ length: 23 }, (_, hour) => ({
            person: work.person,
            equations: partOf(hour + 1),
            minus: first,
          }))
        })
      const hole = findHole(unknowns, numbers.length, 2)
      t.equal(hole, undefined, `${how}, round ${round}: the hours of ${hole?.map((one) => logins[one])}`)
    })
  }
  t.ok(shown.team > 7 && shown.repository > 7 && shown.hidden > 7, JSON.stringify(shown))
})
