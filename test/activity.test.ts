import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { lockMinutes } from '../src/features/minutes/index.js'
import { rebuildRollups, rollUp } from '../src/features/rollups/roll-up.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays, listDays } from '../src/platform/time/days.js'
import { equals } from './equals.js'
import { hasProperties } from './has-properties.js'
import { lockWaiters, whileHeld } from './locks.js'
import { startLossyProxy } from './lossy-proxy.js'
import { fillWithPatterns } from './many-patterns.js'
import { freePort, launch, onDatabase, ready } from './process.js'
import {
  type Caller,
  type Reply,
  retryWhileUnavailable,
  reuseService,
  type Service,
  type startService,
  startTeam,
} from './service.js'

const MINUTES = '/api/team/active-minutes'

const start = async (test: Parameters<typeof startService>[0]) => {
  const team = await startTeam(test, 'bob')
  return { ...team, today: await readToday(team.service.database) }
}

const minutesOf = async (caller: Caller, workspaceId: string, day: string): Promise<number> => {
  const reply = await caller.get(`${MINUTES}?day=${day}`)
  return reply.body.workspaces.find((one: { workspace_id: string }) => one.workspace_id === workspaceId)
    ?.minutes
}

const dashboardOf = async (caller: Caller, id: string, query = '') =>
  (await caller.get(`/api/team/dashboard?workspace=${id}${query}`)).body

const mineOf = async (caller: Caller, id: string, query = '') =>
  (await caller.get(`/api/team/dashboard/mine?workspace=${id}${query}`)).body

t.test('minutes add up, per repository and in total', async (t) => {
  const { ada, id, today } = await start(t)
  const entry = { repo: 'Acme/Api', day: today, minutes: 10, hours: { 0: 8 } }
  const first = await ada.post(MINUTES, { entries: [entry, { ...entry, repo: 'acme/web', hours: {} }] })
  t.equal(first.status, 200)
  t.same(first.body, { accepted: 2, capped: 0, ignored: 0, duplicate: false, notes: [] })
  await ada.post(MINUTES, { entries: [{ ...entry, repo: 'ACME/API' }] })

  const own = await ada.get(MINUTES)
  t.same(own.body, {
    day: today,
    workspaces: [
      {
        workspace_id: id,
        name: 'Acme',
        minutes: 30,
        repos: [
          { repo: 'Acme/Api', minutes: 20 },
          { repo: 'acme/web', minutes: 10 },
        ],
      },
    ],
  })
  const range = await ada.get(`${MINUTES}?from=${addDays(today, -1)}&to=${today}`)
  t.equal(range.body.days.length, 2)
  t.same(range.body.days[0], { day: addDays(today, -1), workspaces: [] })
  t.equal(range.body.days[1].workspaces[0].minutes, 30)
})

t.test('a full year of activity is returned complete and in order', async (t) => {
  const { service, ada, bob, id, today } = await start(t)
  const { id: second } = await service.workspace(ada, { name: 'Second "ß"', patterns: ['other/*'] })
  const { id: empty } = await service.workspace(ada, { name: 'Empty', patterns: [] })
  const adaId = (await ada.get('/api/me')).body.id
  const { statement } = service.database.read
  // More rows than one read returns, and days without rows.
  await statement(
    `with named as (
      insert into activity_repos (workspace_id, repo_key, repo)
      select w, 'acme/r' || n, 'Acme/R' || n from unnest($1::uuid[]) w, generate_series(1, 700) n
    )
    insert into daily_activity (workspace_id, user_id, day, repo_key, minutes)
    select w, $2::uuid, $3::text::date - d, 'acme/r' || n, n % 3
    from unnest($1::uuid[]) w, generate_series(0, 300, 20) d, generate_series(1, 700) n where d <> 40 or w = $4::uuid`,
    [[id, second], adaId, today, id],
  )
  const from = addDays(today, -365)
  const reply = await ada.get(`${MINUTES}?from=${from}&to=${today}`)
  t.match(reply.headers.get('content-type'), /^application\/json/)
  const { range, days } = reply.body
  t.same(range, { from, to: today, days: 366 })
  t.same(
    days.map(({ day }: { day: string }) => day),
    listDays(from, today),
  )
  // 700 repositories have 0, 1 and 2 minutes in turns: 466 have some.
  const repos = [2, 1].flatMap((minutes) =>
    Array.from({ length: 700 }, (_, index) => index + 1)
      .filter((n) => n % 3 === minutes)
      .map((n) => ({ repo: `Acme/R${n}`, minutes }))
      .sort((a, b) => (a.repo < b.repo ? -1 : 1)),
  )
  const first = { workspace_id: id, name: 'Acme', minutes: 700, repos }
  const other = { ...first, workspace_id: second, name: 'Second "ß"' }
  for (const [index, { workspaces }] of days.entries()) {
    const back = 365 - index
    const expected = back > 300 || back % 20 !== 0 ? [] : back === 40 ? [first] : [first, other]
    equals(t, workspaces, expected, `${back} days ago`)
  }
  const none = { workspace_id: empty, name: 'Empty', minutes: 0, repos: [] }
  equals(t, (await ada.get(MINUTES)).body, { day: today, workspaces: [first, other, none] })
  t.same((await bob.get(MINUTES)).body.workspaces, [{ ...first, minutes: 0, repos: [] }])
})

t.test('a failure before the first byte of a long response returns the usual error', async (t) => {
  const { service, ada, id, today } = await start(t)
  await whileHeld(service, ['lock table daily_activity in access exclusive mode'], async () => {
    const replies = await Promise.all([
      ada.get(`${MINUTES}?from=${today}&to=${today}`),
      ada.get(`/api/team/dashboard?workspace=${id}&format=csv`),
    ])
    for (const reply of replies) t.hasStrict(reply, { status: 503, body: { code: 'unavailable' } })
  })
})

