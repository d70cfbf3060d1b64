import fc from 'fast-check'
import t from 'tap'
import { DELETED_USER } from '../src/features/accounts/index.js'
import { rebuildRollups } from '../src/features/rollups/roll-up.js'
import { reportHours, reportMemberDays, reportRepoDays } from '../src/features/rollups/tables.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays, listDays, weekdayOf } from '../src/platform/time/days.js'
import { equals } from './equals.js'
import { hasProperties } from './has-properties.js'
import { recount, shownCells, shownRows, toldBy, type WorkRow, wallClock } from './local-model.js'
import { betweenRollups, type Caller, reuseService, type Service } from './service.js'
import { until } from './until.js'

type Test = Parameters<typeof reuseService>[0]

const start = async (test: Test, env: Record<string, string> = {}) => {
  const service = await reuseService(test, 'github', env)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id, code } = await service.workspace(ada, { members: [bob] })
  return { service, ada, bob, id, code, today: await readToday(service.database) }
}

const path = (id: string, query = '') => `/api/team/dashboard?workspace=${id}${query}`

const flush = (caller: Caller, entries: object[], timezone?: string) =>
  caller.post('/api/team/active-minutes', { entries, ...(timezone && { timezone }) })

const count = (
  caller: Caller,
  kind: string,
  workspace: string,
  day: string,
  login: string,
  repos: object[],
) => caller.post(`/api/team/${kind}`, { workspace, day, members: [{ login, repos }] })

type Numbers = Record<'active_minutes' | 'commits' | 'closed_issues', number>
const names = ['active_minutes', 'commits', 'closed_issues'] as const
const sumOf = (parts: Numbers[]): Numbers =>
  Object.fromEntries(names.map((name) => [name, parts.reduce((sum, part) => sum + part[name], 0)])) as Numbers

/** Calculates numbers from the activity and from the rollups. Both must be equal. */
const bothWays = async (
  t: Test & Parameters<typeof equals>[0],
  service: Service,
  caller: Caller,
  url: string,
) => {
  const { generated_at: _, ...fresh } = (await caller.get(url)).body
  await service.app.jobs.rollups.run()
  const { generated_at: __, ...rolledUp } = (await caller.get(url)).body
  equals(t, rolledUp, fresh, 'the rollups say what the activity says')
  return fresh
}

t.test('a workspace without activity has a dashboard full of zeros', async (t) => {
  const { ada, bob, id, today } = await start(t)
  const { body, headers } = await ada.get(path(id))
  t.match(headers.get('vary'), /Accept/)
  t.same(body.range, { from: addDays(today, -29), to: today, days: 30 })
  t.same(body.totals, { active_minutes: 0, commits: 0, closed_issues: 0, active_members: 0 })
  t.same(body.totals, body.previous_totals)
  t.same(
    body.daily.map(({ day }: { day: string }) => day),
    listDays(addDays(today, -29), today),
  )
  t.same(
    body.members.map(({ login, role, last_active_day }: Record<string, unknown>) => [
      login,
      role,
      last_active_day,
    ]),
    [
      ['ada', 'admin', null],
      ['bob', 'member', null],
    ],
  )
  t.equal(body.heatmap.length, 168)
  hasProperties(
    t,
    [body.heatmap[0], body.heatmap[167]],
    [
      { weekday: 1, hour: 0 },
      { weekday: 7, hour: 23 },
    ],
  )
  t.hasStrict({ name: body.workspace.name, idle: body.idle_window_minutes }, { name: 'Acme', idle: 5 })
  t.equal((await bob.get(path(id))).body.code, 'admin_required')
})

t.test('a range covers at most 366 days and can’t end before it starts', async (t) => {
  const { ada, id, today } = await start(t)
  const range = async (query: string) => {
    const { body } = await ada.get(path(id, query))
    return body.code ?? `${body.range.from} ${body.range.to} ${body.range.days}`
  }
  t.equal(await range('&from=2024-01-01&to=2024-12-31'), '2024-01-01 2024-12-31 366')
  t.equal(await range('&from=2024-01-01&to=2025-01-01'), 'invalid_range')
  t.equal(await range('&from=2024-01-02&to=2024-01-01'), 'invalid_range')
  t.equal(await range('&from=2024-01-31'), '2024-01-31 2024-02-29 30')
  t.equal(await range('&to=2024-03-01'), '2024-02-01 2024-03-01 30')
  t.equal(await range(`&to=${today}&from=${today}`), `${today} ${today} 1`)
  t.equal(await range('&from=2024-02-30'), 'validation_failed')
  t.equal(await range('&from=0000-01-01'), 'validation_failed')
  const tomorrow = addDays(today, 1)
  t.equal(await range(`&from=${tomorrow}&to=${tomorrow}`), `${tomorrow} ${tomorrow} 1`)
  t.equal(await range(`&from=${addDays(today, -1)}`), `${addDays(today, -1)} ${addDays(today, 28)} 30`)
  const last = addDays(today, 366)
  t.equal(await range(`&from=${tomorrow}&to=${last}`), `${tomorrow} ${last} 366`)
  t.equal(await range(`&from=${addDays(last, -1)}`), `${addDays(last, -1)} ${last} 2`)
  for (const later of [addDays(today, 367), '9999-12-31']) {
    t.equal(await range(`&from=${later}`), 'validation_failed')
    t.equal(await range(`&from=${today}&to=${later}`), 'validation_failed')
  }
  t.equal(await range('&member=nobody'), 'member_not_found')
})

