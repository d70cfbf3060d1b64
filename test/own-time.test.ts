/** Tests that a person's own time has each minute once, whatever workspaces count it. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { limits } from '../schemas/limits.js'
import { addDays } from '../src/platform/time/days.js'
import { type Caller, startService } from './service.js'
import { until } from './until.js'

const BASE = '/api/wakatime/v1/users/current'
const MINUTE = 60
const DAY = 86_400

const midnight = (daysAgo: number) => Math.floor(Date.now() / 1_000 / DAY) * DAY - daysAgo * DAY
const dayAgo = (daysAgo: number) => new Date(midnight(daysAgo) * 1_000).toISOString().slice(0, 10)

interface Beat {
  /** Minutes since 1970. */
  minute: number
  project: string
}

const beats = (daysAgo: number, minutes: number[], project = 'acme/web'): Beat[] =>
  minutes.map((minute) => ({ minute: midnight(daysAgo) / MINUTE + minute, project }))

const bodyOf = (list: Beat[]) => list.map(({ minute, project }) => ({ time: minute * MINUTE + 1, project }))

const send = async (caller: Caller, list: Beat[]) => {
  const reply = await caller.post(`${BASE}/heartbeats.bulk`, bodyOf(list))
  if (reply.status !== 202) throw new Error(reply.text)
}

const importAll = async (caller: Caller, list: Beat[]) => {
  const reply = await caller.post(`${BASE}/import`, bodyOf(list))
  if (reply.status !== 202) throw new Error(reply.text)
  let body = reply.body
  await until(async () => {
    body = (await caller.get(`${BASE}/import`)).body
    return body.state === 'done'
  }, 'the import is done')
  return body as { minutes: number; own_minutes: number }
}

const flush = async (caller: Caller, entries: object[]) => {
  const reply = await caller.post('/api/team/active-minutes', { entries })
  if (reply.status !== 200) throw new Error(reply.text)
}

/** The minutes of each day that has any, as WakaTime's tools read them. */
const ownDays = async (caller: Caller, from: string, to: string) => {
  const { body } = await caller.get(`${BASE}/summaries?start=${from}&end=${to}`)
  return Object.fromEntries(
    body.data.flatMap(
      ({ grand_total, range }: { grand_total: { total_seconds: number }; range: { date: string } }) =>
        grand_total.total_seconds > 0 ? [[range.date, grand_total.total_seconds / MINUTE]] : [],
    ),
  )
}

const sendIn = async (caller: Caller, timezone: string, list: Beat[]) => {
  const options = { body: bodyOf(list), headers: { Timezone: timezone } }
  const reply = await caller.request('POST', `${BASE}/heartbeats.bulk`, options)
  if (reply.status !== 202) throw new Error(reply.text)
}

const minutesInWorkspaces = async (caller: Caller): Promise<number[]> =>
  (await caller.get('/api/me/export')).body.activity.map(({ minutes }: { minutes: number }) => minutes)

const everything = async (caller: Caller) => {
  const { body } = await caller.get(`${BASE}/all_time_since_today`)
  return body.data.total_seconds / MINUTE
}