t.test('no flush waits while the month of its workspace is rolled up', async (t) => {
  const { service, ada, id, today } = await start(t)
  const flush = () => ada.post(MINUTES, { entries: [{ repo: 'acme/api', day: today, minutes: 5 }] })
  t.equal((await flush()).status, 200)
  let run: Promise<unknown> = Promise.resolve()
  await whileHeld(service, ['lock table repo_months in share mode'], async () => {
    // On a busy machine, it may give up waiting.
    run = Promise.allSettled([service.app.jobs.rollups.run()])
    await lockWaiters(service)
    t.equal((await flush()).status, 200)
    const { body } = await ada.get(`/api/team/dashboard?workspace=${id}&from=${today}&to=${today}&member=ada`)
    t.equal(body.totals.active_minutes, 10)
  })
  await run
  t.equal(await minutesOf(ada, id, today), 10)
})

t.test('an hour is capped at 60 minutes and a day at 1,440, across all repositories', async (t) => {
  const { ada, id, today } = await start(t)
  const before = addDays(today, -2)
  const hour = await ada.post(MINUTES, {
    entries: [
      { repo: 'acme/a', day: before, minutes: 50, hours: { 9: 50 } },
      { repo: 'acme/b', day: before, minutes: 35, hours: { 9: 30, 10: 5 } },
    ],
  })
  t.same(hour.body.notes, [{ index: 1, status: 'capped', code: 'hour_full' }])
  t.equal(await minutesOf(ada, id, before), 50 + 10 + 5)

  const day = addDays(today, -1)
  const full = await ada.post(MINUTES, {
    entries: [
      { repo: 'acme/a', day, minutes: 1_400 },
      { repo: 'acme/b', day, minutes: 60, hours: { 8: 30, 20: 30 } },
      { repo: 'acme/c', day, minutes: 1 },
    ],
  })
  t.same(full.body.notes, [
    { index: 1, status: 'capped', code: 'day_full' },
    { index: 2, status: 'capped', code: 'day_full' },
  ])
  t.equal(await minutesOf(ada, id, day), 1_440)
  const { heatmap } = await mineOf(ada, id, `&from=${day}&to=${day}`)
  const cells = heatmap.filter((cell: { minutes: number }) => cell.minutes > 0)
  t.same(
    cells.map(({ hour, minutes }: { hour: number; minutes: number }) => [hour, minutes]),
    [
      [8, 30],
      [20, 10],
    ],
  )
})

t.test('an entry that doesn’t count anywhere is reported, and the other entries still count', async (t) => {
  const { ada, bob, id, today } = await start(t)
  const reply = await ada.post(MINUTES, {
    entries: [
      { repo: 'other/api', day: today, minutes: 5 },
      { repo: 'acme/api', day: addDays(today, -31), minutes: 5 },
      { repo: 'acme/api', day: addDays(today, -30), minutes: 5 },
      { repo: 'acme/api', day: addDays(today, 1), minutes: 5 },
      { repo: 'acme/api', day: addDays(today, 2), minutes: 5 },
      { repo: 'acme/api', day: today, minutes: 0 },
    ],
  })
  t.same(reply.body, {
    accepted: 2,
    capped: 0,
    ignored: 4,
    duplicate: false,
    notes: [
      { index: 0, status: 'ignored', code: 'repo_not_matched' },
      { index: 1, status: 'ignored', code: 'day_out_of_window' },
      { index: 3, status: 'ignored', code: 'in_future' },
      { index: 4, status: 'ignored', code: 'day_out_of_window' },
    ],
  })
  t.equal(await minutesOf(ada, id, addDays(today, -30)), 5)
  t.equal(await minutesOf(ada, id, today), 0)

  for (const [entry, path] of [
    [{ minutes: 1_441 }, '/body/entries/1/minutes'],
    [{ minutes: 1.5 }, '/body/entries/1/minutes'],
    [{ hours: { 24: 1 } }, '/body/entries/1/hours/24'],
    [{ hours: { 9: 61 } }, '/body/entries/1/hours/9'],
    [{ hours: { 9: 6 } }, '/body/entries/1/hours'],
    [{ day: '2026-02-30' }, '/body/entries/1/day'],
    [{ repo: 'acme' }, '/body/entries/1/repo'],
    [{ extra: 1 }, '/body/entries/1/extra'],
  ] as const) {
    const good = { repo: 'acme/api', day: today, minutes: 5 }
    const rejected = await bob.post(MINUTES, { entries: [good, { ...good, ...entry }] })
    t.equal(rejected.status, 400)
    t.equal(rejected.body.errors[0].path, path)
  }
  t.equal(await minutesOf(bob, id, today), 0, 'a rejected request counts nothing')
  const many = Array.from({ length: 201 }, () => ({ repo: 'acme/api', day: today, minutes: 1 }))
  t.equal((await bob.post(MINUTES, { entries: many })).status, 400)
})

t.test(
  'minutes count in every matching workspace, except for your own repositories in someone else’s workspace',
  async (t) => {
    const { service, ada, bob, id, today } = await start(t)
    const second = await service.workspace(bob, {
      name: 'Second',
      patterns: ['acme/api', 'ada/*'],
      members: [ada],
    })
    const entries = [
      { repo: 'acme/api', day: today, minutes: 7 },
      { repo: 'ada/dotfiles', day: today, minutes: 3 },
    ]
    const reply = await ada.post(MINUTES, { entries })
    t.same(reply.body.notes, [{ index: 1, status: 'ignored', code: 'repo_not_matched' }])
    t.equal(await minutesOf(ada, id, today), 7)
    t.equal(await minutesOf(ada, second.id, today), 7)
  },
)