t.test('days to come are zeros, and comparisons leave them out', async (t) => {
  const { ada, bob, id, today } = await start(t)
  const ago = (days: number) => addDays(today, -days)
  await flush(bob, [
    { repo: 'acme/api', day: today, minutes: 10, hours: { 0: 10 } },
    { repo: 'acme/api', day: ago(1), minutes: 20 },
    { repo: 'acme/api', day: ago(2), minutes: 40 },
    { repo: 'acme/api', day: ago(3), minutes: 80 },
    { repo: 'acme/api', day: ago(4), minutes: 160 },
  ])
  const read = async (path: string, caller = bob) => {
    const { range, totals, previous_totals, daily } = (await caller.get(path)).body
    const days = daily.flatMap((one: { day: string; active_minutes: number }) =>
      one.active_minutes === 0 ? [] : [`${one.day} ${one.active_minutes}`],
    )
    return [range.days, daily.length, days, totals.active_minutes, previous_totals]
  }
  const sums = (active_minutes: number, active_members = 1) => ({
    active_minutes,
    commits: 0,
    closed_issues: 0,
    active_members,
  })
  const paths = {
    team: path(id),
    mine: `/api/team/dashboard/mine?workspace=${id}`,
    'all own time': '/api/team/dashboard/mine?',
  }
  for (const [name, start] of Object.entries(paths)) {
    const caller = name === 'team' ? ada : bob
    const ranged = (from: string, to: string) => read(`${start}&from=${from}&to=${to}`, caller)
    t.same(
      await ranged(ago(1), addDays(today, 6)),
      [8, 8, [`${ago(1)} 20`, `${today} 10`], 30, sums(120)],
      `${name}: two days have begun, so two are compared`,
    )
    t.same(await ranged(today, addDays(today, 365)), [366, 366, [`${today} 10`], 10, sums(20)], name)
    t.same(
      await ranged(addDays(today, 1), addDays(today, 366)),
      [366, 366, [], 0, sums(0, 0)],
      `${name}: nothing is compared with days that are all to come`,
    )
  }
  const { body } = await bob.get('/api/me/views')
  const compared = body.views.filter(({ kind }: { kind: string }) => kind === 'comparison')
  t.same(
    compared.map(({ range }: { range: { from: string; to: string } }) => `${range.from} ${range.to}`),
    [`${ago(3)} ${ago(1)}`],
    'the list of views has the compared days',
  )
})

t.test('every total is the sum of its parts, even after members have left', async (t) => {
  const { service, ada, bob, id, code, today } = await start(t)
  const yesterday = addDays(today, -1)
  await flush(ada, [{ repo: 'acme/api', day: today, minutes: 90, hours: { 0: 60 } }])
  await flush(bob, [
    { repo: 'acme/api', day: today, minutes: 30, hours: { 0: 30 } },
    { repo: 'Acme/Web', day: yesterday, minutes: 20, hours: { 23: 20 } },
    { repo: 'acme/api', day: addDays(today, -30), minutes: 11 },
  ])
  await count(ada, 'commits', id, today, 'bob', [{ repo: 'acme/docs', count: 5 }])
  await count(ada, 'closed-issues', id, yesterday, 'ada', [{ repo: 'acme/web', count: 2 }])

  const check = (body: Record<'daily' | 'members' | 'repos', Numbers[]> & { totals: Numbers }) => {
    for (const part of ['daily', 'members', 'repos'] as const) t.match(body.totals, sumOf(body[part]), part)
  }
  const whole = await bothWays(t, service, ada, path(id))
  check(whole)
  t.same(whole.totals, { active_minutes: 140, commits: 5, closed_issues: 2, active_members: 2 })
  t.same(whole.previous_totals, { active_minutes: 11, commits: 0, closed_issues: 0, active_members: 1 })
  t.same(whole.repos, [
    { repo: 'acme/api', active_minutes: 120, commits: 0, closed_issues: 0, members: 2 },
    { repo: 'Acme/Web', active_minutes: 20, commits: 0, closed_issues: 2, members: 2 },
    { repo: 'acme/docs', active_minutes: 0, commits: 5, closed_issues: 0, members: 1 },
  ])
  t.hasStrict(whole.members[0], { login: 'ada', active_minutes: 90, active_days: 1, last_active_day: today })

  const ofBob = await bothWays(t, service, ada, path(id, '&member=BOB'))
  check(ofBob)
  t.same(ofBob.totals, { active_minutes: 50, commits: 5, closed_issues: 0, active_members: 1 })
  t.equal(ofBob.members.length, 1)
  const ofWeb = await bothWays(t, service, ada, path(id, '&repo=ACME/WEB'))
  check(ofWeb)
  t.same(ofWeb.totals, { active_minutes: 20, commits: 0, closed_issues: 2, active_members: 1 })
  t.equal(ofWeb.repos.length, 1)
  const ofBoth = await bothWays(t, service, ada, path(id, '&repo=acme/api&member=bob'))
  check(ofBoth)
  t.equal(ofBoth.totals.active_minutes, 30)

  const bobId = (await bob.get('/api/me')).body.id
  await service.database.hot.statement(
    'delete from members where workspace_id = $1::uuid and user_id = $2::uuid',
    [id, bobId],
  )
  const after = await bothWays(t, service, ada, path(id))
  check(after)
  t.same(after.totals, whole.totals)
  const roles = (body: { members: { login: string; role: string | null }[] }) =>
    Object.fromEntries(body.members.map(({ login, role }) => [login, role]))
  t.same(roles(after), { ada: 'admin', bob: null })
  t.equal((await flush(bob, [{ repo: 'acme/api', day: today, minutes: 5 }])).body.ignored, 1)
  t.same(roles((await ada.get(path(id, '&member=bob'))).body), { bob: null })
  t.same(roles((await ada.get(path(id, `&from=${today}&to=${today}&repo=acme/web`))).body), {})
  await bob.post('/api/team/workspaces/join', { code })
  t.same(roles((await ada.get(path(id))).body), { ada: 'admin', bob: 'member' })
})

