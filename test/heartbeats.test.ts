/** Heartbeats of editors, as WakaTime tools send them, and the minutes that follow from them. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { limits } from '../schemas/limits.js'
import { type Caller, retryWhileUnavailable, reuseService, type Service } from './service.js'

const BASE = '/api/wakatime/v1/users/current'
const BULK = `${BASE}/heartbeats.bulk`
const MINUTE = 60
const DAY = 86_400

/** Yesterday's midnight in UTC, in seconds. */
const yesterday = Math.floor(Date.now() / 1_000 / DAY) * DAY - DAY
const at = (hour: number, minute: number, second = 0) => yesterday + hour * 3_600 + minute * MINUTE + second
const beat = (time: number, project: string | null = 'acme/web') => ({
  time,
  project,
  entity: '/home/ada/secret.ts',
  type: 'file',
  category: 'coding',
  branch: null,
})

interface Hour {
  repo: string
  day: string
  hours: number[]
}

/** The minutes of a person by repository and day, from the account export. */
const activityOf = async (caller: Caller): Promise<Hour[]> => {
  const { body } = await caller.get('/api/me/export')
  return body.activity.map(({ repo, day, hours }: Hour) => ({ repo, day, hours }))
}

/** Minutes by repository, over all days. */
const minutesOf = async (caller: Caller): Promise<Record<string, number>> => {
  const minutes: Record<string, number> = {}
  for (const { repo, hours } of await activityOf(caller))
    minutes[repo] = (minutes[repo] ?? 0) + hours.reduce((sum, count) => sum + count, 0)
  return minutes
}

const accepted = (count: number) => ({
  responses: Array.from({ length: count }, () => [{ data: null }, 201]),
})

const send = async (caller: Caller, heartbeats: object[]) => {
  const reply = await caller.post(BULK, heartbeats)
  if (reply.status !== 202) throw new Error(reply.text)
  return reply.body
}

/** Someone in a workspace with `acme/*`. */
const someone = async (service: Service, login = `ada-${randomUUID().slice(0, 8)}`) => {
  const caller = await service.signIn(login)
  const { id } = await service.workspace(caller)
  return { caller, workspace: id }
}

/** Backdates a person's memberships to before these heartbeats. */
const joinedEarlier = async (service: Service, caller: Caller) => {
  const { id } = (await caller.get('/api/me')).body
  await service.database.write.statement(
    `update members set joined_at = now() - interval '3 days' where user_id = $1::uuid`,
    [id],
  )
}

const projectsOf = async (caller: Caller) => (await caller.get('/api/me/editor-projects')).body.projects