t.test('a resent flush counts only the first time', async (t) => {
  const { ada, bob, id, today } = await start(t)
  const entry = { repo: 'acme/api', day: today, minutes: 10, hours: { 0: 10 } }
  const body = { flush_id: 'one', timezone: 'Europe/Berlin', entries: [entry] }
  const replies = await Promise.all(Array.from({ length: 12 }, () => ada.post(MINUTES, body)))
  t.ok(replies.every(({ status }) => status === 200))
  t.equal(replies.filter((reply) => !reply.body.duplicate).length, 1)
  t.equal(await minutesOf(ada, id, today), 10)

  const reordered = { ...body, entries: [{ hours: { 0: 10 }, minutes: 10, day: today, repo: 'acme/api' }] }
  t.match((await ada.post(MINUTES, reordered)).body, { duplicate: true, accepted: 1 })
  const other = await ada.post(MINUTES, { ...body, entries: [{ ...entry, minutes: 11 }] })
  t.equal(other.status, 409)
  t.equal(other.body.code, 'flush_id_reused')
  t.match((await bob.post(MINUTES, body)).body, { duplicate: false }, 'ids are per user')

  const rejected = { ...body, flush_id: 'two', timezone: '+05:30' }
  t.equal((await ada.post(MINUTES, rejected)).body.code, 'invalid_timezone')
  t.match((await ada.post(MINUTES, { ...rejected, timezone: 'UTC' })).body, { duplicate: false })
})

t.test('a failed flush is rolled back, and its retry counts', async (t) => {
  const { service, ada, id, today } = await start(t)
  const run = (text: string) => service.database.write.statement(text, [])
  const body = { flush_id: 'one', entries: [{ repo: 'acme/api', day: today, minutes: 5, hours: {} }] }
  for (const table of ['daily_activity', 'own_activity', 'flushes', 'changed_days', 'activity_repos']) {
    await run(`alter table ${table} add constraint reject check (false) not valid`)
    t.equal((await ada.post(MINUTES, body)).status, 500, table)
    await run(`alter table ${table} drop constraint reject`)
    t.equal(await minutesOf(ada, id, today), 0, table)
  }
  t.match((await ada.post(MINUTES, body)).body, { accepted: 1, duplicate: false })
  t.match((await ada.post(MINUTES, body)).body, { accepted: 1, duplicate: true })
  t.equal(await minutesOf(ada, id, today), 5)
})

t.test('flushes from many devices never exceed the hourly and daily caps', async (t) => {
  const { ada, id, today } = await start(t)
  const replies = await Promise.all(
    Array.from({ length: 36 }, (_, device) =>
      retryWhileUnavailable(() =>
        ada.post(MINUTES, {
          entries: [{ repo: `acme/r${device % 7}`, day: today, minutes: 50, hours: { 0: 7 } }],
        }),
      ),
    ),
  )
  t.ok(replies.every(({ status }) => status === 200))
  t.equal(await minutesOf(ada, id, today), 1_440)
  const { totals, repos, members, heatmap } = await mineOf(ada, id)
  t.equal(totals.active_minutes, 1_440)
  t.equal(members[0].active_minutes, 1_440)
  t.equal(
    repos.reduce((sum: number, repo: { active_minutes: number }) => sum + repo.active_minutes, 0),
    1_440,
  )
  t.equal(
    heatmap.reduce((sum: number, cell: { minutes: number }) => sum + cell.minutes, 0),
    60,
  )
})

/** Creates the callers' rows of turns, so that a test can lock them. */
const takeTurns = async (callers: Caller[], today: string) => {
  for (const caller of callers) {
    await caller.post(MINUTES, { entries: [{ repo: 'acme/turn', day: addDays(today, -20), minutes: 1 }] })
  }
}

/** A cluster locks rows of several nodes only where they are changed. */
const ALL_TURNS = 'update activity_people set user_id = user_id'

/** Resolves when the flush waits for its turn. By then it has read where it counts. */
const startFlush = async (service: Service, caller: Caller, body: object, waiting: number) => {
  const reply = caller.post(MINUTES, body)
  await lockWaiters(service, waiting)
  return { reply }
}

t.test('concurrent flushes add up', async (t) => {
  const { service, ada, id, today } = await start(t)
  await takeTurns([ada], today)
  const entries = [{ repo: 'acme/api', day: today, minutes: 40, hours: { 0: 40 } }]
  const replies: ReturnType<typeof ada.post>[] = []
  await whileHeld(service, [ALL_TURNS], async () => {
    replies.push((await startFlush(service, ada, { entries }, 1)).reply)
    replies.push((await startFlush(service, ada, { entries, flush_id: 'one' }, 2)).reply)
    replies.push((await startFlush(service, ada, { entries, flush_id: 'one' }, 3)).reply)
  })
  const responses = (await Promise.all(replies)).map(({ body }) => body)
  t.same(responses.map(({ duplicate }) => duplicate).sort(), [false, false, true])
  const first = responses.filter(({ duplicate }) => !duplicate)
  t.same(first.map(({ capped }) => capped).sort(), [0, 1])
  t.equal(await minutesOf(ada, id, today), 60)
})

t.test('a flush for two workspaces adds to minutes that arrived in the meantime', async (t) => {
  const { service, bob, id: changed, today } = await start(t)
  const eve = await service.signIn('eve')
  const { id: unchanged } = await service.workspace(eve, { members: [bob] })
  const entries = [{ repo: 'acme/api', day: today, minutes: 40, hours: { 0: 40 } }]
  const { reply } = await service.database.transaction(async (tx) => {
    // As a concurrent flush would.
    const { id: bobsId } = (await bob.get('/api/me')).body
    await lockMinutes(tx, [bobsId], { waits: true })
    const other = `
      with turn as (
        insert into activity_people (workspace_id, user_id) values ($1::uuid, $2::uuid)
      ), named as (
        insert into activity_repos (workspace_id, repo_key, repo) values ($1::uuid, 'acme/api', 'acme/api')
      )
      insert into daily_activity (workspace_id, user_id, day, repo_key, minutes, hours)
      select $1::uuid, $2::uuid, $3::text::date, 'acme/api', 50, 50 || array_fill(0, array[23])`
    await tx.statement(other, [changed, bobsId, today])
    return startFlush(service, bob, { entries }, 1)
  })
  t.match(await reply, { status: 200, body: { capped: 1 } })
  t.equal(await minutesOf(bob, changed, today), 60)
  t.equal(await minutesOf(bob, unchanged, today), 40)
})