t.test('the CSV has one line per active member and day', async (t) => {
  const { ada, bob, id, today } = await start(t)
  const yesterday = addDays(today, -1)
  await flush(bob, [
    { repo: 'acme/api', day: today, minutes: 30 },
    { repo: 'acme/web', day: today, minutes: 12 },
    { repo: 'acme/web', day: yesterday, minutes: 1 },
  ])
  await count(ada, 'commits', id, today, 'ada', [{ repo: 'acme/docs', count: 5 }])
  const csv = async (accept: string, query = '') => {
    const reply = await ada.get(path(id, query), { Accept: accept })
    return reply.headers.get('content-type')?.startsWith('text/csv') ? reply.text : undefined
  }
  const lines = [`${yesterday},bob,1,0,0`, `${today},ada,0,5,0`, `${today},bob,42,0,0`]
  const header = 'day,login,active_minutes,commits,closed_issues'
  t.equal(await csv('text/csv'), [header, ...lines, ''].join('\n'))
  t.equal(
    await csv('text/csv', `&from=${addDays(today, -365)}&repo=acme/docs&to=${today}`),
    `${header}\n${lines[1]}\n`,
  )
  t.equal(await csv('text/csv', '&from=2020-01-01'), `${header}\n`)
  t.ok(await csv('text/csv, */*'))
  t.ok(await csv('application/json;q=0.5, text/csv'))
  t.notOk(await csv('application/json, text/csv'))
  t.notOk(await csv('*/*'))
  t.notOk(await csv('text/csv;q=0'))
})

t.test(
  'a CSV file is named after its workspace and range, in characters that every client supports',
  async (t) => {
    const { service, ada, id, today } = await start(t)
    const range = `&from=${today}&to=${today}`
    const disposition = async (name: string) => {
      t.equal((await ada.patch(`/api/team/workspaces/${id}`, { name })).status, 200)
      const reply = await ada.get(path(id, `${range}&format=csv`))
      t.match(reply.headers.get('content-type'), /^text\/csv/)
      return reply.headers.get('content-disposition')
    }
    const ending = `_${today}_${today}.csv`
    t.equal(await disposition('Acme'), `attachment; filename="Acme${ending}"`)
    t.equal(await disposition('../Acme "R&D"\n'), `attachment; filename="Acme-R-D${ending}"`)
    t.equal(
      await disposition('Équipe 東京'),
      `attachment; filename="Equipe${ending}"; filename*=UTF-8''%C3%89quipe-%E6%9D%B1%E4%BA%AC${ending}`,
    )
    t.equal(
      await disposition('東京'),
      `attachment; filename="file${ending}"; filename*=UTF-8''%E6%9D%B1%E4%BA%AC${ending}`,
    )
    t.equal(await disposition('…'), `attachment; filename="file${ending}"`)

    const json = await ada.get(path(id, `${range}&format=json`), { Accept: 'text/csv' })
    t.equal(json.body.range.days, 1)
    t.equal((await ada.get(path(id, '&format=xml'))).status, 400)
    t.equal(service.logs.filter((line) => line.includes('"level":50')).length, 0)
  },
)

