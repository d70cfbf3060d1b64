/** Heartbeats of agents beside those of the person, and heartbeats that are sent again. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { fillWithPatterns } from './many-patterns.js'
import { type Caller, type Service, startService } from './service.js'

const BULK = '/api/wakatime/v1/users/current/heartbeats.bulk'
const DAY = 86_400

/** The day before yesterday at midnight in UTC, in seconds. */
const start = Math.floor(Date.now() / 1_000 / DAY) * DAY - 2 * DAY
const dayOf = (seconds: number) => new Date(seconds * 1_000).toISOString().slice(0, 10)
const range = `from=${dayOf(start)}&to=${dayOf(start + DAY)}`

type Row = Record<string, unknown>

/** The other categories of WakaTime's command line; it leaves `coding` out, and sends null for what it doesn't know. */
const PEOPLE =
  'advising browsing building code_reviewing coding communicating debugging designing indexing learning manual_testing meeting notes planning researching running_tests supporting translating writing_docs writing_tests'
const OF_PEOPLE = [...PEOPLE.split(' ').map((name) => name.replace('_', ' ')), '', null, undefined]
const OF_AGENTS = ['ai coding', 'AI Coding']

interface Beat {
  /** Seconds since the start. */
  second: number
  project: string
  isOfAgent?: boolean
  category?: string | null | undefined
}

const send = async (caller: Caller, beats: Beat[], headers: Record<string, string> = {}) => {
  const reply = await caller.request('POST', BULK, {
    headers,
    body: beats.map(({ second, project, isOfAgent, category = isOfAgent ? 'AI Coding' : undefined }) => ({
      time: start + second,
      project,
      category,
      ai_model: 'model-x',
    })),
  })
  if (reply.status !== 202) throw new Error(reply.text)
}

const someone = async (service: Service, patterns = ['acme/*']) => {
  const caller = await service.signIn(`ada-${randomUUID().slice(0, 8)}`)
  const { id } = await service.workspace(caller, { patterns })
  return { caller, id }
}

const mineOf = async (caller: Caller, id: string) =>
  (await caller.get(`/api/team/dashboard/mine?workspace=${id}&${range}`)).body

const at = (minute: number, second = 0) => minute * 60 + second
const agent = (minute: number, project = 'acme/web', second = 0): Beat => ({
  second: at(minute, second),
  project,
  isOfAgent: true,
})
const person = (minute: number, project = 'acme/web', second = 0): Beat => ({
  second: at(minute, second),
  project,
})

interface Own extends Row {
  totals: Row
  daily: Row[]
  repos: Row[]
}

/** The person's part of their own dashboard. */
const withoutAgents = ({ totals, daily, repos, generated_at: _, ...rest }: Own) => {
  const strip = ({ agent_minutes: _, ...row }: Row) => row
  return {
    ...rest,
    totals: strip(totals),
    daily: daily.map(strip),
    repos: repos.filter((row) => row.active_minutes !== 0).map(strip),
  }
}