t.test('of two concurrent flushes with the same id, one counts and sets the time zone', async (t) => {
  const { service, ada, id, today } = await start(t)
  await takeTurns([ada], today)
  const zones = ['Europe/Berlin', 'Asia/Tokyo']
  const replies: ReturnType<typeof ada.post>[] = []
  await whileHeld(service, [ALL_TURNS], async () => {
    for (const [index, timezone] of zones.entries()) {
      const entries = [{ repo: 'acme/api', day: today, minutes: 5 + index }]
      const { reply } = await startFlush(service, ada, { flush_id: 'one', timezone, entries }, index + 1)
      replies.push(reply)
    }
  })
  const statuses = (await Promise.all(replies)).map(({ status }) => status)
  t.same([...statuses].sort(), [200, 409])
  const counted = statuses.indexOf(200)
  t.equal(await minutesOf(ada, id, today), 5 + counted)
  const rows = await service.database.hot.statement(`select timezone from users where login = 'ada'`, [])
  t.same(rows, [{ timezone: zones[counted] }])
})

t.test('of two concurrent flushes with the same id for different workspaces, one counts', async (t) => {
  const { service, ada, id: first, today } = await start(t)
  const { id: second } = await service.workspace(ada, { name: 'Second', patterns: ['other/*'] })
  await takeTurns([ada], today)
  const entryOf = (repo: string) => ({ flush_id: 'one', entries: [{ repo, day: today, minutes: 5 }] })
  const replies: ReturnType<typeof ada.post>[] = []
  // Both take turns like any flush, so only the id tells them apart.
  await whileHeld(service, ['lock table flushes in share mode'], async () => {
    replies.push((await startFlush(service, ada, entryOf('acme/api'), 1)).reply)
    replies.push((await startFlush(service, ada, entryOf('other/api'), 2)).reply)
  })
  const statuses = (await Promise.all(replies)).map(({ status }) => status)
  t.same([...statuses].sort(), [200, 409])
  const minutes = await Promise.all([first, second].map((workspace) => minutesOf(ada, workspace, today)))
  t.same(minutes.toSorted(), [0, 5])
})

t.test('a time zone change also moves hours that a concurrent flush adds', async (t) => {
  const { service, ada, id, today } = await start(t)
  const takeId = `
    insert into flushes (user_id, flush_id, body_hash, answer)
    select id, 'zone', '', '' from users where login = 'ada'`
  let zoneFlush: Promise<Reply> | undefined
  await whileHeld(service, [takeId], async () => {
    let hoursFlush: Promise<Reply> | undefined
    await whileHeld(service, ['lock table changed_days in share mode'], async () => {
      hoursFlush = ada.post(MINUTES, {
        entries: [{ repo: 'acme/api', day: today, minutes: 30, hours: { 0: 30 } }],
      })
      await lockWaiters(service)
      const entries = [{ repo: 'nobody/knows', day: today, minutes: 1 }]
      zoneFlush = ada.post(MINUTES, { flush_id: 'zone', timezone: 'Asia/Tokyo', entries })
      await lockWaiters(service, 2)
    })
    t.equal((await hoursFlush)?.status, 200)
    await lockWaiters(service)
    await rollUp(service.database)
  })
  t.equal((await zoneFlush)?.status, 200)
  await rollUp(service.database)
  const { heatmap } = await mineOf(ada, id)
  await rebuildRollups(service.database)
  t.same(heatmap, (await mineOf(ada, id)).heatmap)
})

t.test('flushes waiting for a lock don’t delay other requests', async (t) => {
  const { service, ada, bob, id, today } = await start(t)
  await takeTurns([ada], today)
  const entries = [{ repo: 'acme/api', day: today, minutes: 1 }]
  let answered = 0
  let replies: Promise<number>[] = []
  await whileHeld(service, [ALL_TURNS], async () => {
    replies = Array.from({ length: 20 }, async () => {
      const { status } = await ada.post(MINUTES, { entries })
      answered++
      return status
    })
    await lockWaiters(service, 2)
    t.equal((await bob.get(`/api/team/workspaces/${id}/members`)).status, 200)
    t.equal(answered, 0)
  })
  t.same(new Set(await Promise.all(replies)), new Set([200]))
  t.equal(await minutesOf(ada, id, today), 20)
})

t.test('a flush sent before its member was removed counts, and later ones don’t', async (t) => {
  const { service, ada, bob, id, today } = await start(t)
  await takeTurns([bob], today)
  const flush = (flush_id: string) => ({ flush_id, entries: [{ repo: 'acme/api', day: today, minutes: 5 }] })
  let before: Promise<Reply> | undefined
  let after: Promise<Reply> | undefined
  await whileHeld(service, [ALL_TURNS], async () => {
    before = (await startFlush(service, bob, flush('one'), 1)).reply
    t.equal((await ada.delete(`/api/team/workspaces/${id}/members?login=bob`)).status, 200)
    after = bob.post(MINUTES, flush('two'))
  })
  t.match(await before, { status: 200, body: { accepted: 1 } })
  hasProperties(t, await after, {
    status: 200,
    body: { ignored: 1, notes: [{ code: 'repo_not_matched' }] },
  })
  t.equal((await dashboardOf(ada, id)).totals.active_minutes, 1 + 5)
  t.equal((await bob.post(MINUTES, flush('two'))).body.duplicate, true)
})