t.test('an unchanged dashboard returns 304', async (t) => {
  const { ada, bob, id, today } = await start(t)
  const url = path(id, `&to=${today}`)
  const first = await ada.get(url)
  const etag = first.headers.get('etag') ?? ''
  t.match(etag, /^"[\w-]+"$/)
  t.equal(first.headers.get('cache-control'), 'private, no-cache')
  t.match(first.body.generated_at, /Z$/)
  const again = await ada.get(url, { 'If-None-Match': etag })
  t.hasStrict({ status: again.status, text: again.text }, { status: 304, text: '' })
  t.equal(again.headers.get('etag'), etag)
  await flush(bob, [{ repo: 'acme/api', day: today, minutes: 1 }])
  const changed = await ada.get(url, { 'If-None-Match': etag })
  t.equal(changed.status, 200)
  t.not(changed.headers.get('etag'), etag)
})

t.test('members and repositories beyond a thousand are combined in the last row', async (t) => {
  const { service, ada, bob, id, today } = await start(t)
  const bobId = (await bob.get('/api/me')).body.id
  const adaId = (await ada.get('/api/me')).body.id
  const { statement } = service.database.read
  const add = (from: number, to: number) =>
    statement(
      `with repos as (
        insert into daily_activity (workspace_id, user_id, day, repo_key, minutes, commits)
        select $1::uuid, $2::uuid, $4::text::date - 40 * (n % 2), 'acme/r' || n, 1, $6::int - n from generate_series($5::int, $6::int) n
      ), others as (
        insert into daily_activity (workspace_id, user_id, day, repo_key, commits)
        select $1::uuid, $3::uuid, $4::text::date, 'acme/r' || n, 1 from generate_series($5::int, $6::int) n where n > 1010
      )
      insert into changed_days (workspace_id, day) values ($1::uuid, $4::text::date), ($1::uuid, $4::text::date - 40) on conflict do nothing`,
      [id, bobId, adaId, today, from, to],
    )
  const url = path(id, `&from=${addDays(today, -60)}&to=${today}`)
  await add(1, 1_000)
  const full = await bothWays(t, service, ada, url)
  t.equal(full.repos.length, 1_000)
  t.equal(full.repos.at(-1).repo, 'acme/r1000')
  await add(1_001, 1_200)
  await statement(
    `with people as (
      insert into users (id, repohost_id, login, login_key, avatar_url)
      select gen_random_uuid(), 1000000 + n, 'member-' || n, 'member-' || n, '' from generate_series(1, 1100) n
      returning id, repohost_id
    ), joined as (
      insert into members (workspace_id, user_id, role) select $1::uuid, id, 'member' from people
    ), worked as (
      insert into daily_activity (workspace_id, user_id, day, repo_key, minutes)
      select $1::uuid, id, $2::text::date - (repohost_id % 3)::int, 'acme/r7', repohost_id - 1000000 from people
      where repohost_id <= 1001080
    )
    insert into changed_days (workspace_id, day) select $1::uuid, $2::text::date - n from generate_series(0, 2) n on conflict do nothing`,
    [id, today],
  )
  const body = await bothWays(t, service, ada, url)
  for (const part of ['daily', 'members', 'repos'] as const) t.match(body.totals, sumOf(body[part]), part)
  t.equal(body.repos.length, 1_000)
  t.equal(body.repos[0].repo, 'acme/r7')
  t.equal(body.repos.filter(({ repo }: { repo: string | null }) => repo === null).length, 1)
  t.match(body.repos.at(-1), { repo: null, members: 2 })
  t.equal(body.members.length, 1_000)
  t.hasStrict(body.members[0], { login: 'bob', active_minutes: 1_200, active_days: 2 })
  t.hasStrict(body.members[1], { login: 'member-1080', active_minutes: 1_080, active_days: 1 })
  t.hasStrict(body.members.at(-1), { login: null, avatar_url: '', role: null })
  t.equal(body.totals.active_members, 1_081)
})

t.test(
  'one’s own dashboard has at most a thousand repositories, those with only agent time included',
  async (t) => {
    const { service, bob, id, today } = await start(t)
    const bobId = (await bob.get('/api/me')).body.id
    await service.database.read.statement(
      `with repos as (
      insert into daily_activity (workspace_id, user_id, day, repo_key, minutes)
      select $1::uuid, $2::uuid, $3::text::date, 'acme/r' || n, 1 from generate_series(1, 1000) n
    )
    insert into changed_days (workspace_id, day) values ($1::uuid, $3::text::date) on conflict do nothing`,
      [id, bobId, today],
    )
    const noon = Date.parse(today) / 1_000 - 43_200
    const beats = [0, 60, 120].map((seconds) => ({
      time: noon + seconds,
      project: 'acme/agents-only',
      category: 'ai coding',
    }))
    const sent = await bob.request('POST', '/api/wakatime/v1/users/current/heartbeats.bulk', { body: beats })
    t.equal(sent.status, 202)
    const url = `/api/team/dashboard/mine?workspace=${id}&from=${addDays(today, -3)}&to=${today}`
    const { totals, repos } = (await bob.get(url)).body
    t.equal(repos.length, 1_000)
    t.same(sumOf(repos), sumOf([totals]))
    t.ok(totals.agent_minutes > 0)
    t.hasStrict(repos.at(-1), { repo: null, active_minutes: 1, agent_minutes: totals.agent_minutes })
  },
)