t.test('agents and people', async (t) => {
  const service = await startService(t)

  t.test('agent time is kept separate, and only its owner sees it', async (t) => {
    const [ada, bob] = await service.signInAll('ada', 'bob')
    const { id } = await service.workspace(ada, { members: [bob] })
    await send(bob, [person(60), person(64)])
    const seenBy = async (caller: Caller) =>
      Promise.all(
        [
          `/api/team/dashboard?workspace=${id}&${range}&trends=true`,
          `/api/team/dashboard?workspace=${id}&${range}&member=bob`,
          `/api/team/dashboard?workspace=${id}&${range}&format=csv`,
          `/api/team/workspaces/${id}/members`,
          '/api/projects',
          `/api/team/dashboard/mine?workspace=${id}&${range}`,
        ].map(async (path) => (await caller.get(path)).text.replace(/"generated_at":"[^"]*"/, '')),
      )
    const before = await seenBy(ada)
    await send(bob, [
      agent(60),
      agent(64),
      agent(66),
      agent(70),
      agent(300, 'acme/night'),
      agent(304, 'acme/night'),
    ])
    t.same(await seenBy(ada), before, 'nothing changes for anyone else')
    const { totals, daily, repos, previous_totals, members } = await mineOf(bob, id)
    t.same(totals, { active_minutes: 5, commits: 0, closed_issues: 0, active_members: 1, agent_minutes: 11 })
    t.same(
      daily.map(({ active_minutes, agent_minutes }: Record<string, number>) => [
        active_minutes,
        agent_minutes,
      ]),
      [
        [5, 11],
        [0, 0],
      ],
    )
    t.same(
      repos.map(({ repo, active_minutes, agent_minutes }: Record<string, unknown>) => [
        repo,
        active_minutes,
        agent_minutes,
      ]),
      [
        ['acme/web', 5, 6],
        ['acme/night', 0, 5],
      ],
    )
    t.notOk('agent_minutes' in previous_totals)
    t.notOk('agent_minutes' in members[0])
    const exported = (await bob.get('/api/me/export')).body
    t.same(
      exported.agent_minutes.map(({ repo, agent_minutes }: Record<string, unknown>) => [repo, agent_minutes]),
      [
        ['acme/night', 5],
        ['acme/web', 6],
      ],
    )
    t.notMatch(JSON.stringify(exported), /model-x/)
  })

  t.test('all agent minutes of a UTC hour count in the local hour of the first', async (t) => {
    const { caller, id } = await someone(service)
    const daysOf = async () =>
      Promise.all(
        [`workspace=${id}&${range}`, range].map(async (query) => {
          const { body } = await caller.get(`/api/team/dashboard/mine?${query}`)
          return body.daily.map(({ agent_minutes }: { agent_minutes: number }) => agent_minutes)
        }),
      )
    const both = (...days: number[]) => [days, days]
    const tokyo = { Timezone: 'Asia/Tokyo' }
    const angeles = { Timezone: 'America/Los_Angeles' }
    // Tokyo is already on the next day, and Los Angeles isn't.
    await send(caller, [agent(1_140), agent(1_144), agent(1_200)], tokyo)
    await send(caller, [agent(1_240), agent(1_242), agent(1_260)], angeles)
    t.same(await daysOf(), both(1, 9))
    await send(caller, [agent(1_142, 'acme/api')], angeles)
    t.same(await daysOf(), both(1, 9), 'even in another repository')
    await send(caller, [person(1_140), person(1_141)], angeles)
    t.same(await daysOf(), both(1, 7))
    await send(caller, [agent(1_140), agent(1_144), agent(1_200), agent(1_240)], tokyo)
    t.same(await daysOf(), both(1, 7), 'sent again, they change nothing')
  })

  t.test('the status bar lists agent time as a category and leaves it out of the total', async (t) => {
    const { caller } = await someone(service)
    const now = Math.floor(Date.now() / 60_000) * 60 - start
    await send(caller, [
      { second: now, project: 'acme/web' },
      { second: now + 120, project: 'acme/web', isOfAgent: true },
    ])
    const path = '/api/wakatime/v1/users/current/statusbar/today'
    const { data } = (await caller.get(path)).body
    // Around midnight, the two minutes can be on two days.
    const [coding, agents] = data.categories.map(
      ({ total_seconds }: { total_seconds: number }) => total_seconds,
    )
    t.equal(coding, data.grand_total.total_seconds)
    if (agents !== undefined) t.equal(agents, 60)
    t.equal(
      (await caller.get('/api/me')).body.heartbeats.last_at,
      new Date((start + now) * 1_000).toISOString(),
    )
  })

  t.test('heartbeats from agents alone change neither the last heartbeat time nor active time', async (t) => {
    const { caller, id } = await someone(service)
    await send(caller, [agent(60), agent(63)])
    t.equal((await caller.get('/api/me')).body.heartbeats, null)
    const { totals, heatmap } = await mineOf(caller, id)
    t.same(totals, { active_minutes: 0, commits: 0, closed_issues: 0, active_members: 0, agent_minutes: 4 })
    t.ok(heatmap.every(({ minutes }: { minutes: number }) => minutes === 0))
  })

  t.test('agent time is removed when the person’s own minute arrives later', async (t) => {
    const { caller, id } = await someone(service)
    await send(caller, [agent(57), agent(60), agent(63)])
    t.equal((await mineOf(caller, id)).totals.agent_minutes, 7)
    await send(caller, [person(58), person(61)])
    const { totals } = await mineOf(caller, id)
    t.same([totals.active_minutes, totals.agent_minutes], [4, 3])
  })

  t.test('agent time for a project name starts counting after it’s assigned', async (t) => {
    const { caller, id } = await someone(service)
    await send(caller, [agent(60, 'web'), agent(64, 'web')])
    t.equal((await mineOf(caller, id)).totals.agent_minutes, 0)
    const assigned = await caller.put('/api/me/editor-projects', { name: 'web', repo: 'acme/web' })
    t.equal(assigned.status, 200)
    const { totals } = await mineOf(caller, id)
    t.same([totals.active_minutes, totals.agent_minutes], [0, 0], 'they don’t count on days before joining')
    await send(caller, [{ second: DAY * 2, project: 'web', isOfAgent: true }])
    const today = dayOf(start + 2 * DAY)
    const { body } = await caller.get(`/api/team/dashboard/mine?workspace=${id}&from=${today}&to=${today}`)
    t.equal(body.totals.agent_minutes, 1)
  })

  t.test('resending a batch changes nothing in any workspace', async (t) => {
    const { caller, id } = await someone(service, ['acme/*'])
    const { id: other } = await service.workspace(caller, { patterns: ['globex/*'] })
    const both = async () => {
      const [one, two] = [await mineOf(caller, id), await mineOf(caller, other)]
      return [one.totals.active_minutes, two.totals.active_minutes]
    }
    const first = [person(60, 'globex/api', 2), person(60, 'acme/web', 5), person(60, 'globex/api', 40)]
    await send(caller, first)
    await send(caller, first.slice(1, 2))
    await send(caller, [person(64, 'globex/api')])
    t.same(await both(), [0, 5], 'the gap belongs to the project that has the minute before it')
    await send(caller, [person(62, 'acme/web')])
    t.same(await both(), [2, 3], 'a heartbeat of its own moves the minute to another workspace')
  })

  t.test('minutes match the model for any mix, order and repetition of heartbeats', async () => {
    /** A minute belongs to its earliest heartbeat, and a gap to the minute before it. */
    const reposOfMinutes = (ordered: { minute: number; repo: string }[]): Map<number, string> => {
      const marks = new Map<number, string>()
      for (const { minute, repo } of ordered) if (!marks.has(minute)) marks.set(minute, repo)
      const repos = new Map(marks)
      const minutes = [...marks.keys()]
      minutes.forEach((minute, index) => {
        const next = minutes[index + 1] ?? Number.POSITIVE_INFINITY
        if (next - minute <= 5)
          for (let gap = minute + 1; gap < next; gap++) repos.set(gap, marks.get(minute) as string)
      })
      return repos
    }
    const countBy = <T>(items: Iterable<T>, keyOf: (item: T) => string): string => {
      const counts: Record<string, number> = {}
      for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1
      return JSON.stringify(Object.entries(counts).sort())
    }
    const zones = ['Asia/Kolkata', 'America/New_York', 'Pacific/Kiritimati']
    /** Each UTC hour belongs to the local day in which it begins. */
    const localDays = (minutes: Iterable<number>, timeZone: string) => {
      const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' })
      return countBy(minutes, (minute) => format.format((start + Math.floor(minute / 60) * 3_600) * 1_000))
    }
    const beats = fc.uniqueArray(
      // Around midnight, and around the end of an hour.
      fc.record({
        minute: fc.integer({ min: 1_410, max: 1_470 }),
        second: fc.nat(59),
        repo: fc.constantFrom('acme/web', 'acme/docs', 'globex/api'),
        isOfAgent: fc.boolean(),
        category: fc.nat(100),
      }),
      {
        minLength: 1,
        maxLength: 14,
        selector: ({ minute, second, isOfAgent }) => `${minute} ${second} ${isOfAgent}`,
      },
    )
    const plan = beats.chain((all) =>
      fc.record({
        all: fc.constant(all),
        shuffled: fc.shuffledSubarray(all, { minLength: all.length }),
        again: fc.subarray(all),
      }),
    )
    await fc.assert(
      fc.asyncProperty(
        plan,
        fc.boolean(),
        fc.constantFrom(...zones),
        async ({ all, shuffled, again }, isInOrder, zone) => {
          const { caller, id } = await someone(service, ['acme/*'])
          const { id: other } = await service.workspace(caller, { patterns: ['globex/*'] })
          const toBeat = ({ minute, second, repo, isOfAgent, category }: (typeof all)[number]): Beat => {
            const categories = isOfAgent ? OF_AGENTS : OF_PEOPLE
            return {
              second: at(minute, second),
              project: repo,
              category: categories[category % categories.length],
            }
          }
          const ordered = [...all].sort((a, b) => a.minute - b.minute || a.second - b.second)
          const sent = isInOrder ? ordered : shuffled
          const half = Math.ceil(sent.length / 2)
          const inZone = { Timezone: zone }
          await send(caller, sent.slice(0, half).map(toBeat), inZone)
          await send(caller, sent.slice(half).map(toBeat), inZone)
          const read = async () => [await mineOf(caller, id), await mineOf(caller, other)]
          const [acme, globex] = await read()
          const own = reposOfMinutes(ordered.filter(({ isOfAgent }) => !isOfAgent))
          const agents = new Map(
            [...reposOfMinutes(ordered.filter(({ isOfAgent }) => isOfAgent))].filter(
              ([minute]) => !own.has(minute),
            ),
          )
          const expectSame = (found: string, expected: string, what: string) => {
            if (found !== expected) throw new Error(`${what}: ${found} and not ${expected}`)
          }
          const sum = (name: string) => acme.totals[name] + globex.totals[name]
          expectSame(
            JSON.stringify([sum('active_minutes'), sum('agent_minutes')]),
            JSON.stringify([own.size, agents.size]),
            'totals',
          )
          await send(caller, again.map(toBeat))
          const found = (name: string) =>
            JSON.stringify(
              [...acme.repos, ...globex.repos]
                .flatMap((row) => (row[name] > 0 ? [[row.repo, row[name]]] : []))
                .sort(),
            )
          expectSame(
            found('active_minutes'),
            countBy(own.values(), (repo) => repo),
            'repositories',
          )
          expectSame(
            found('agent_minutes'),
            countBy(agents.values(), (repo) => repo),
            'agents',
          )
          for (const reader of zones) {
            const days = `start=${dayOf(start - DAY)}&end=${dayOf(start + 2 * DAY)}&timezone=${reader}`
            const { body } = await caller.get(`/api/wakatime/v1/users/current/summaries?${days}`)
            const found = (category: string) =>
              JSON.stringify(
                body.data.flatMap(({ range, categories }: { range: { date: string }; categories: Row[] }) => {
                  const seconds = Number(categories.find(({ name }) => name === category)?.total_seconds ?? 0)
                  return seconds > 0 ? [[range.date, seconds / 60]] : []
                }),
              )
            expectSame(found('Coding'), localDays(own.keys(), zone), zone)
            expectSame(found('AI Coding'), localDays(agents.keys(), zone), `agents in ${zone}`)
          }
          const strip = (rows: Record<string, unknown>[]) => rows.map(({ generated_at: _, ...rest }) => rest)
          if (JSON.stringify(strip(await read())) !== JSON.stringify(strip([acme, globex])))
            throw new Error('changed by sending a part again')
          // Someone with the same heartbeats, but without agents', has the same minutes.
          const twin = await someone(service, ['acme/*'])
          await service.workspace(twin.caller, { patterns: ['globex/*'] })
          for (const part of [sent.slice(0, half), sent.slice(half)])
            await send(twin.caller, part.filter(({ isOfAgent }) => !isOfAgent).map(toBeat), inZone)
          const comparable = async (caller: Caller, id: string) => {
            const {
              workspace: _,
              members,
              ...rest
            } = withoutAgents(await mineOf(caller, id)) as unknown as { members: Row[]; workspace: unknown }
            return JSON.stringify({
              ...rest,
              members: members.map(({ login: _, avatar_url: __, ...row }) => row),
            })
          }
          if ((await comparable(caller, id)) !== (await comparable(twin.caller, twin.id)))
            throw new Error('agents changed the minutes of the person')
        },
      ),
      { numRuns: 4 },
    )
  })
})

t.test('heartbeats are recorded however many repositories agents work in', async (t) => {
  const service = await startService(t)
  const login = `ada-${randomUUID().slice(0, 8)}`
  const caller = await service.signIn(login)
  const { id } = await service.workspace(caller, { patterns: [`${login}/*`] })
  await fillWithPatterns(service, login, 20)
  // Each is cheap to compare with all patterns, and all of them together aren't.
  for (let minute = 0; minute < 30; minute++)
    await send(caller, [agent(minute, `${login}/${`${minute}`.padStart(90, 'r')}`)])
  await send(caller, [person(40, `${login}/web`), person(41, `${login}/web`)])
  const { totals } = await mineOf(caller, id)
  t.equal(totals.active_minutes, 2)
})