t.test('a flush during a workspace deletion still counts in the other workspaces', async (t) => {
  const { service, bob, id: ending, today } = await start(t)
  const eve = await service.signIn('eve')
  const { id: staying } = await service.workspace(eve, { members: [bob] })
  const flush = { flush_id: 'one', entries: [{ repo: 'acme/api', day: today, minutes: 5 }] }
  const { reply } = await service.database.transaction(async (tx) => {
    await tx.statement('delete from workspaces where id = $1::uuid', [ending])
    return startFlush(service, bob, flush, 1)
  })
  t.match(await reply, { status: 200, body: { accepted: 1, duplicate: false } })
  t.equal(await minutesOf(bob, staying, today), 5)
  t.equal((await bob.post(MINUTES, flush)).body.duplicate, true)
})

/** Retries a flush until it gets a response, like a client that must not lose minutes. */
const insist = async (url: string, { token }: Caller, body: object) => {
  for (let attempt = 0; ; attempt++) {
    const reply = await post(url, token, body).catch(() => undefined)
    if (reply?.status === 200) return reply.body
    if (reply !== undefined && reply.status !== 503) throw new Error(`Answered with ${reply.status}`)
    await sleep(Math.min(2 ** attempt, 100))
  }
}

/** On a connection of its own. */
const post = async (url: string, token: string, body: object) => {
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Connection: 'close',
  }
  const reply = await fetch(url + MINUTES, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: reply.status, body: (await reply.json()) as { duplicate: boolean } }
}

/** Flushes of each of the callers, and the minutes that they add up to. */
const manyFlushes = (callers: Caller[], today: string, each: number) => {
  const expected = new Map<string, { caller: Caller; day: string; minutes: number }>()
  const flushes = callers.flatMap((caller) =>
    Array.from({ length: each }, (_, index) => {
      const day = addDays(today, -(index % 5))
      const minutes = 1 + (index % 9)
      const key = `${caller.login} ${day}`
      expected.set(key, { caller, day, minutes: minutes + (expected.get(key)?.minutes ?? 0) })
      return { caller, body: { flush_id: `f${index}`, entries: [{ repo: 'acme/api', day, minutes }] } }
    }),
  )
  return { flushes, expected }
}

/** Few enough that a retry doesn't have to wait in line. */
const DEVICES = 4

/** Sends everything, with at most one request per device at a time. */
const fromDevices = async <Item, Result>(items: Item[], send: (item: Item) => Promise<Result>) => {
  const responses: Result[] = []
  const line = items.values()
  const device = async () => {
    for (const item of line) responses.push(await send(item))
  }
  await Promise.all(Array.from({ length: DEVICES }, device))
  return responses
}

t.test(
  'minutes are counted exactly once when retries run over a network with 30 % packet loss',
  async (t) => {
    const { service, ada, bob, id, today } = await start(t)
    const network = await startLossyProxy(t, service.url)
    const { flushes, expected } = manyFlushes([ada, bob], today, 30)
    const responses = await fromDevices(flushes, ({ caller, body }) => insist(network.url, caller, body))

    for (const [loss, times] of Object.entries(network.lost)) t.ok(times > 0, `${times} times a lost ${loss}`)
    t.ok(responses.some(({ duplicate }) => duplicate))
    for (const [key, { caller, day, minutes }] of expected) {
      t.equal(await minutesOf(caller, id, day), minutes, key)
    }
    const { members } = (await ada.get(`/api/team/workspaces/${id}/members`)).body
    t.hasStrict(members[0], { login: 'ada', last_active_day: today })
  },
)

t.test('flushes in progress when the service is killed count exactly once after a retry', async (t) => {
  const { service, ada, bob, id, today } = await start(t)
  const env = onDatabase(service.databaseUrl)
  const port = await freePort()
  const killed = await ready(launch(t, port, env))
  const { flushes, expected } = manyFlushes([ada, bob], today, 60)
  let acknowledged = 0
  const sendAll = (caller: Caller) =>
    fromDevices(
      flushes.filter((flush) => flush.caller === caller),
      async ({ body }) => {
        await insist(killed.url, caller, body)
        acknowledged++
      },
    )

  let all: Promise<unknown> | undefined
  // Bob's flushes wait for their turn, so that some are certainly half done. Ada's continue.
  await takeTurns([bob], today)
  await whileHeld(service, [ALL_TURNS], async () => {
    all = Promise.all([sendAll(ada), sendAll(bob)])
    await lockWaiters(service)
    while (acknowledged < 20) await sleep(1)
    killed.child.kill('SIGKILL')
    await killed.ended
    t.ok(acknowledged < flushes.length)
  })
  await ready(launch(t, port, env))
  await all
  for (const [key, { caller, day, minutes }] of expected) {
    t.equal(await minutesOf(caller, id, day), minutes, key)
  }
})

const COMMITS = '/api/team/commits'