/** The cells that have minutes. */
const cellsOf = (body: { heatmap: { weekday: number; hour: number; minutes: number }[] }) =>
  body.heatmap
    .filter(({ minutes }) => minutes > 0)
    .map(({ weekday, hour, minutes }) => [weekday, hour, minutes])

t.test('minutes belong to the local day and hour in which they were recorded', async (t) => {
  const { service, ada, id, code, today } = await start(t)
  const day = addDays(today, -2)
  const [before, next] = [addDays(day, -1), addDays(day, 1)]
  const entry = { repo: 'acme/api', day, minutes: 65, hours: { 0: 10, 19: 20, 23: 30 } }
  /** Cells are written as the hour and the minutes, with - for the day before and + for the next. */
  const cells = (text: string) =>
    text
      .split(' ')
      .map((cell) => {
        const [hour = 0, minutes = 0] = cell.replace(/^[-+]/, '').split(':').map(Number)
        const local = cell.startsWith('-') ? before : cell.startsWith('+') ? next : day
        return [weekdayOf(local), hour, minutes] as const
      })
      .sort(([a, b], [c, d]) => a - c || b - d)
  const mine = `/api/team/dashboard/mine?workspace=${id}&from=${before}&to=${next}`
  const daysIn = (body: { daily: { active_minutes: number }[] }) =>
    body.daily.map((one) => one.active_minutes)
  // 19:00 UTC is 00:30 on the next day in Kolkata. A UTC hour counts as a whole in the local hour in which it starts.
  const zones: [zone: string, cells: string, days: number[]][] = [
    ['UTC', '0:10 19:20 23:30', [0, 65, 0]],
    ['Asia/Kolkata', '5:10 +0:20 +4:30', [0, 15, 50]],
    ['Pacific/Kiritimati', '14:10 +9:20 +13:30', [0, 15, 50]],
    ['Pacific/Niue', '-13:10 8:20 12:30', [10, 55, 0]],
    ['America/Los_Angeles', wallCells('America/Los_Angeles', day), [10, 55, 0]],
  ]
  for (const [index, [zone, hours, days]] of zones.entries()) {
    const person = await service.signIn(`person-${index}`)
    await person.post('/api/team/workspaces/join', { code })
    await flush(person, [entry], zone)
    const body = await bothWays(t, service, person, mine)
    t.strictSame(cellsOf(body), cells(hours), zone)
    t.strictSame(daysIn(body), days, zone)
    t.equal((await flush(person, [], 'Asia/Tokyo')).status, 200)
    const later = await bothWays(t, service, person, mine)
    t.strictSame([cellsOf(later), daysIn(later)], [cells(hours), days], `${zone}, after a journey`)
  }
  // A journey within the hour: the last flush is in Niue, where another local hour has room.
  await flush(ada, [{ ...entry, minutes: 20, hours: { 19: 20 } }], 'Asia/Kolkata')
  await flush(ada, [{ ...entry, minutes: 30, hours: { 19: 30 } }], 'Pacific/Niue')
  await flush(ada, [{ ...entry, minutes: 30, hours: { 19: 30 } }], 'Pacific/Niue')
  const both = await bothWays(t, service, ada, mine)
  t.strictSame([cellsOf(both), daysIn(both)], [cells('8:60 +0:20'), [0, 60, 20]])

  const team = await bothWays(t, service, ada, path(id, `&from=${before}&to=${next}`))
  const all = zones.map(([, , days]) => days)
  t.strictSame(
    daysIn(team),
    [0, 1, 2].map((place) => all.reduce((sum, days) => sum + (days[place] ?? 0), [0, 60, 20][place] ?? 0)),
  )
  t.equal(
    team.heatmap.reduce((sum: number, cell: { minutes: number }) => sum + cell.minutes, 0),
    240,
    'five others on the day alone',
  )
})

/** The cells of the hours above, as a clock on the wall shows them. */
const wallCells = (zone: string, day: string) =>
  Object.entries({ 0: 10, 19: 20, 23: 30 })
    .map(([utcHour, minutes]) => {
      const at = wallClock(zone, Date.parse(day) + Number(utcHour) * 3_600_000)
      return `${at.day < day ? '-' : ''}${at.hour}:${minutes}`
    })
    .join(' ')