t.test('heartbeats', async (t) => {
  const service = await reuseService(t)

  t.test('a heartbeat counts its own minute and the minutes up to the next one', async (t) => {
    const { caller } = await someone(service)
    const sent = [at(9, 0), at(9, 2), at(9, 6), at(9, 20)].map((time) => beat(time))
    const reply = await caller.post(BULK, sent)
    t.equal(reply.status, 202)
    t.same(reply.body, accepted(4))
    t.same(await minutesOf(caller), { 'acme/web': 8 })
    await caller.post(BULK, sent)
    t.same(await minutesOf(caller), { 'acme/web': 8 }, 'once')
  })

  t.test('a placeholder stands for the project in the nearest earlier heartbeat', async (t) => {
    const { caller } = await someone(service)
    const last = (time: number) => beat(time, '<<LAST_PROJECT>>')
    await send(caller, [
      last(at(8, 0)),
      beat(at(9, 0), 'acme/web'),
      last(at(9, 1)),
      beat(at(9, 2), 'acme/api'),
    ])
    t.same(
      await minutesOf(caller),
      { 'acme/web': 2, 'acme/api': 1 },
      'without an earlier one, it counts nowhere',
    )
    await send(caller, [last(at(9, 30)), last(at(14, 0))])
    t.same(
      await minutesOf(caller),
      { 'acme/web': 2, 'acme/api': 3 },
      'stored heartbeats count as earlier ones',
    )
    await send(caller, [last(at(9, 1))])
    await send(caller, [last(at(9, 30)), last(at(14, 0))])
    t.same(await minutesOf(caller), { 'acme/web': 2, 'acme/api': 3 }, 'sending them again changes nothing')
    t.same(await projectsOf(caller), [], 'the placeholder doesn’t become a waiting name')
    const { caller: other } = await someone(service)
    await send(other, [beat(at(10, 0), 'folder'), last(at(10, 1))])
    t.same(
      (await projectsOf(other)).map(({ name, minutes }: { name: string; minutes: number }) => [
        name,
        minutes,
      ]),
      [['folder', 2]],
      'it can be a name that waits',
    )
  })

  t.test(
    'a minute counts once if its gap ends in the next hour, and it gets a heartbeat later',
    async (t) => {
      const { caller } = await someone(service)
      for (const time of [at(9, 58), at(10, 2), at(9, 59)]) await send(caller, [beat(time)])
      t.same(
        (await activityOf(caller)).map(({ hours }) => hours.slice(9, 11)),
        [[2, 3]],
      )
    },
  )

  t.test('minutes between two heartbeats count for the earlier project', async (t) => {
    const { caller } = await someone(service)
    await send(caller, [
      beat(at(9, 58), 'acme/web'),
      beat(at(10, 2), 'acme/api'),
      beat(at(10, 3), 'acme/web'),
    ])
    t.same(await minutesOf(caller), { 'acme/web': 5, 'acme/api': 1 })
  })

  t.test(
    'of two projects in a minute, the earlier gets the minute and the time after it, in any order',
    async (t) => {
      const sent = [
        beat(at(9, 0, 10), 'acme/web'),
        beat(at(9, 0, 50), 'acme/api'),
        beat(at(9, 3), 'acme/docs'),
      ]
      for (const order of [sent, sent.toReversed()]) {
        const { caller } = await someone(service)
        for (const heartbeat of order) await send(caller, [heartbeat])
        t.same(await minutesOf(caller), { 'acme/web': 3, 'acme/docs': 1 })
      }
    },
  )

  t.test('of two projects at the same moment, the name that sorts first gets the minute', async (t) => {
    const sent = [beat(at(9, 0), 'acme/web'), beat(at(9, 0), 'acme/api'), beat(at(9, 2), 'acme/docs')]
    for (const order of [sent, sent.toReversed()]) {
      const { caller } = await someone(service)
      for (const heartbeat of order) await send(caller, [heartbeat])
      t.same(await minutesOf(caller), { 'acme/api': 2, 'acme/docs': 1 })
    }
  })

  t.test(
    'a minute with a heartbeat of its own counts for its repository, even if it arrives late',
    async (t) => {
      const { caller } = await someone(service)
      const minutes = Array.from({ length: 120 }, (_, minute) => minute)
      await send(
        caller,
        minutes.filter((minute) => minute % 5 === 0).map((minute) => beat(at(9, minute), 'acme/web')),
      )
      t.same(await minutesOf(caller), { 'acme/web': 116 })
      await send(
        caller,
        minutes.filter((minute) => minute % 5 > 0).map((minute) => beat(at(9, minute), 'acme/api')),
      )
      t.same(await minutesOf(caller), { 'acme/web': 24, 'acme/api': 96 })
    },
  )

  t.test('a day has at most 100 repositories in a workspace, and those that it has go on', async (t) => {
    const { caller, workspace } = await someone(service)
    const { id: other } = await service.workspace(caller, { name: 'Other', patterns: ['other/*'] })
    const most = limits.repos_per_day
    const many = (owner: string, from: number, count: number) =>
      Array.from({ length: count }, (_, n) =>
        beat(at(0, 2 * (from + n)) + (owner === 'other' ? 60 : 0), `${owner}/r${from + n}`),
      )
    await send(caller, many('acme', 0, most))
    await send(caller, many('acme', most, 10))
    await send(caller, many('other', 0, 5))
    await send(caller, [beat(at(23, 0), 'acme/r0'), beat(at(23, 2), 'acme/r0')])
    const day = new Date(yesterday * 1_000).toISOString().slice(0, 10)
    const { body } = await caller.get(`/api/team/active-minutes?day=${day}`)
    const reposOf = (id: string) =>
      body.workspaces.find(({ workspace_id }: { workspace_id: string }) => workspace_id === id).repos
    t.equal(reposOf(workspace).length, most)
    t.same(reposOf(workspace)[0], { repo: 'acme/r0', minutes: 4 })
    t.equal(reposOf(other).length, 5, 'each workspace has its own')
    const own = await caller.get(`${BASE}/summaries?start=${day}&end=${day}`)
    const total = reposOf(workspace)
      .concat(reposOf(other))
      .reduce((sum: number, { minutes }: { minutes: number }) => sum + minutes, 0)
    t.equal(own.body.data[0].grand_total.total_seconds, total * 60, 'own time has each of these minutes')
  })

  t.test('the idle window is the workspace’s, between five and ten minutes', async (t) => {
    for (const [window, gap, minutes] of [
      [1, 5, 6],
      [1, 6, 2],
      [7, 7, 8],
      [7, 8, 2],
      [15, 10, 11],
      [15, 11, 2],
    ] as const) {
      const { caller, workspace } = await someone(service)
      await caller.patch(`/api/team/workspaces/${workspace}/settings`, { idle_window_minutes: window })
      await send(caller, [beat(at(9, 55)), beat(at(9, 55 + gap))])
      t.same(await minutesOf(caller), { 'acme/web': minutes }, `window ${window}, gap ${gap}`)
    }
  })

  t.test('a changed idle window applies to gaps that end afterwards', async (t) => {
    const { caller, workspace } = await someone(service)
    const setWindow = (idle_window_minutes: number) =>
      caller.patch(`/api/team/workspaces/${workspace}/settings`, { idle_window_minutes })
    const sent = [beat(at(9, 0)), beat(at(9, 8))]
    await send(caller, sent)
    await setWindow(10)
    await send(caller, sent)
    t.same(await minutesOf(caller), { 'acme/web': 2 })
    await send(caller, [beat(at(9, 16))])
    t.same(await minutesOf(caller), { 'acme/web': 10 })
    await setWindow(5)
    await send(caller, [beat(at(9, 12)), beat(at(9, 4))])
    t.same(await minutesOf(caller), { 'acme/web': 17 }, 'no minute twice')
  })

  t.test('each workspace uses its own idle window', async (t) => {
    const { caller } = await someone(service)
    const { id } = await service.workspace(caller, { name: 'Patient', patterns: ['acme/web'] })
    await caller.patch(`/api/team/workspaces/${id}/settings`, { idle_window_minutes: 10 })
    await send(caller, [beat(at(9, 0)), beat(at(9, 8))])
    const day = new Date(yesterday * 1_000).toISOString().slice(0, 10)
    const minutes = async () => {
      const { body } = await caller.get(`/api/team/active-minutes?day=${day}`)
      return body.workspaces.map(({ name, minutes }: { name: string; minutes: number }) => ({
        name,
        minutes,
      }))
    }
    t.same(await minutes(), [
      { name: 'Acme', minutes: 2 },
      { name: 'Patient', minutes: 9 },
    ])
    await send(caller, [beat(at(9, 4))])
    t.same(await minutes(), [
      { name: 'Acme', minutes: 9 },
      { name: 'Patient', minutes: 9 },
    ])
  })

  t.test('heartbeats that would change too many rows are all rejected', async (t) => {
    const { caller } = await someone(service)
    for (let n = 1; n <= 20; n++) await service.workspace(caller, { name: `Team ${n}` })
    const [days, repos, workspaces] = [25, 10, 21]
    t.ok(days * repos * workspaces > limits.flush_rows)
    const sent = Array.from({ length: days * repos }, (_, n) =>
      beat(at(9, n % repos) - Math.floor(n / repos) * DAY, `acme/repo-${n % repos}`),
    )
    t.hasStrict(await caller.post(BULK, sent), { status: 413, body: { code: 'payload_too_large' } })
    t.same(await minutesOf(caller), {})
    t.same(await send(caller, sent.slice(0, 200)), accepted(200))
    const counted = Object.values(await minutesOf(caller))
    t.equal(
      counted.reduce((sum, minutes) => sum + minutes, 0),
      200 * workspaces,
    )
  })

  t.test('flushes and heartbeats together add up to at most 60 minutes an hour', async (t) => {
    const { caller } = await someone(service)
    const day = new Date(yesterday * 1_000).toISOString().slice(0, 10)
    await caller.post('/api/team/active-minutes', {
      entries: [{ repo: 'acme/web', day, minutes: 50, hours: { '9': 50 } }],
    })
    await send(
      caller,
      Array.from({ length: 10 }, (_, index) => beat(at(9, 2 * index))),
    )
    t.same(await minutesOf(caller), { 'acme/web': 60 })
  })

  t.test('heartbeats that can never count get the usual response', async (t) => {
    const { caller } = await someone(service)
    const never = [
      {},
      beat(at(9, 0), null),
      { project: 'acme/web' },
      { time: 'now', project: 'acme/web' },
      { time: null, project: 'acme/web' },
      beat(1e300),
      beat(-1),
      beat(at(9, 0) - 31 * DAY),
      beat(at(9, 0) + 3 * DAY),
      beat(at(9, 0), 'elsewhere/web'),
      beat(at(9, 0), 'x'.repeat(1_000_000)),
      beat(at(9, 0), 'a\0b'),
    ]
    t.same(await send(caller, never), accepted(never.length))
    t.same(await minutesOf(caller), {})
    t.same(
      (await projectsOf(caller)).map(({ name }: { name: string }) => name),
      ['elsewhere/web'],
    )
    t.equal((await caller.get('/api/me')).body.heartbeats, null)
  })

  t.test('a time can be a number or a decimal string, in seconds or milliseconds', async (t) => {
    const { caller } = await someone(service)
    const shapes = [
      at(9, 0) + 0.25,
      `${at(9, 1)}.044`,
      at(9, 2) * 1_000,
      `${at(9, 3) * 1_000}`,
      ` ${at(9, 4)} `,
      (at(9, 5) / 1e9).toExponential().replace('e+0', 'e9'),
    ]
    const unread = [
      '',
      'now',
      '0x10',
      'NaN',
      '1e999',
      new Date(at(9, 20) * 1_000).toISOString(),
      true,
      [at(9, 21)],
    ]
    const sent = [...shapes, ...unread].map((time) => ({ ...beat(0), time }))
    t.same(await send(caller, sent), accepted(sent.length))
    t.same(await minutesOf(caller), { 'acme/web': 6 })
    // As the browser extension sends it.
    const browser = { id: randomUUID(), time: `${at(10, 0)}.044`, type: 'domain', branch: '<<LAST_BRANCH>>' }
    await send(caller, [
      { ...browser, entity: 'https://github.com', project: '<<LAST_PROJECT>>', userAgent: 'x' },
    ])
    t.same(await minutesOf(caller), { 'acme/web': 7 })
  })

  t.test('the log gives the reason why heartbeats don’t count, without names', async (t) => {
    const service = await reuseService(t)
    const { caller } = await someone(service)
    await caller.put('/api/me/recording', { paused: false, repos_off: ['acme/secret'], hours: null })
    await caller.put('/api/me/editor-projects', { name: 'ignored', repo: null })
    await send(caller, [
      beat(at(9, 0)),
      beat(at(9, 1), 'folder'),
      { ...beat(at(9, 2)), category: 'ai coding' },
      { ...beat(0), time: 'now' },
      beat(at(9, 3), null),
      beat(at(9, 4), '<<LAST_PROJECT>>'),
      beat(at(9, 5) - 33 * DAY),
      beat(at(9, 5) - 300 * DAY),
      beat(at(9, 6), 'acme/secret'),
      beat(at(9, 7), 'ignored'),
      beat(at(9, 8), 'elsewhere/web'),
      beat(at(9, 0) - 20 * 3_600, '<<LAST_PROJECT>>'),
    ])
    const lines = service.logs.filter((line) => line.includes('heartbeats recorded'))
    t.same(
      lines.map((line) => JSON.parse(line).heartbeats),
      [
        {
          accepted: 1,
          waiting: 2,
          agents: 1,
          ignored: { time: 1, project: 2, day: 2, recording_off: 2, repo: 1 },
          minutes_left_out: 0,
        },
      ],
    )
    t.notMatch(lines.join(''), /acme|folder|elsewhere/)
  })

  t.test('the profile shows the time of the last heartbeat', async (t) => {
    const { caller } = await someone(service)
    await send(caller, [beat(at(9, 0, 5) + 0.123)])
    await send(caller, [beat(at(8, 0))])
    t.same((await caller.get('/api/me')).body.heartbeats, {
      last_at: new Date(at(9, 0, 5) * 1_000 + 123).toISOString(),
    })
  })

  t.test('recording preferences apply, and excluded heartbeats don’t bridge gaps', async (t) => {
    const { caller } = await someone(service)
    await caller.put('/api/me/recording', { paused: false, repos_off: ['acme/secret'], hours: null })
    await send(caller, [beat(at(9, 0)), beat(at(9, 4), 'acme/secret'), beat(at(9, 8))])
    t.same(await minutesOf(caller), { 'acme/web': 2 })
    await caller.put('/api/me/recording', { paused: true, repos_off: [], hours: null })
    t.same(await send(caller, [beat(at(9, 30)), beat(at(9, 31), 'web')]), accepted(2))
    t.same(await minutesOf(caller), { 'acme/web': 2 })
    t.same(await projectsOf(caller), [])
    const hours = { from: 10, to: 12, weekdays: [1, 2, 3, 4, 5, 6, 7] }
    await caller.put('/api/me/recording', { paused: false, repos_off: [], hours })
    await send(caller, [beat(at(9, 59)), beat(at(10, 1)), beat(at(11, 59)), beat(at(12, 1))])
    t.same(await minutesOf(caller), { 'acme/web': 4 })
  })

  t.test('only times and projects are stored', async (t) => {
    const { caller } = await someone(service)
    await caller.post(BULK, [
      { ...beat(at(9, 0)), branch: 'canary-branch', language: 'canary-language', user_agent: 'canary-agent' },
    ])
    const { text } = await caller.get('/api/me/export')
    t.notOk(/canary|secret\.ts/.test(text))
  })

  /** A minute of a day, with the repository. */
  const beats = fc.array(
    fc.record({
      minute: fc.integer({ min: 23 * 60 + 20, max: 24 * 60 + 50 }),
      second: fc.integer({ min: 0, max: 59 }),
      repo: fc.constantFrom('acme/web', 'acme/api', 'acme/docs'),
    }),
    { minLength: 1, maxLength: 40 },
  )
  /** The minutes that count, by hour and repository. */
  const model = (sent: { time: number; project: string }[], window: number) => {
    const sorted = [...sent].sort((a, b) => a.time - b.time || (a.project < b.project ? -1 : 1))
    const marks = new Map<number, string>()
    for (const { time, project } of sorted) {
      const minute = Math.floor(time / MINUTE)
      if (!marks.has(minute)) marks.set(minute, project)
    }
    const minutes = new Map(marks)
    const marked = [...marks.keys()]
    marked.forEach((minute, index) => {
      const before = marked[index - 1]
      if (before === undefined || minute - before > window) return
      for (let between = before + 1; between < minute; between++)
        minutes.set(between, marks.get(before) as string)
    })
    return minutes
  }
  const countBy = <T>(items: Iterable<T>, nameOf: (item: T) => string) => {
    const counts: Record<string, number> = {}
    for (const item of items) counts[nameOf(item)] = (counts[nameOf(item)] ?? 0) + 1
    return counts
  }
  const hourName = (minute: number) => new Date(minute * 60_000).toISOString().slice(0, 13)
  const counted = async (caller: Caller, nameOf: (hour: string, repo: string) => string) => {
    const counts: Record<string, number> = {}
    for (const { repo, day, hours } of await activityOf(caller))
      hours.forEach((minutes, hour) => {
        const name = nameOf(`${day}T${String(hour).padStart(2, '0')}`, repo)
        if (minutes > 0) counts[name] = (counts[name] ?? 0) + minutes
      })
    return counts
  }
  const sentOf = (list: { minute: number; second: number; repo: string }[]) =>
    list.map(({ minute, second, repo }) => beat(yesterday - DAY + minute * MINUTE + second, repo))
  /** Cuts a list into batches. */
  const batchesOf = <T>(list: T[], sizes: number[]): T[][] => {
    const batches: T[][] = []
    for (let from = 0, index = 0; from < list.length; index++) {
      const size = sizes[index % sizes.length] ?? 1
      batches.push(list.slice(from, from + size))
      from += size
    }
    return batches
  }
  interface Stored {
    workspace_id: string
    repo: string
    day: string
    hours: number[] | null
  }
  const ownMinutes = async (caller: Caller) => {
    const { data } = (await caller.get(`${BASE}/stats/last_7_days`)).body
    return Object.fromEntries(
      data.projects.map(({ name, total_seconds }: { name: string; total_seconds: number }) => [
        name,
        total_seconds / MINUTE,
      ]),
    )
  }
  const sizes = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 5 })

  t.test(
    'the set of heartbeats alone decides minutes and repositories, in any order, repetition and batches, from two devices',
    async (t) => {
      await fc.assert(
        fc.asyncProperty(beats, sizes, fc.infiniteStream(fc.nat()), async (list, sizes, random) => {
          const { caller, workspace: narrow } = await someone(service)
          const { id: wide } = await service.workspace(caller, { name: 'Wide', patterns: ['acme/*'] })
          const { id: some } = await service.workspace(caller, { name: 'Some', patterns: ['acme/web'] })
          for (const id of [wide, some])
            await caller.patch(`/api/team/workspaces/${id}/settings`, { idle_window_minutes: 10 })
          const sent = sentOf(list)
          const shuffled = [...sent, ...sent.filter((_, index) => index % 3 === 0)]
            .map((heartbeat) => ({ heartbeat, key: random.next().value as number }))
            .sort((a, b) => a.key - b.key)
            .map(({ heartbeat }) => heartbeat)
          const devices = [0, 1].map((device) => shuffled.filter((_, index) => index % 2 === device))
          await Promise.all(
            devices.map(async (own) => {
              for (const batch of batchesOf(own, sizes))
                await retryWhileUnavailable(() => caller.post(BULK, batch))
            }),
          )
          const rows = (await caller.get('/api/me/export')).body
          const stored = (activity: Stored[]) => {
            const counts: Record<string, number> = {}
            for (const { repo, day, hours } of activity)
              hours?.forEach((minutes, hour) => {
                const name = `${day}T${String(hour).padStart(2, '0')} ${repo}`
                if (minutes > 0) counts[name] = (counts[name] ?? 0) + minutes
              })
            return counts
          }
          const expected = (window: number, isCounted: (repo: string) => boolean) =>
            countBy(
              [...model(sent as never, window)].filter(([, repo]) => isCounted(repo)),
              ([minute, repo]) => `${hourName(minute)} ${repo}`,
            )
          const ofWorkspace = (id: string) =>
            stored(rows.activity.filter(({ workspace_id }: Stored) => workspace_id === id))
          t.same(
            ofWorkspace(narrow),
            expected(5, () => true),
            'five minutes',
          )
          t.same(
            ofWorkspace(wide),
            expected(10, () => true),
            'ten minutes',
          )
          t.same(
            ofWorkspace(some),
            expected(10, (repo) => repo === 'acme/web'),
            'one repository',
          )
          t.same(
            await ownMinutes(caller),
            countBy(model(sent as never, 10), ([, repo]) => repo),
            'own time',
          )
        }),
        { numRuns: 12 },
      )
    },
  )

  t.test('every minute counts once if two devices send concurrently', async (t) => {
    const { caller } = await someone(service)
    const sent = Array.from({ length: 20 }, (_, index) =>
      beat(at(9, index), index % 2 ? 'acme/web' : 'acme/api'),
    )
    const replies = await Promise.all(
      [...sent, ...sent].map((heartbeat) => retryWhileUnavailable(() => caller.post(BULK, [heartbeat]))),
    )
    t.strictSame(new Set(replies.map(({ status }) => status)), new Set([202]))
    t.same(await counted(caller, (hour) => hour), { [hourName(at(9, 0) / MINUTE)]: 20 })
  })

  t.test('folder names', async (t) => {
    t.test('count if exactly one repository has the name', async (t) => {
      const { caller } = await someone(service)
      await joinedEarlier(service, caller)
      await send(caller, [beat(at(8, 0), 'acme/Shop')])
      await send(caller, [beat(at(9, 0), 'shop'), beat(at(9, 2), 'shop')])
      t.same(await minutesOf(caller), { 'acme/Shop': 4 })
      t.same(await projectsOf(caller), [
        {
          name: 'shop',
          state: 'automatic',
          repo: 'acme/Shop',
          last_at: new Date(at(9, 2) * 1_000).toISOString(),
          minutes: 3,
        },
      ])
    })

    t.test('wait otherwise, bridge gaps, and count once they’re assigned', async (t) => {
      const { caller } = await someone(service)
      await joinedEarlier(service, caller)
      await send(caller, [beat(at(9, 0)), beat(at(9, 3), 'folder'), beat(at(9, 6), 'folder'), beat(at(9, 8))])
      t.same(await minutesOf(caller), { 'acme/web': 4 })
      const last_at = new Date(at(9, 6) * 1_000).toISOString()
      t.same(await projectsOf(caller), [
        { name: 'folder', state: 'waiting', repo: null, last_at, minutes: 5 },
      ])
      const assign = (repo: string | null) => caller.put('/api/me/editor-projects', { name: 'folder', repo })
      const { ok, counted } = (await assign('acme/Site')).body
      t.same(
        [ok, counted.map(({ minutes }: { minutes: number }) => minutes)],
        [true, [5]],
        'the answer says what counted',
      )
      const { workspaces } = (await caller.get('/api/team/workspaces')).body
      t.same(
        counted.map(({ workspace_id, name }: Record<string, string>) => [workspace_id, name]),
        workspaces.map(({ id, name }: Record<string, string>) => [id, name]),
      )
      t.same(await minutesOf(caller), { 'acme/Site': 5, 'acme/web': 4 })
      t.same((await assign('acme/other')).body, { ok: true, counted: [] })
      t.same(await minutesOf(caller), { 'acme/Site': 5, 'acme/web': 4 }, 'no minute counts again')
      t.same(await projectsOf(caller), [
        { name: 'folder', state: 'assigned', repo: 'acme/other', last_at, minutes: 5 },
      ])
      await assign(null)
      await send(caller, [beat(at(10, 0), 'folder')])
      t.same(await projectsOf(caller), [
        { name: 'folder', state: 'ignored', repo: null, last_at, minutes: 5 },
      ])
    })

    t.test('count from the time the person has sent one repository with the name', async (t) => {
      const { caller } = await someone(service)
      await joinedEarlier(service, caller)
      await send(caller, [beat(at(9, 0), 'late')])
      t.equal((await projectsOf(caller))[0].state, 'waiting')
      await caller.post('/api/team/active-minutes', {
        entries: [{ repo: 'elsewhere/late', day: new Date().toISOString().slice(0, 10), minutes: 1 }],
      })
      await send(caller, [beat(at(9, 20), 'late')])
      t.hasStrict((await projectsOf(caller))[0], { state: 'automatic', repo: 'elsewhere/late', minutes: 2 })
      t.same(await minutesOf(caller), {}, 'patterns decide where it counts')
      await send(caller, [beat(at(8, 0), 'acme/late'), beat(at(9, 40), 'late')])
      t.equal((await projectsOf(caller))[0].repo, 'elsewhere/late', 'the choice stays')
    })

    t.test('don’t count in a workspace on days before joining it', async (t) => {
      const { caller } = await someone(service)
      await send(caller, [beat(at(8, 0), 'acme/early'), beat(at(9, 0), 'early')])
      t.same(
        await minutesOf(caller),
        { 'acme/early': 1 },
        'only the heartbeat that named the repository counts',
      )
    })

    t.test('aren’t matched to a repository by anything an admin does', async (t) => {
      const admin = await service.signIn(`admin-${randomUUID().slice(0, 8)}`)
      const names = ['job-applications', 'web', 'taxes']
      /** A person works in folders. With `meddle`, an admin tries to see them. */
      const play = async (meddle: boolean) => {
        const bob = await service.signIn(`bob-${randomUUID().slice(0, 8)}`)
        const { id } = await service.workspace(admin, { members: [bob], patterns: ['acme/*'] })
        const path = `/api/team/workspaces/${id}`
        const work = (minute: number) =>
          send(
            bob,
            names.map((name, index) => beat(at(9, minute + index), name)),
          )
        await send(bob, [beat(at(8, 0), 'private/diary'), beat(at(8, 2), 'diary')])
        await work(0)
        if (meddle) {
          await admin.put(`${path}/patterns`, { patterns: ['acme/*', `${bob.login}/*`, 'private/*'] })
          for (const name of [...names, 'diary'])
            for (const owner of ['acme', bob.login])
              await admin.put(`${path}/project-settings/${owner}/${name}`, { settings: { 'ext.a': 1 } })
          await admin.patch(`${path}/settings`, { settings: { 'ext.b': 1 }, idle_window_minutes: 15 })
          await admin.post(`${path}/invites`, {})
          await admin.post('/api/team/commits', {
            workspace: id,
            day: new Date(yesterday * 1_000).toISOString().slice(0, 10),
            members: [{ login: bob.login, repos: names.map((name) => ({ repo: `acme/${name}`, count: 1 })) }],
          })
        }
        await work(20)
        await send(bob, [beat(at(10, 0), 'diary')])
        const { body } = await admin.get(`/api/team/dashboard?workspace=${id}&member=${bob.login}`)
        return { projects: await projectsOf(bob), minutes: body.totals.active_minutes }
      }
      const alone = await play(false)
      const meddled = await play(true)
      t.same(meddled.projects, alone.projects)
      t.same(
        alone.projects.map(({ name, state, repo }: Record<string, string>) => [name, state, repo]),
        [
          ['diary', 'automatic', 'private/diary'],
          ['taxes', 'waiting', null],
          ['web', 'waiting', null],
          ['job-applications', 'waiting', null],
          ['private/diary', 'waiting', null],
        ],
      )
      t.same([alone.minutes, meddled.minutes], [0, 0])
    })

    t.test('are limited to 200 per person', async (t) => {
      const { caller } = await someone(service)
      for (let batch = 0; batch < 3; batch++)
        await send(
          caller,
          Array.from({ length: 100 }, (_, index) => beat(at(9, index % 60), `name-${batch}-${index}`)),
        )
      const { projects, dropped } = (await caller.get('/api/me/editor-projects')).body
      t.same([projects.length, dropped], [limits.editor_projects_waiting, 100])
    })

    t.test('can’t be repositories that count', async (t) => {
      const { caller } = await someone(service)
      const reply = await caller.put('/api/me/editor-projects', { name: 'acme/web', repo: null })
      t.equal(reply.status, 400)
    })
  })

  t.test('are dropped by least recent use, in any order of arrival', async (t) => {
    const most = limits.editor_projects_waiting
    const time = (index: number) => at(1, 0) + index * 3 * MINUTE
    const name = (index: number) => `folder-${index}`
    const all = Array.from({ length: most + 30 }, (_, index) => beat(time(index), name(index)))
    const newest = all
      .slice(-most)
      .map(({ project }) => project)
      .sort()
    const orders = [all, [...all].reverse(), [...all.slice(100), ...all.slice(0, 100)]]
    for (const order of orders) {
      const { caller } = await someone(service)
      const empty = (await caller.get('/api/me/editor-projects')).body
      t.same(empty, { projects: [], dropped: 0 })
      await caller.put('/api/me/editor-projects', { name: 'ignored', repo: null })
      for (let from = 0; from < order.length; from += 50) await send(caller, order.slice(from, from + 50))
      const { projects, dropped } = (await caller.get('/api/me/editor-projects')).body
      const names = projects.map(({ name }: { name: string }) => name)
      t.same(names.filter((one: string) => one !== 'ignored').sort(), newest)
      t.equal(dropped, 30)
      t.same((await caller.get('/api/me/export')).body.dropped_names[0].names, 30)
    }
    const { caller } = await someone(service)
    await send(caller, all.slice(0, most))
    await send(caller, [beat(at(23, 0), 'other'), beat(at(23, 1), name(1)), beat(at(0, 1), 'older')])
    const { projects, dropped } = (await caller.get('/api/me/editor-projects')).body
    t.equal(dropped, 2)
    t.same(
      [name(0), name(1), name(2), 'other', 'older'].filter((one) =>
        projects.some(({ name }: { name: string }) => name === one),
      ),
      [name(1), name(2), 'other'],
    )
  })

  t.test('repository host remotes identify repositories, and secrets are removed', async (t) => {
    const { host, hostname } = new URL(service.repohost.url)
    const { caller } = await someone(service)
    const own = [
      `//${hostname}/acme/a`,
      `http://${host}/acme/b.git`,
      `git@${hostname}:acme/c.git`,
      `ssh://git@${hostname}:2222/acme/d`,
      `//user:TOKEN@${hostname}/acme/e`,
      `//git@${hostname}:2222/acme/f`,
      'acme/g',
      `http://user:TO/K@EN@${host}/Acme/H.git/`,
    ]
    const others = [
      `http://TOKEN@${hostname}:1/acme/web`,
      `https://${host}/acme/web`,
      `file://${host}/acme/web`,
      '//user:TOKEN@gitlab.example.com/acme/web',
      'git@work:acme/web.git',
      'https://TOKEN@example.com:8443/acme/web?key=TOKEN#TOKEN',
      'user:TOKEN@example.com/acme/web',
    ]
    await send(
      caller,
      [...own, ...others].map((project, index) => beat(at(9, 7 * index), project)),
    )
    t.same(Object.keys(await minutesOf(caller)).sort(), [
      'Acme/H',
      'acme/a',
      'acme/b',
      'acme/c',
      'acme/d',
      'acme/e',
      'acme/f',
      'acme/g',
    ])
    t.same((await projectsOf(caller)).map(({ name }: { name: string }) => name).sort(), [
      '//gitlab.example.com/acme/web',
      'example.com/acme/web',
      `file://${hostname}/acme/web`,
      `http://${hostname}/acme/web`,
      `https://${hostname}/acme/web`,
      'https://example.com/acme/web',
      'work:acme/web.git',
    ])
    const { text } = await caller.get('/api/me/export')
    t.notOk(text.includes('TOKEN'))
  })

  t.test('the alternate project counts if the project identifies no repository', async (t) => {
    const { caller } = await someone(service)
    await send(caller, [
      { ...beat(at(9, 0), 'folder'), alternate_project: 'acme/web' },
      { ...beat(at(9, 10), 'acme/api'), alternate_project: 'acme/web' },
      { ...beat(at(9, 20), null), alternate_project: 'acme/docs' },
      { ...beat(at(9, 30), 'folder'), alternate_project: 'other' },
    ])
    t.same(await minutesOf(caller), { 'acme/web': 1, 'acme/api': 1, 'acme/docs': 1 })
    t.same(
      (await projectsOf(caller)).map(({ name }: { name: string }) => name),
      ['folder'],
    )
  })

  t.test('a single heartbeat has its own response format', async (t) => {
    const { caller } = await someone(service)
    const one = await caller.post(`${BASE}/heartbeats`, beat(at(9, 0)))
    t.equal(one.status, 201)
    t.same(Object.keys(one.body.data), ['id'])
    const several = await caller.post(`${BASE}/heartbeats`, [beat(at(9, 0))])
    t.equal(several.status, 202)
    t.same(several.body, accepted(1))
    t.same(await minutesOf(caller), { 'acme/web': 1 })
  })

  t.test('every media type is read as JSON, including a string that contains JSON', async (t) => {
    const { caller } = await someone(service)
    const bodies = [
      ['text/plain', JSON.stringify([beat(at(9, 0))])],
      ['application/x-www-form-urlencoded', JSON.stringify([beat(at(9, 10))])],
      ['application/json; charset=utf-16', JSON.stringify(JSON.stringify([beat(at(9, 20), 'acme/wéb😀')]))],
      ['application/json', JSON.stringify(JSON.stringify([{ ...beat(at(9, 30)), entity: '"\\ud83d"' }]))],
      [
        'no type at all',
        ` [ {"time": ${at(9, 40)}, "project" : "acme\\/web", "x": [1e999, 123456789012345678901]} ] `,
      ],
      [
        'application/json',
        `[{"__proto__": {"time": 1}, "constructor": {"prototype": 1}, "time": ${at(9, 50)}, "project": "acme/web"}]`,
      ],
    ] as const
    for (const [type, body] of bodies) {
      const reply = await caller.request('POST', BULK, { body, headers: { 'Content-Type': type } })
      t.same(reply.body, accepted(1), type)
    }
    t.same(await minutesOf(caller), { 'acme/web': 5 })
  })

  t.test('a malformed media type is read as JSON, too', async (t) => {
    const { caller } = await someone(service)
    const types = [
      'json',
      'application/',
      '/json',
      'application/json/x',
      'application json; charset=x',
      ';',
      ',',
      '"',
    ]
    for (const [index, type] of types.entries()) {
      const body = JSON.stringify([beat(at(10, index))])
      const reply = await caller.request('POST', BULK, { body, headers: { 'Content-Type': type } })
      t.same([reply.status, reply.body], [202, accepted(1)], type)
    }
    t.same(await minutesOf(caller), { 'acme/web': types.length })
  })

  t.test('only wrong syntax and wrong shapes are rejected', async (t) => {
    const { caller } = await someone(service)
    const rejected = [
      '',
      'nonsense',
      '[{]',
      '[{}',
      '[{},]',
      '[{"a":}]',
      '[{"a":tru}]',
      '[{"a":01}]',
      '"[{}"',
      '"\\"[]\\""',
      '12',
      'null',
      '{}',
      '[{}] []',
      JSON.stringify(Array.from({ length: limits.heartbeats + 1 }, () => ({}))),
      '['.repeat(200_000),
      `[${'{"a":'.repeat(100_000)}`,
    ]
    for (const body of rejected) {
      const reply = await caller.request('POST', BULK, {
        body,
        headers: { 'Content-Type': 'application/json' },
      })
      t.equal(reply.status, 400, body.slice(0, 20))
    }
    t.equal((await caller.post(BULK, [])).status, 202)
    const large = Buffer.alloc(limits.heartbeats_body_bytes + 1, ' ')
    t.equal((await caller.request('POST', BULK, { body: large })).status, 413)
  })

  t.test('an element that isn’t a heartbeat is rejected for itself, and the others count', async (t) => {
    const { caller } = await someone(service)
    const rejected = [{ error: 'must be an object' }, 400]
    const counted = [{ data: null }, 201]
    const [first, second] = [beat(at(9, 0)), beat(at(9, 1))]
    const inner = [[beat(at(11, 0))], [beat(at(11, 1)), [{ heartbeats: [beat(at(11, 2))] }]]]
    const sent = [null, first, 1, 'text', true, [], second, ...inner, JSON.stringify(first)]
    const statuses = sent.map((element) => (element === first || element === second ? counted : rejected))
    for (const url of [BULK, `${BASE}/heartbeats`]) {
      const reply = await caller.post(url, sent)
      t.strictSame([reply.status, reply.body], [202, { responses: statuses }], url)
    }
    t.strictSame(await minutesOf(caller), { 'acme/web': 2 })
    t.strictSame((await caller.post(BULK, [[]])).body, { responses: [rejected] })
    const many = Array.from({ length: limits.heartbeats + 1 }, () => null)
    t.equal((await caller.post(BULK, many)).status, 400)
  })

  t.test('a byte order mark is skipped', async (t) => {
    const { caller } = await someone(service)
    const texts = [
      JSON.stringify([beat(at(9, 0))]),
      JSON.stringify(JSON.stringify([beat(at(9, 1))])),
      `\n${JSON.stringify([beat(at(9, 2))])}`,
    ]
    for (const text of texts) {
      const reply = await caller.request('POST', BULK, { body: Buffer.from(`\ufeff${text}`) })
      t.strictSame([reply.status, reply.body], [202, accepted(1)], text)
    }
    const one = Buffer.from(`\ufeff${JSON.stringify(beat(at(9, 3)))}`)
    t.equal((await caller.request('POST', `${BASE}/heartbeats`, { body: one })).status, 201)
    t.strictSame(await minutesOf(caller), { 'acme/web': 4 })
    for (const marks of ['\ufeff\ufeff', ' \ufeff', '']) {
      const reply = await caller.request('POST', BULK, { body: Buffer.from(`${marks}[]`) })
      t.equal(reply.status, marks === '' ? 202 : 400)
    }
    for (const bytes of [[0xef], [0xbb, 0xbf], [0xef, 0xbb, 0xbf]]) {
      const body = Buffer.from([...bytes, 0x22, 0x22])
      t.equal((await caller.request('POST', BULK, { body })).status, 400)
    }
  })

  t.test('heartbeats arrive at the addresses that other services have', async (t) => {
    const { caller } = await someone(service)
    const bases = [
      '/api/wakatime/v1',
      '/api/v1',
      '/api/compat/wakatime/v1',
      '/api',
      '/api/hackatime/v1',
      '/api/heartbeat/v1',
    ].map((base) => `${base}/users/current/heartbeats`)
    const ones = [...bases, '/api/heartbeat']
    const lists = [...bases.map((base) => `${base}.bulk`), '/api/heartbeats']
    for (const end of ['', '/', '?a=/', '/?a=b']) {
      for (const url of ones) t.equal((await caller.post(`${url}${end}`, beat(at(9, 0)))).status, 201, url)
      for (const url of lists) t.equal((await caller.post(`${url}${end}`, [beat(at(9, 1))])).status, 202, url)
    }
    for (const end of ['//', '/more', 'x', '.bulk/more'])
      for (const url of bases) t.equal((await caller.post(`${url}${end}`, [])).status, 404, `${url}${end}`)
    t.equal((await caller.post('/api/users/current', [])).status, 404)
    t.strictSame(await minutesOf(caller), { 'acme/web': 2 })
  })

  t.test('personal keys work in every format, and cookies and other logins don’t', async (t) => {
    const { caller } = await someone(service)
    const path = `${BULK}`
    const body = [beat(at(9, 0))]
    const cookie = await service.request('POST', path, {
      body,
      headers: { Cookie: `svc_token=${caller.token}`, Origin: 'https://dashboard.example.com' },
    })
    t.equal(cookie.status, 401)
    const basic = (text: string) => ({ Authorization: `Basic ${Buffer.from(text).toString('base64')}` })
    for (const headers of [basic(caller.token), basic(`${caller.token}:`)])
      t.equal((await service.request('POST', path, { body, headers })).status, 202)
    t.equal((await service.request('POST', `${path}?api_key=${caller.token}`, { body })).status, 202)
    t.equal((await service.request('POST', `${path}?api_key=nonsense`, { body })).status, 401)
    const headers = { Authorization: `Bearer ${caller.token}` }
    const both = await service.request('POST', `${path}?api_key=nonsense`, { body, headers })
    t.equal(both.status, 202, 'the header decides')
    t.equal((await service.request('POST', path, { body })).status, 401)
    t.notOk(service.logs.some((line) => line.includes(caller.token) || line.includes('api_key')))
    const own = `/api/wakatime/v1/users/${caller.login.toUpperCase()}/heartbeats.bulk`
    t.equal((await caller.post(own, body)).status, 202)
    t.equal((await caller.post('/api/wakatime/v1/users/bob/heartbeats.bulk', body)).status, 404)
  })

  t.test('an access key sends heartbeats with one scope, and reads time with either scope', async (t) => {
    const { caller } = await someone(service)
    const secretOf = async (scope: string): Promise<string> =>
      (await caller.post('/api/me/keys', { name: 'editor', scopes: [scope] })).body.secret
    const [writing, reading] = [await secretOf('activity:write'), await secretOf('activity:read')]
    const uuid = writing.replace('waka_', '')
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    const body = [beat(at(9, 0))]
    for (const Authorization of [writing, uuid].flatMap((key) => [
      basic(key),
      basic(`${key}:`),
      `Bearer ${key}`,
    ]))
      t.equal((await service.request('POST', BULK, { body, headers: { Authorization } })).status, 202)
    for (const key of [writing, uuid]) {
      t.equal((await service.request('POST', `${BULK}?api_key=${key}`, { body })).status, 202)
      t.equal((await service.request('GET', `${BASE}/statusbar/today?api_key=${key}`)).status, 200)
    }
    const headers = { Authorization: `Bearer ${reading}` }
    t.equal((await service.request('GET', `${BASE}/statusbar/today`, { headers })).status, 200)
    const rejected = await service.request('POST', BULK, { body, headers })
    t.same(
      [rejected.status, rejected.body.code, rejected.body.scope],
      [403, 'scope_missing', 'activity:write'],
    )
    t.same(await minutesOf(caller), { 'acme/web': 1 })
    t.notOk(service.logs.some((line) => line.includes(uuid) || line.includes(reading)))
  })

  t.test('editors show the signed-in person, and today’s minutes in the person’s time zone', async (t) => {
    const { caller } = await someone(service)
    t.same((await caller.get(BASE)).body, {
      data: {
        id: (await caller.get('/api/me')).body.id,
        username: caller.login,
        display_name: caller.login,
        photo: (await caller.get('/api/me')).body.avatar_url,
        timezone: 'UTC',
      },
    })
    const now = Math.floor(Date.now() / 1_000)
    await send(
      caller,
      Array.from({ length: 4 }, (_, index) => beat(now - 4 * index * MINUTE)),
    )
    const day = async (timezone: string) => {
      const { body } = await caller.get(`${BASE}/statusbar/today`, { Timezone: timezone })
      return body.data
    }
    const { range, grand_total, categories } = await day('Pacific/Kiritimati')
    t.equal(range.timezone, 'Pacific/Kiritimati')
    t.same(categories, [{ name: 'Coding', ...grand_total }])
    t.equal(Date.parse(range.end) - Date.parse(range.start), DAY * 1_000 - 1_000)
    // Its date is the day in UTC or a neighbor, so that both days of minutes around midnight are asked for.
    const dates = new Map<string, number>()
    for (const zone of ['Pacific/Kiritimati', 'Etc/GMT+12', 'UTC']) {
      const { range, grand_total } = await day(zone)
      dates.set(range.date, grand_total.minutes)
    }
    t.equal(
      [...dates.values()].reduce((sum, minutes) => sum + minutes, 0),
      13,
    )
    t.equal((await day('No/Where')).range.timezone, 'UTC')
  })

  t.test('plugin error reports are accepted and discarded', async (t) => {
    const { caller } = await someone(service)
    const reply = await caller.request('POST', '/api/wakatime/v1/plugins/errors', {
      body: 'canary-error',
      headers: { 'Content-Type': 'text/plain' },
    })
    t.equal(reply.status, 201)
    t.notOk(service.logs.some((line) => line.includes('canary-error')))
  })
})