t.test('an uploaded count replaces the previous one instead of adding to it', async (t) => {
  const { service, ada, bob, id, today } = await start(t)
  const upload = (members: object[]) => ada.post(COMMITS, { workspace: id, day: today, members })
  const members = [
    {
      login: 'ADA',
      repos: [
        { repo: 'acme/api', count: 3 },
        { repo: 'acme/web', count: 0 },
      ],
    },
    {
      login: 'bob',
      repos: [
        { repo: 'Acme/Api', count: 2 },
        { repo: 'other/x', count: 1 },
      ],
    },
    { login: 'Eve "x"', repos: [{ repo: 'acme/api', count: 2 }] },
  ]
  const skipped = [
    { login: 'Eve "x"', code: 'member_not_found' },
    { login: 'bob', repo: 'other/x', code: 'repo_outside_patterns' },
  ]
  t.same((await upload(members)).body, { upserted: 2, unchanged: 1, skipped })
  t.same((await upload(members)).body, { upserted: 0, unchanged: 3, skipped })
  t.same((await upload([{ login: 'ada', repos: [{ repo: 'acme/api', count: 0 }] }])).body, {
    upserted: 1,
    unchanged: 0,
    skipped: [],
  })
  t.match(await dashboardOf(ada, id), { totals: { commits: 2, closed_issues: 0 }, repos: { length: 1 } })

  const issues = {
    workspace: id,
    day: today,
    members: [{ login: 'ada', repos: [{ repo: 'acme/api', count: 4 }] }],
  }
  t.equal((await ada.post('/api/team/closed-issues', issues)).body.upserted, 1)
  t.match(await dashboardOf(ada, id), {
    totals: { commits: 2, closed_issues: 4, active_minutes: 0, active_members: 0 },
  })

  t.equal((await bob.post(COMMITS, issues)).body.code, 'admin_required')
  const eve = await service.signIn('eve')
  t.equal((await eve.post(COMMITS, issues)).body.code, 'workspace_not_found')
  const { workspace: _, ...unnamed } = issues
  const repos = Array.from({ length: 200 }, (_, repo) => ({
    repo: `acme/${'x'.repeat(90)}-${repo}`,
    count: 1,
  }))
  const namedLast = { ...unnamed, members: [{ login: 'ada', repos }], workspace: id }
  t.equal((await bob.post(COMMITS, namedLast)).body.code, 'admin_required', 'even when it’s named last')
  t.equal((await eve.post(COMMITS, namedLast)).body.code, 'workspace_not_found')
  const one = { repo: 'acme/api', count: 1 }
  for (const [body, path] of [
    [{ ...issues, day: '1999-12-31' }, '/body/day'],
    [{ ...issues, day: addDays(today, 2) }, '/body/day'],
    [
      {
        ...issues,
        members: [
          { login: 'a', repos: [] },
          { login: 'A', repos: [] },
        ],
      },
      '/body/members',
    ],
    [
      { ...issues, members: [{ login: 'a', repos: [one, { ...one, repo: 'ACME/api' }] }] },
      '/body/members/0/repos',
    ],
    [
      { ...issues, members: [{ login: 'a', repos: [{ ...one, count: 10_001 }] }] },
      '/body/members/0/repos/0/count',
    ],
    [{ ...issues, members: [{ login: '', repos: [] }] }, '/body/members/0/login'],
  ] as const) {
    const rejected = await ada.post(COMMITS, body)
    t.equal(rejected.status, 400)
    t.equal(rejected.body.errors[0].path, path)
  }
})

/** The largest upload that the API allows. */
const largeUpload = (workspace: string, day: string, count: (member: number, repo: number) => unknown) => ({
  workspace,
  day,
  members: Array.from({ length: 500 }, (_, member) => ({
    login: member === 0 ? 'ada' : member === 1 ? 'bob' : `stranger-${member}`,
    repos: Array.from({ length: 200 }, (_, repo) => ({
      repo: `${repo < 150 ? 'acme' : 'other'}/repo-${repo}`,
      count: count(member, repo),
    })),
  })),
})

t.test('the largest upload gets the same response as a small one', async (t) => {
  const { ada, id, today } = await start(t)
  const body = largeUpload(id, today, (_, repo) => repo % 10)
  const first = await ada.post(COMMITS, body)
  t.equal(first.status, 200)
  t.match(first.body, { upserted: 2 * 135, unchanged: 2 * 15 })
  t.equal(first.body.skipped.length, 498 + 2 * 50)

  const bad = largeUpload(id, today, (member, repo) => (member === 400 && repo === 7 ? 'x' : 1))
  const rejected = await ada.post(COMMITS, bad)
  t.equal(rejected.status, 400)
  t.equal(rejected.body.code, 'validation_failed')
  t.equal(rejected.body.errors[0].path, '/body/members/400/repos/7/count')
  const send = async (text: string, type = 'application/json') =>
    (await ada.request('POST', COMMITS, { body: text, headers: { 'Content-Type': type } })).body.code
  t.equal(await send(`{"members":${' '.repeat(300_000)}`), 'invalid_json')
  t.equal(await send(' '.repeat(300_000), 'text/plain'), 'unsupported_media_type')
  t.equal(await send(' '.repeat(24 * 1_048_576 + 1)), 'payload_too_large')
})

t.test('concurrent uploads and flushes all count', async (t) => {
  const { ada, bob, id, today } = await start(t)
  const repos = Array.from({ length: 30 }, (_, index) => `acme/r${index}`)
  const upload = (url: string, order: string[]) =>
    ada.post(`/api/team/${url}`, {
      workspace: id,
      day: today,
      members: ['bob', 'ada'].map((login) => ({ login, repos: order.map((repo) => ({ repo, count: 2 })) })),
    })
  const flush = (caller: Caller, order: string[]) =>
    caller.post(MINUTES, { entries: order.map((repo) => ({ repo, day: today, minutes: 1 })) })
  const reversed = repos.toReversed()
  const replies = await Promise.all(
    Array.from({ length: 6 }, (_, turn) => {
      const order = turn % 2 ? repos : reversed
      return [upload('commits', order), upload('closed-issues', order), flush(ada, order), flush(bob, order)]
    }).flat(),
  )
  t.ok(replies.every(({ status }) => status === 200))
  t.match((await dashboardOf(ada, id)).totals, { active_minutes: 360, commits: 120, closed_issues: 120 })
})

const storedRows = async ({ database }: Service) => {
  const rows = await database.hot.statement<{ total: number }>(
    'select count(*)::int as total from daily_activity',
    [],
  )
  return rows[0]?.total
}