t.test(
  'on days when clocks change, hours move with them, and one that comes twice is one hour',
  async (t) => {
    const { service, ada, id } = await start(t)
    await flush(ada, [], 'Europe/Berlin')
    await service.database.write.statement(`update members set joined_at = now() - interval '1 year'`, [])
    // Both days are too long ago for a flush.
    const put = async (day: string, minutesOf: Record<number, number>) => {
      const heartbeats = Object.entries(minutesOf).flatMap(([hour, minutes]) =>
        Array.from({ length: minutes }, (_, minute) => ({
          time: (Date.parse(day) + Number(hour) * 3_600_000) / 1_000 + minute * 60,
          project: 'acme/api',
        })),
      )
      const wakatime = '/api/wakatime/v1/users/current/import'
      t.equal((await ada.post(wakatime, heartbeats)).status, 202)
      await until(async () => (await ada.get(wakatime)).body.state === 'done', 'the import is done')
      const range = `from=${addDays(day, -1)}&to=${addDays(day, 1)}`
      const own = await ada.get(`/api/team/dashboard/mine?${range}`)
      const mine = `/api/team/dashboard/mine?workspace=${id}&${range}`
      const cells = cellsOf(await bothWays(t, service, ada, mine))
      t.same(cellsOf(own.body), cells, 'own time has the same hours')
      return cells
    }
    const few = { 0: 1, 1: 2, 2: 3, 23: 24 }
    // 29 March 2026: at 01:00 UTC from +1 to +2. 25 October 2026: back. Both are Sundays.
    t.same(await put('2026-03-29', few), [
      [1, 1, 24],
      [7, 1, 1],
      [7, 3, 2],
      [7, 4, 3],
    ])
    t.same(await put('2026-10-25', few), [
      [1, 0, 24],
      [7, 2, 3],
      [7, 3, 3],
    ])
    t.same(
      await put('2026-10-25', { 0: 60, 1: 60, 2: 60 }),
      [
        [1, 0, 24],
        [7, 2, 60],
        [7, 3, 60],
      ],
      'it has 60 minutes, too',
    )
  },
)

t.test('hours are deleted after their retention period, and days are kept', async (t) => {
  const { service, ada, id, today } = await start(t, { ACTIVITY_DETAIL_DAYS: '31' })
  await flush(ada, [{ repo: 'acme/api', day: today, minutes: 10, hours: { 0: 10 } }])
  await flush(ada, [{ repo: 'acme/api', day: addDays(today, -20), minutes: 20, hours: { 9: 20 } }])
  await service.app.jobs.rollups.run()
  await service.database.hot.statement('update daily_activity set day = day - 21', [])
  await rebuildRollups(service.database)
  await service.app.jobs.rollups.retire()
  const mine = `/api/team/dashboard/mine?workspace=${id}&from=${addDays(today, -60)}&to=${today}`
  const body = await bothWays(t, service, ada, mine)
  t.equal(body.totals.active_minutes, 30)
  t.equal(
    body.heatmap.reduce((sum: number, { minutes }: { minutes: number }) => sum + minutes, 0),
    10,
  )
})

t.test('totals include counts above 32 bits and activity without a repository', async (t) => {
  const { service, ada, bob, id, today } = await start(t)
  await count(ada, 'commits', id, addDays(today, -40), 'bob', [{ repo: 'acme/api', count: 1 }])
  await service.database.read.statement(
    `insert into daily_activity (workspace_id, user_id, day, repo_key, commits)
    select $1::uuid, $2::uuid, $3::text::date, 'acme/r' || n, 1000000000 from generate_series(1, 3) n`,
    [id, (await bob.get('/api/me')).body.id, today],
  )
  await service.database.hot.statement(
    'insert into changed_days (workspace_id, day) values ($1::uuid, $2::text::date) on conflict do nothing',
    [id, today],
  )
  const body = await bothWays(t, service, ada, path(id, `&from=${addDays(today, -99)}&to=${today}`))
  t.equal(body.totals.commits, 3_000_000_001)
  for (const part of ['daily', 'members', 'repos'] as const) t.match(body.totals, sumOf(body[part]), part)
})

t.test('the current day is rolled up hourly, and a past day whenever it changes', async (t) => {
  await betweenRollups()
  const { service, ada, id, today } = await start(t)
  const yesterday = addDays(today, -1)
  const staleDays = async () => {
    const marks = await service.database.read.statement<{ day: string }>(
      'select day::text as day from changed_days where workspace_id = $1::uuid order by day',
      [id],
    )
    return marks.map(({ day }) => day)
  }
  const runAt = (hour: number, minute: number) =>
    service.app.jobs.rollups.runDue(Date.UTC(2026, 0, 5, hour, minute))
  await runAt(9, 0)
  await flush(ada, [
    { repo: 'acme/api', day: yesterday, minutes: 10, hours: { 9: 10 } },
    { repo: 'acme/api', day: today, minutes: 5, hours: { 0: 5 } },
  ])
  const read = async () => ({ ...(await ada.get(path(id))).body, generated_at: undefined })
  const fresh = await read()
  t.strictSame(await staleDays(), [yesterday, today])
  await runAt(9, 5)
  t.strictSame(await staleDays(), [today])
  t.strictSame(await read(), fresh, 'today is read from the activity')
  await runAt(9, 55)
  t.strictSame(await staleDays(), [today])
  await runAt(10, 0)
  t.strictSame(await staleDays(), [])
  t.strictSame(await read(), fresh, 'the rollups have the same numbers')
  await flush(ada, [{ repo: 'acme/api', day: today, minutes: 1 }])
  // It takes so long that there is no run at 11:00.
  await runAt(10, 55)
  t.strictSame(await staleDays(), [today])
  await runAt(11, 10)
  t.strictSame(await staleDays(), [], 'the first run of an hour includes the current day')
})