t.test('own time', async (t) => {
  const service = await startService(t)
  const someone = () => service.signIn(`ada-${randomUUID().slice(0, 8)}`)

  t.test('imported days count before joining any workspace, and a second import adds nothing', async (t) => {
    const caller = await someone()
    const list = [
      ...beats(1_000, [540, 542, 544]),
      ...beats(40, [0, 3], 'other/repo'),
      ...beats(2, [60], 'folder'),
    ]
    const { minutes, own_minutes } = await importAll(caller, list)
    t.same([minutes, own_minutes], [0, 10])
    t.equal(await everything(caller), 10)
    t.equal((await importAll(caller, list)).own_minutes, 0)
    t.equal(await everything(caller), 10)
    const more = await importAll(caller, [...beats(1_000, [600, 602]), ...beats(41, [1_439])])
    t.equal(more.own_minutes, 4, 'also the minutes between, but none twice')
    t.equal((await importAll(caller, beats(1_000, [543, 546]))).own_minutes, 0, 'the hour has as many')
    t.same(await ownDays(caller, dayAgo(41), dayAgo(0)), { [dayAgo(41)]: 1, [dayAgo(40)]: 4, [dayAgo(2)]: 1 })
    t.equal(await everything(caller), 14)
  })

  t.test('heartbeats for a repository that isn’t in any workspace count only for their sender', async (t) => {
    const caller = await someone()
    await send(caller, beats(1, [600, 603]))
    t.same(await ownDays(caller, dayAgo(1), dayAgo(1)), { [dayAgo(1)]: 4 })
    await service.workspace(caller)
    await send(caller, beats(1, [606]))
    t.same(await ownDays(caller, dayAgo(1), dayAgo(1)), { [dayAgo(1)]: 7 })
    await send(caller, beats(1, [600, 603, 606]))
    t.same(await ownDays(caller, dayAgo(1), dayAgo(1)), { [dayAgo(1)]: 7 })
    const { body } = await caller.get('/api/me/export')
    t.same(
      body.activity.map(({ minutes }: { minutes: number }) => minutes),
      [7],
      'sent again, they count in the workspace',
    )
    t.same(
      body.personal_minutes.map(({ project, minutes }: Record<string, unknown>) => [project, minutes]),
      [['acme/web', 7]],
      'and still once in own time',
    )
  })

  t.test(
    'minutes that count in several workspaces, recorded in different time zones, count once',
    async (t) => {
      const caller = await someone()
      const { id } = await service.workspace(caller)
      await caller.patch(`/api/team/workspaces/${id}/settings`, { idle_window_minutes: 10 })
      await sendIn(caller, 'Asia/Tokyo', beats(1, [600, 608]))
      t.equal(await everything(caller), 9)
      await service.workspace(caller)
      // Now the minutes between are close enough for the other workspace, too.
      await sendIn(caller, 'America/Los_Angeles', beats(1, [604]))
      t.same((await minutesInWorkspaces(caller)).sort(), [7, 9])
      t.equal(await everything(caller), 9)
      const { body } = await caller.get(`/api/team/dashboard/mine?from=${dayAgo(2)}&to=${dayAgo(0)}`)
      t.same([body.totals.active_minutes, body.repos[0].active_minutes], [9, 9])
      t.same(
        body.heatmap.flatMap(({ minutes }: { minutes: number }) => (minutes > 0 ? [minutes] : [])),
        [9],
        'in the local hour of the first of them',
      )
      await flush(caller, [{ repo: 'acme/web', day: dayAgo(1), minutes: 10 }])
      t.equal(await everything(caller), 19, 'even without an hour')
    },
  )

  t.test('no minute counts twice, whatever time zones and idle windows the workspaces have', async () => {
    const history = fc.record({
      zone: fc.constantFrom('Asia/Tokyo', 'America/Los_Angeles'),
      // Most are in one hour.
      minutes: fc.array(fc.integer({ min: 1_200, max: 1_265 }), { maxLength: 8 }),
    })
    await fc.assert(
      fc.asyncProperty(history, history, history, async (first, ...later) => {
        const caller = await someone()
        const sendAll = ({ zone, minutes }: typeof first) => sendIn(caller, zone, beats(1, minutes))
        const { id } = await service.workspace(caller)
        await caller.patch(`/api/team/workspaces/${id}/settings`, { idle_window_minutes: 15 })
        await sendAll(first)
        await service.workspace(caller)
        for (const one of later) await sendAll(one)
        const marks = [first, ...later].flatMap((one) => one.minutes).sort((a, b) => a - b)
        const minutes = new Set(marks)
        marks.forEach((minute, index) => {
          const before = marks[index - 1] ?? minute
          for (let at = before; at < minute && minute - before <= 15; at++) minutes.add(at)
        })
        const own = await everything(caller)
        const most = Math.max(0, ...(await minutesInWorkspaces(caller)))
        if (own < most || own > minutes.size) throw new Error(`${most} <= ${own} <= ${minutes.size}`)
      }),
      { numRuns: 30 },
    )
  })

  t.test('the number of repositories outside any workspace is limited per day', async (t) => {
    const caller = await someone()
    const most = limits.personal_repos_per_day
    const another = (daysAgo: number, count: number, from: number, name: string) =>
      Array.from({ length: count }, (_, n) => beats(daysAgo, [from + n], `${name}/repo-${n}`)).flat()
    const rowsOf = async (day: string) =>
      (await caller.get('/api/me/export')).body.personal_minutes
        .filter((row: { day: string }) => row.day === day)
        .map(({ minutes }: { minutes: number }) => minutes)
    await send(caller, another(1, most + 10, 0, 'first'))
    await send(caller, another(1, most, 600, 'second'))
    const lines = service.logs.filter((line) => line.includes('heartbeats recorded')).slice(-2)
    t.same(
      lines.map((line) => JSON.parse(line).heartbeats.minutes_left_out),
      [10, most],
    )
    t.same(await rowsOf(dayAgo(1)), Array(most).fill(1))
    await send(caller, beats(1, [700, 702], 'first/repo-1'))
    t.same((await rowsOf(dayAgo(1))).sort(), [...Array(most - 1).fill(1), 4], 'known ones go on')
    t.equal((await importAll(caller, another(50, most, 0, 'first'))).own_minutes, most)
    for (const name of ['second', 'third'])
      t.equal((await importAll(caller, another(50, most, 600, name))).own_minutes, 0)
    t.same(await rowsOf(dayAgo(50)), Array(most).fill(1))
  })

  t.test('minutes that wait for a name keep the local day on which they were recorded', async (t) => {
    const caller = await someone()
    const live = async (timezone: string) => {
      const { status } = await caller.post('/api/team/active-minutes', { entries: [], timezone })
      t.equal(status, 200)
    }
    const days = async () => {
      const { body } = await caller.get(`/api/team/dashboard/mine?from=${dayAgo(4)}&to=${dayAgo(1)}`)
      const own = body.daily.flatMap(({ day, active_minutes }: { day: string; active_minutes: number }) =>
        active_minutes > 0 ? [[day, active_minutes]] : [],
      )
      t.same(await ownDays(caller, dayAgo(4), dayAgo(1)), Object.fromEntries(own))
      return own
    }
    await live('Asia/Tokyo')
    await send(caller, [...beats(3, [1_200, 1_203], 'folder'), ...beats(3, [1_320], 'other/repo')])
    t.same(await days(), [[dayAgo(2), 5]])
    await live('America/Los_Angeles')
    t.same(await days(), [[dayAgo(2), 5]])
    const assigned = await caller.put('/api/me/editor-projects', { name: 'folder', repo: 'acme/web' })
    t.equal(assigned.status, 200)
    t.same(await days(), [[dayAgo(2), 5]])
  })

  t.test('all minutes of a UTC hour count in the local hour for which the first was recorded', async (t) => {
    const caller = await someone()
    const [day, next] = [dayAgo(3), dayAgo(2)]
    const read = async () => {
      const { body } = await caller.get(`/api/team/dashboard/mine?from=${dayAgo(4)}&to=${dayAgo(1)}`)
      const own = body.daily.flatMap(({ day, active_minutes }: { day: string; active_minutes: number }) =>
        active_minutes > 0 ? [[day, active_minutes]] : [],
      )
      t.same(await ownDays(caller, dayAgo(4), dayAgo(1)), Object.fromEntries(own))
      return Object.fromEntries(own)
    }
    const ends = async () =>
      (await caller.get(`${BASE}/projects`)).body.data
        .map(({ name, first_heartbeat_at: first, last_heartbeat_at: last }: Record<string, string>) =>
          [name, first?.slice(0, 10), last?.slice(0, 10)].join(' '),
        )
        .sort()
    // Tokyo is already on the next day, and Los Angeles isn't.
    await sendIn(caller, 'Asia/Tokyo', beats(3, [1_200, 1_204], 'away/one'))
    await sendIn(caller, 'America/Los_Angeles', beats(3, [1_240, 1_244, 1_260], 'away/one'))
    t.same(await read(), { [day]: 1, [next]: 10 })
    await sendIn(caller, 'America/Los_Angeles', beats(3, [1_202], 'away/two'))
    t.same(await read(), { [day]: 1, [next]: 10 }, 'even in another repository')
    const { body } = await caller.get('/api/me/export')
    t.same(
      body.personal_minutes.map(({ day, project, minutes }: Record<string, unknown>) => [
        day,
        project,
        minutes,
      ]),
      [
        [day, 'away/one', 1],
        [next, 'away/one', 8],
        [next, 'away/two', 2],
      ],
    )
    t.same(await ends(), [`away/one ${day} ${next}`, `away/two ${next} ${next}`])
  })

  t.test('a local day has at most 1,440 minutes, in a workspace and across workspaces', async (t) => {
    const caller = await someone()
    const { id } = await service.workspace(caller)
    const hours = Object.fromEntries(Array.from({ length: 24 }, (_, hour) => [hour, 60]))
    const post = async (entries: object[]) => {
      const body = { entries, timezone: 'Asia/Tokyo' }
      const reply = await caller.post('/api/team/active-minutes', body)
      t.equal(reply.status, 200)
      return reply.body.notes
    }
    // The last nine hours are on the next day in Tokyo.
    t.same(
      await post([
        { repo: 'acme/web', day: dayAgo(5), minutes: 1_440, hours },
        { repo: 'acme/web', day: dayAgo(4), minutes: 1_440 },
      ]),
      [{ index: 1, status: 'capped', code: 'day_full' }],
    )
    const expected = { [dayAgo(5)]: 900, [dayAgo(4)]: 1_440 }
    const daysOf = async (path: string) => {
      const { body } = await caller.get(`/api/team/dashboard${path}from=${dayAgo(6)}&to=${dayAgo(1)}`)
      t.equal(body.totals.active_minutes, body.repos[0].active_minutes, path)
      return Object.fromEntries(
        body.daily.flatMap(({ day, active_minutes }: { day: string; active_minutes: number }) =>
          active_minutes > 0 ? [[day, active_minutes]] : [],
        ),
      )
    }
    t.same(await daysOf(`?workspace=${id}&`), expected)
    t.same(await daysOf(`/mine?workspace=${id}&`), expected)
    t.same(await daysOf('/mine?'), expected)
    t.same(await ownDays(caller, dayAgo(6), dayAgo(1)), expected)
    t.equal(await everything(caller), 2_340)
    await service.workspace(caller, { patterns: ['other/*'] })
    t.same(await post([{ repo: 'other/repo', day: dayAgo(4), minutes: 1_000 }]), [], 'it has its own limit')
    t.same(await ownDays(caller, dayAgo(6), dayAgo(1)), expected)
  })

  t.test('own time is kept after you leave the workspace', async (t) => {
    const caller = await someone()
    const { id } = await service.workspace(await someone(), { members: [caller] })
    await flush(caller, [{ repo: 'acme/web', day: dayAgo(1), minutes: 5, hours: { 9: 5 } }])
    t.equal((await caller.post(`/api/team/workspaces/${id}/leave`)).status, 200)
    t.same(await ownDays(caller, dayAgo(1), dayAgo(1)), { [dayAgo(1)]: 5 })
  })

  t.test(
    'a history split in any way into imports, heartbeats and flushes, before and after joining, counts each minute once, if older days come in one file',
    async (t) => {
      const places = fc.record({
        daysAgo: fc.constantFrom(1, 2, 33, 34),
        minute: fc.oneof(fc.integer({ min: 0, max: 130 }), fc.integer({ min: 1_400, max: 1_439 })),
      })
      const heartbeat = fc.record({
        ...{ place: places, project: fc.constantFrom('acme/web', 'acme/api', 'other/repo', 'folder') },
        way: fc.constantFrom('import', 'heartbeats'),
        joined: fc.boolean(),
        order: fc.nat(),
      })
      const flushes = fc.array(
        fc.record({
          daysAgo: fc.constantFrom(1, 2),
          hour: fc.integer({ min: 0, max: 2 }),
          minutes: fc.integer({ min: 1, max: 30 }),
          joined: fc.boolean(),
        }),
        { maxLength: 3 },
      )
      await fc.assert(
        fc.asyncProperty(
          fc.array(heartbeat, { minLength: 1, maxLength: 30 }),
          flushes,
          async (list, flushed) => {
            const caller = await someone()
            // A minute has one project.
            const sent = [
              ...new Map(list.map((one) => [`${one.place.daysAgo} ${one.place.minute}`, one])).values(),
            ].map(({ place: { daysAgo, minute }, project, way, joined, order }) => ({
              ...{ minute: midnight(daysAgo) / MINUTE + minute, project, joined, order },
              way: daysAgo > limits.flush_days_back ? 'old' : way,
            }))
            // Marks of these days aren't kept, so a part of an hour can't be told from another part.
            const old = sent.filter(({ way }) => way === 'old')
            if (old.length > 0) await importAll(caller, old)
            const play = async (joined: boolean) => {
              const part = sent.filter((one) => one.joined === joined).sort((a, b) => a.order - b.order)
              const half = Math.ceil(part.length / 2)
              for (const some of [part.slice(0, half), part.slice(half)]) {
                const [imported, live] = [
                  some.filter(({ way }) => way === 'import'),
                  some.filter(({ way }) => way === 'heartbeats'),
                ]
                if (live.length > 0) await send(caller, live)
                if (imported.length > 0) await importAll(caller, imported)
              }
              for (const { daysAgo, hour, minutes } of flushed.filter((one) => one.joined === joined))
                await flush(caller, [
                  { repo: 'acme/web', day: dayAgo(daysAgo), minutes, hours: { [hour]: minutes } },
                ])
            }
            await play(false)
            await service.workspace(caller)
            await play(true)
            if (old.length > 0) t.equal((await importAll(caller, old)).own_minutes, 0)
            const marks = sent.map(({ minute }) => minute).sort((a, b) => a - b)
            const minutes = new Set(marks)
            marks.forEach((minute, index) => {
              const before = marks[index - 1]
              if (before === undefined || minute - before > 5) return
              for (let between = before; between < minute; between++) minutes.add(between)
            })
            const hours = new Map<number, number>()
            for (const minute of minutes) {
              const hour = Math.floor(minute / 60)
              hours.set(hour, (hours.get(hour) ?? 0) + 1)
            }
            for (const { daysAgo, hour, minutes, joined } of flushed) {
              const at = midnight(daysAgo) / 3_600 + hour
              if (joined) hours.set(at, Math.min(60, (hours.get(at) ?? 0) + minutes))
            }
            const expected: Record<string, number> = {}
            for (const [hour, count] of hours) {
              const day = new Date(hour * 3_600_000).toISOString().slice(0, 10)
              expected[day] = (expected[day] ?? 0) + count
            }
            t.same(await ownDays(caller, addDays(dayAgo(34), -1), dayAgo(0)), expected)
          },
        ),
        { numRuns: 12 },
      )
    },
  )
})