t.test('hours that begin more than ten minutes from now don’t count', async (t) => {
  const { ada, id, today } = await start(t)
  const tomorrow = addDays(today, 1)
  const before = addDays(today, -1)
  const { body } = await ada.post(MINUTES, {
    entries: [
      { repo: 'acme/api', day: tomorrow, minutes: 5, hours: { 12: 5 } },
      { repo: 'acme/api', day: tomorrow, minutes: 5 },
      { repo: 'acme/api', day: addDays(today, 2), minutes: 5 },
      { repo: 'other/api', day: tomorrow, minutes: 5 },
      { repo: 'acme/api', day: today, minutes: 5, hours: { 0: 5 } },
      { repo: 'acme/api', day: today, minutes: 6 },
      { repo: 'acme/api', day: before, minutes: 7, hours: { 23: 7 } },
    ],
  })
  t.strictSame(body.notes, [
    { index: 0, status: 'ignored', code: 'in_future' },
    { index: 1, status: 'ignored', code: 'in_future' },
    { index: 2, status: 'ignored', code: 'day_out_of_window' },
    { index: 3, status: 'ignored', code: 'repo_not_matched' },
  ])
  t.equal(await minutesOf(ada, id, tomorrow), 0)
  t.equal(await minutesOf(ada, id, today), 11)
  t.equal(await minutesOf(ada, id, before), 7)
  const capped = await ada.post(MINUTES, {
    timezone: 'Asia/Tokyo',
    entries: [{ repo: 'acme/web', day: tomorrow, minutes: 9, hours: { 0: 3, 1: 3, 23: 3 } }],
  })
  // Just before midnight, the first hour is close enough.
  const [note] = capped.body.notes
  t.equal(note.code, 'in_future')
  const mixed = await ada.post(MINUTES, {
    entries: [{ repo: 'acme/web', day: today, minutes: 9, hours: { 0: 4, 23: 5 } }],
  })
  const isLate = Date.now() + 600_000 >= Date.parse(`${today}T23:00:00Z`)
  t.strictSame(mixed.body.notes, isLate ? [] : [{ index: 0, status: 'capped', code: 'in_future' }])
})

t.test('a local day has at most 100 repositories in a workspace', async (t) => {
  const { service, ada, bob, id, today } = await start(t)
  const { id: other } = await service.workspace(ada, { name: 'Other', patterns: ['other/*'] })
  const day = addDays(today, -1)
  const many = (owner: string, from: number, count: number) =>
    Array.from({ length: count }, (_, n) => ({ repo: `${owner}/r${from + n}`, day, minutes: 2 }))
  const first = await ada.post(MINUTES, { entries: many('acme', 0, 102) })
  const refused = (index: number) => ({ index, status: 'ignored', code: 'too_many_repos' })
  t.strictSame(
    [first.body.accepted, first.body.notes],
    [100, [refused(100), refused(101)]],
    'the rest of a flush',
  )
  const later = await ada.post(MINUTES, {
    entries: [
      ...many('acme', 99, 2),
      ...many('other', 0, 1),
      { repo: 'acme/r100', day: addDays(day, -1), minutes: 2 },
    ],
  })
  t.strictSame(later.body.notes, [refused(1)], 'known repositories, other workspaces and other days go on')
  t.equal(await minutesOf(ada, id, day), 202)
  t.equal(await minutesOf(ada, other, day), 2)
  t.equal((await ada.get(`/api/team/dashboard/mine?from=${day}&to=${day}`)).body.totals.active_minutes, 204)
  t.strictSame(
    (await bob.post(MINUTES, { entries: many('acme', 100, 1) })).body.notes,
    [],
    'others have their own',
  )
})

t.test('local hours and days are capped, and an hour that comes twice is one hour', async (t) => {
  const { service, ada, id } = await start(t)
  const { statement } = service.database.hot
  const day = addDays(await readToday(service.database), -3)
  const flush = async (timezone: string, hours: Record<string, number>, repo = 'acme/api', on = day) => {
    const minutes = Object.values(hours).reduce((sum, inHour) => sum + inHour, 0)
    const entries = [{ repo, day: on, minutes, hours }]
    return (await ada.post(MINUTES, { timezone, entries })).body.notes
  }
  t.strictSame(await flush('Asia/Tokyo', { 3: 40 }), [])
  // 3:00 UTC is noon in Tokyo, and 4:00 UTC is noon in Singapore: the hour comes twice on a journey west.
  t.strictSame(await flush('Asia/Singapore', { 4: 30 }, 'acme/web'), [
    { index: 0, status: 'capped', code: 'hour_full' },
  ])
  const mine = `/api/team/dashboard/mine?workspace=${id}&from=${day}&to=${day}`
  const cells = async () =>
    (await ada.get(mine)).body.heatmap
      .filter(({ minutes }: { minutes: number }) => minutes > 0)
      .map(({ hour, minutes }: { hour: number; minutes: number }) => [hour, minutes])
  t.strictSame(await cells(), [[12, 60]])
  t.strictSame(await flush('Asia/Singapore', { 5: 60 }), [], 'the next hour has room')
  t.strictSame(await cells(), [
    [12, 60],
    [13, 60],
  ])
  t.equal(await minutesOf(ada, id, day), 120)
  const all = Object.fromEntries(Array.from({ length: 24 }, (_, hour) => [hour, 60]))
  await flush('Asia/Singapore', all, 'acme/api', addDays(day, -1))
  await flush('Asia/Singapore', all)
  const { body } = await ada.get(
    `/api/team/dashboard/mine?workspace=${id}&from=${addDays(day, -1)}&to=${addDays(day, 1)}`,
  )
  t.strictSame(
    body.daily.map(({ active_minutes }: { active_minutes: number }) => active_minutes),
    [16 * 60, 24 * 60, 8 * 60],
  )
  const rows = await statement(
    'select max(minutes)::int as most from (select sum(minutes) as minutes from daily_activity group by user_id, day) d',
    [],
  )
  t.strictSame(rows[0], { most: 1_440 })
})