t.test('a rebuild repairs wrong rollups', async (t) => {
  const { service, ada, id, today } = await start(t)
  await flush(ada, [{ repo: 'acme/api', day: today, minutes: 10, hours: { 0: 10 } }])
  const expected = (await ada.get(path(id))).body
  await service.app.jobs.rollups.run()
  const query = service.database.hot.statement
  await query('update workspace_days set minutes = 99', [])
  await query('update member_days set minutes = 98', [])
  await query('update repo_days set day = day - 3', [])
  for (const table of ['member_months', 'repo_months', 'repo_people']) {
    await query(`update ${table} set month = month - interval '1 month'`, [])
  }
  t.not((await ada.get(path(id))).body.daily.at(-1).active_minutes, 10, 'they are what a dashboard reads')
  await rebuildRollups(service.database)
  const { generated_at: _, ...rebuilt } = (await ada.get(path(id))).body
  hasProperties(t, expected, rebuilt)
})

t.test('a dashboard equals a recount, whatever is rolled up or has changed since', async (t) => {
  const MIN_GROUP = 3
  const { service, ada, bob, id, today } = await start(t, { ACTIVITY_MIN_GROUP: String(MIN_GROUP) })
  const ids = [(await ada.get('/api/me')).body.id, (await bob.get('/api/me')).body.id]
  const query = service.database.read.statement
  const others = await query<{ id: string }>(
    `insert into users (id, repohost_id, login, login_key, avatar_url, timezone)
    select gen_random_uuid(), 1000000 + n, 'Left-' || n, 'left-' || n, '', (array['Asia/Tokyo', 'America/New_York'])[n % 2 + 1]
    from generate_series(1, 8) n returning id`,
    [],
  )
  ids.push(...others.map((other) => other.id))
  const writers = [...ids, DELETED_USER]
  // Covers months of every length, and more than most ranges.
  const LAST = 150
  const back = fc.integer({ min: 0, max: LAST })
  const change = fc.record({
    person: fc.integer({ min: 0, max: writers.length - 1 }),
    back,
    repo: fc.constantFrom('acme/a', 'acme/b', 'acme/c'),
    minutes: fc.integer({ min: 0, max: 2 }).map((n) => n * 100),
    commits: fc.integer({ min: 0, max: 1 }),
    issues: fc.integer({ min: 0, max: 1 }),
    hour: fc.integer({ min: 0, max: 23 }),
  })
  const ask = fc.record({
    back,
    days: fc.integer({ min: 1, max: LAST }),
    person: fc.option(fc.integer({ min: 0, max: ids.length - 1 }), { freq: 3 }),
    repo: fc.option(fc.constantFrom('acme/a', 'acme/b'), { freq: 3 }),
  })
  type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never
  const write = (changes: Change[]) =>
    query(
      `with given as (
        select distinct on (user_id, day, repo_key) *
        from unnest($2::uuid[], $3::date[], $4::text[], $5::int[], $6::int[], $7::int[], $8::int[])
          as g (user_id, day, repo_key, minutes, commits, hour, issues)
      ), written as (
        insert into daily_activity (workspace_id, user_id, day, repo_key, minutes, commits, closed_issues, hours)
        select $1::uuid, user_id, day, repo_key, minutes, commits, issues, case when minutes > 0 and user_id <> '${DELETED_USER}' then
          array_fill(0, array[hour]) || array[60] || array_fill(0, array[23 - hour]) end
        from given
        on conflict (workspace_id, user_id, day, repo_key) do update
          set minutes = excluded.minutes, commits = excluded.commits, closed_issues = excluded.closed_issues, hours = excluded.hours
      ), people as (
        insert into activity_people (workspace_id, user_id) select distinct $1::uuid, user_id from given on conflict do nothing
      )
      insert into changed_days (workspace_id, day) select $1::uuid, day from given on conflict do nothing`,
      [
        id,
        changes.map(({ person }) => writers[person] ?? ''),
        changes.map((one) => addDays(today, -one.back)),
        changes.map(({ repo }) => repo),
        changes.map(({ minutes }) => minutes),
        changes.map(({ commits }) => commits),
        changes.map(({ hour }) => hour),
        changes.map(({ issues }) => issues),
      ],
    )
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { maxLength: 60 }),
      fc.array(change, { maxLength: 8 }),
      fc.array(ask, { minLength: 4, maxLength: 4 }),
      async (first, later, asked) => {
        await query('delete from daily_activity', [])
        await rebuildRollups(service.database)
        await write(first)
        await service.app.jobs.rollups.run()
        await write(later)
        const all = await query<WorkRow>(
          `select case when u.id <> '${DELETED_USER}' then u.login end as login, a.day, a.repo_key as repo, a.minutes, a.commits, a.closed_issues as issues, a.hours
          from daily_activity a join users u on u.id = a.user_id where minutes + commits + closed_issues > 0`,
          [],
        )
        const logins = await query<{ id: string; login: string }>('select id, login from users', [])
        const check = async () => {
          for (const { person, repo, ...range } of asked) {
            const to = addDays(today, -range.back)
            const from = addDays(to, 1 - range.days)
            const login = logins.find((one) => one.id === ids[person ?? -1])?.login
            const ofRepo = repo === null ? '' : `&repo=${repo}`
            const filter = `${login === undefined ? '' : `&member=${login}`}${ofRepo}`
            const url = path(id, `&from=${from}&to=${to}${filter}&trends=true`)
            const { status, body } = await ada.get(url)
            if (status === 404) {
              t.notOk(login === undefined || all.some((row) => row.login === login))
              continue
            }
            const expected = recount(all, { from, to, login, repo: repo ?? undefined }, ['ada', 'bob'])
            equals(t, toldBy(body), expected, url)
            const mine = await ada.get(
              `/api/team/dashboard/mine?workspace=${id}&from=${from}&to=${to}${ofRepo}&trends=true`,
            )
            const own = recount(all, { from, to, login: 'ada', repo: repo ?? undefined }, [])
            equals(t, toldBy(mine.body).members, own.members)
            const shown = shownRows(all, { from, to, login, repo: repo ?? undefined })
            if (login === undefined) equals(t, body.heatmap, shownCells(shown, 'ada', MIN_GROUP), url)
            else if (login === 'ada') equals(t, body.heatmap, shownCells(shown, undefined, 0), url)
            else equals(t, body.heatmap, null, url)
          }
        }
        await check()
        await service.app.jobs.rollups.run()
        await check()
      },
    ),
    { numRuns: 6 },
  )
})

t.test('the reporting views agree with the activity', async (t) => {
  const { service, ada, bob, id, today } = await start(t)
  const gone = await service.workspace(ada, { name: 'Gone', patterns: ['gone/*'] })
  const yesterday = addDays(today, -1)
  await flush(ada, [{ repo: 'Acme/Api', day: today, minutes: 90, hours: { 0: 60 } }], 'Asia/Tokyo')
  await flush(ada, [{ repo: 'acme/web', day: today, minutes: 5 }])
  await flush(ada, [{ repo: 'gone/web', day: today, minutes: 5 }])
  await flush(bob, [{ repo: 'acme/api', day: yesterday, minutes: 30, hours: { 23: 30 } }])
  await count(ada, 'commits', id, today, 'bob', [{ repo: 'acme/api', count: 4 }])
  await count(ada, 'closed-issues', id, today, 'bob', [{ repo: 'acme/api', count: 2 }])
  await ada.delete(`/api/team/workspaces/${gone.id}`)
  await service.app.jobs.rollups.run()
  const { read } = service.database
  const of = { workspaceId: id, workspace: 'Acme' }
  const nothing = { minutes: 0, commits: 0, closedIssues: 0 }
  const byDay = <Row extends { day: string }>(rows: Row[], name: (row: Row) => string | number) =>
    rows.sort((a, b) => (`${a.day} ${name(a)}` < `${b.day} ${name(b)}` ? -1 : 1))

  t.same(
    byDay(await read.select().from(reportMemberDays), ({ login }) => login),
    [
      { ...of, day: yesterday, login: 'bob', ...nothing, minutes: 30 },
      { ...of, day: today, login: 'ada', ...nothing, minutes: 95 },
      { ...of, day: today, login: 'bob', ...nothing, commits: 4, closedIssues: 2 },
    ],
  )
  t.same(
    byDay(await read.select().from(reportRepoDays), ({ repo }) => repo),
    [
      { ...of, day: yesterday, repo: 'Acme/Api', ...nothing, minutes: 30, members: 1 },
      { ...of, day: today, repo: 'Acme/Api', minutes: 90, commits: 4, closedIssues: 2, members: 2 },
      { ...of, day: today, repo: 'acme/web', ...nothing, minutes: 5, members: 1 },
    ],
  )
  t.same(
    byDay(await read.select().from(reportHours), ({ hour }) => hour),
    [
      { ...of, day: yesterday, weekday: weekdayOf(yesterday), hour: 23, minutes: 30 },
      { ...of, day: today, weekday: weekdayOf(today), hour: 9, minutes: 60 },
    ],
  )
})