t.test('GET /active-minutes maps local days back to UTC days', async (t) => {
  const { ada, id, today } = await start(t)
  const [day, next] = [addDays(today, -3), addDays(today, -2)]
  const post = (timezone: string, entries: object[]) => ada.post(MINUTES, { timezone, entries })
  for (const [index, timezone] of ['Asia/Tokyo', 'America/Los_Angeles', 'Asia/Kathmandu', 'UTC'].entries()) {
    const repo = `acme/r${index}`
    await post(timezone, [
      { repo, day, minutes: 10, hours: { 0: 1, 12: 2, 23: 3 } },
      { repo, day: next, minutes: 5, hours: { 0: 2, 23: 3 } },
    ])
  }
  const repos = (minutes: number) => [0, 1, 2, 3].map((index) => ({ repo: `acme/r${index}`, minutes }))
  const reposOf = async (query: string) => (await ada.get(`${MINUTES}?${query}`)).body
  for (const [on, minutes] of [
    [day, 10],
    [next, 5],
  ] as const)
    t.strictSame((await reposOf(`day=${on}`)).workspaces, [
      { workspace_id: id, name: 'Acme', minutes: 4 * minutes, repos: repos(minutes) },
    ])
  const { days } = await reposOf(`from=${addDays(day, -1)}&to=${addDays(next, 1)}`)
  t.strictSame(
    days.map(({ workspaces }: { workspaces: { minutes: number }[] }) =>
      workspaces.map(({ minutes }) => minutes),
    ),
    [[], [40], [20], []],
  )
})

t.test('a flush without minutes writes nothing', async (t) => {
  const { service, ada, today } = await start(t)
  await ada.post(MINUTES, { entries: [{ repo: 'acme/api', day: today, minutes: 0, hours: {} }] })
  t.equal(await storedRows(service), 0)
})

t.test('a flush that would write too many rows is rejected as a whole and not stored', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  for (let n = 0; n < 26; n++) await service.workspace(ada, { name: `Acme ${n}` })
  const today = await readToday(service.database)
  // A day can have 100 repositories.
  const entries = Array.from({ length: 200 }, (_, n) => ({
    repo: `acme/r${n % 100}`,
    day: n < 100 ? today : addDays(today, -1),
    minutes: 1,
  }))
  const flush = (some: object[]) => ada.post('/api/team/active-minutes', { entries: some, flush_id: 'f' })
  const rejected = await flush(entries)
  t.hasStrict(rejected, { status: 413, body: { code: 'payload_too_large' } })
  t.match(rejected.body.detail, /5200 rows.*26 workspaces.*at most 192 entries/)
  t.same(await service.database.hot.statement('select 1 from daily_activity', []), [])
  t.match(await flush(entries.slice(0, 192)), { status: 200, body: { accepted: 192, duplicate: false } })
  t.match(await flush(entries.slice(0, 192)), { status: 200, body: { duplicate: true } })

  const twice = [...entries.slice(0, 100), ...entries.slice(0, 100)]
  const again = await ada.post('/api/team/active-minutes', { entries: twice })
  t.equal(again.status, 200, 'entries for the same rows count once')
})

t.test('a flush with too many patterns to compare is rejected, and a smaller one counts', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  await fillWithPatterns(service, 'ada', 195)
  const entries = Array.from({ length: 200 }, (_, n) => ({
    repo: `ada/${'a'.repeat(97)}${100 + n}`,
    day: new Date().toISOString().slice(0, 10),
    minutes: 1,
  }))
  const flush = (some: object[]) => ada.post('/api/team/active-minutes', { entries: some, flush_id: 'f' })
  const rejected = await flush(entries)
  t.equal(rejected.status, 413)
  t.equal(rejected.body.code, 'payload_too_large')
  t.equal(
    rejected.body.detail,
    'This request names 200 repositories, too many to compare with all your workspaces’ patterns. Name at most 2 in one request.',
  )
  const first = await flush(entries.slice(0, 1))
  t.same(
    [first.status, first.body.ignored, first.body.duplicate],
    [200, 1, false],
    'the rejection isn’t stored',
  )

  const choose = await ada.put('/api/me/recording', {
    paused: false,
    repos_off: Array.from({ length: 200 }, (_, n) => `ada/*${'a'.repeat(190)}${100 + n}`),
    hours: null,
  })
  t.equal(choose.status, 200)
  const bob = await service.signIn('bob')
  t.equal((await flush(entries.slice(0, 1))).body.duplicate, true)
  t.equal(
    (await ada.post('/api/team/active-minutes', { entries: entries.slice(0, 1) })).status,
    200,
    'one entry always fits',
  )
  t.equal(
    (await bob.post('/api/team/active-minutes', { entries })).status,
    200,
    'and all entries fit with few patterns',
  )
})

t.test('an upload with too many patterns to compare is rejected as a whole', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  await fillWithPatterns(service, 'ada', 1)
  const [{ id: workspace }] = (await ada.get('/api/team/me')).body.workspaces
  const upload = (members: number) =>
    ada.post('/api/team/commits', {
      workspace,
      day: new Date().toISOString().slice(0, 10),
      members: Array.from({ length: members }, (_, m) => ({
        login: m === 0 ? 'ada' : `other-${m}`,
        repos: Array.from({ length: 200 }, (_, n) => ({
          repo: `ada/${'a'.repeat(90)}${1_000 + 200 * m + n}`,
          count: 1,
        })),
      })),
    })
  const rejected = await upload(16)
  t.equal(rejected.status, 413)
  t.equal(rejected.body.code, 'payload_too_large')
  t.equal(
    rejected.body.detail,
    'This upload names 3200 repositories, too many to compare with the workspace’s patterns. Name at most 3094 per upload.',
  )
  const { status, body } = await upload(15)
  t.same([status, body.upserted, body.skipped.length], [200, 0, 214])
})
