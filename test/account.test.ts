import { setTimeout as sleep } from 'node:timers/promises'
import { getTableColumns } from 'drizzle-orm'
import t, { type Test } from 'tap'
import { DELETED_USER } from '../src/features/accounts/deleted-user.js'
import { eraseAccounts } from '../src/features/personal-data/delete-account.js'
import { peopleColumns } from '../src/features/tables.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays, lengthOfMonth, monthOf } from '../src/platform/time/days.js'
import { hasProperties } from './has-properties.js'
import { countLockWaiters, lockWaiters, whileHeld } from './locks.js'
import { type Caller, type Reply, reuseService, type Service, startService, startTeam } from './service.js'
import { until } from './until.js'

const team = '/api/team/workspaces'
const flush = (caller: Caller, entries: object[], more: object = {}) =>
  caller.post('/api/team/active-minutes', { entries, ...more })
const dashboard = async (caller: Caller, id: string, query = '') =>
  (await caller.get(`/api/team/dashboard?workspace=${id}${query}`)).body
const deleteMe = (caller: Caller, confirm = caller.login) =>
  caller.request('DELETE', '/api/me', { body: { confirm } })
const idOf = async (caller: Caller): Promise<string> => (await caller.get('/api/me')).body.id

/** An attempt is noted until a moment after its erasure has ended. */
const UNDER_WAY = `select from erasures union all select from attempts where job = 'erasures'`

/** Finishes erasures. They count as started long ago, so that whatever was under way at the time has ended. */
const finishErasures = async ({ app, database }: Service) => {
  await app.housekeeping.run()
  // Another run may be updating rollups at the same time.
  await until(async () => {
    await database.write.statement(`update erasures set started_at = '2026-01-01'::timestamptz`, [])
    await app.jobs.erasures.run()
    return (await database.read.statement(UNDER_WAY, [])).length === 0
  }, 'nothing is left to erase')
}

/** Every row of every table, as text. */
const dump = async ({ database }: Service): Promise<{ table: string; row: string }[]> => {
  const tables = await database.read.statement<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE'`,
    [],
  )
  const rows = tables.map(async ({ name }) => {
    const found = await database.read.statement<{ row: string }>(`select t::text as row from ${name} t`, [])
    return found.map(({ row }) => ({ table: name, row }))
  })
  return (await Promise.all(rows)).flat()
}

/**
 * The columns with people's ids that don't contain this person's yet. Some are written only when an account is deleted.
 */
const columnsWithout = async ({ database }: Service, userId: string) => {
  const places = await Promise.all(
    peopleColumns().map(async ({ tableName, column }) => {
      // Some columns are arrays.
      const text = `select from ${tableName} where ${column}::text like '%' || $1::text || '%' limit 1`
      const rows = await database.read.statement(text, [userId])
      return rows.length === 0 ? [`${tableName}.${column}`] : []
    }),
  )
  return places.flat()
}

/** Columns that get values only when a session ends or an account is deleted, or from the previous version. */
const EMPTY = ['erasures.user_id', 'revocations.user_id', 'activity_repo_days.crews']

/** A value for each column type, for columns that need one. */
const SOME: Record<string, string> = {
  uuid: 'gen_random_uuid()',
  text: `'acme/web'`,
  smallint: '1',
  'smallint[]': 'array_fill(1, array[24])',
  integer: '1',
  bigint: '1',
  date: 'current_date',
  boolean: 'true',
  'timestamp(3) with time zone': 'now()',
}

/** Adds a made-up row about the person to each table that has none. */
const makeRows = async (service: Service, userId: string, workspaceId: string) => {
  const without = await columnsWithout(service, userId)
  for (const { tableName, table, column } of peopleColumns()) {
    if (!without.includes(`${tableName}.${column}`) || EMPTY.includes(`${tableName}.${column}`)) continue
    const columns = Object.values(getTableColumns(table)).filter(
      ({ name, notNull, hasDefault }) => name === column || (notNull && !hasDefault),
    )
    const values = columns.map((one) => {
      if (one.name === column) return '$1::uuid'
      return one.name === 'workspace_id' ? '$2::uuid' : (SOME[one.getSQLType()] ?? one.getSQLType())
    })
    await service.database.write.statement(
      `insert into ${tableName} (${columns.map(({ name }) => name)}) select ${values} from (select $1::uuid, $2::uuid) as parameters`,
      [userId, workspaceId],
    )
  }
}

const markAllDaysStale = ({ database }: Service) =>
  database.write.statement(
    'insert into changed_days (workspace_id, day) select distinct workspace_id, day from daily_activity on conflict do nothing',
    [],
  )

/** Activity of a caller in a workspace, a row for each day and repository. */
const addActivity = async ({ database }: Service, workspaceId: string, userId: string, rows: number) => {
  await database.write.statement(
    'insert into activity_people (workspace_id, user_id) values ($1::uuid, $2::uuid) on conflict do nothing',
    [workspaceId, userId],
  )
  await database.write.statement(
    `insert into daily_activity (workspace_id, user_id, day, repo_key, minutes)
     select $1::uuid, $2::uuid, '2025-01-01'::date + n / 200, 'acme/' || n % 200, 1 from generate_series(0, $3::int - 1) n`,
    [workspaceId, userId, rows],
  )
}

t.test(
  'an account is deleted once its login is confirmed, and its tokens stop working immediately everywhere',
  async (t) => {
    const service = await reuseService(t)
    const beside = await startService(t, { beside: service })
    const ada = await service.signIn('Ada')
    for (const confirm of ['ad', 'ada '])
      hasProperties(t, await deleteMe(ada, confirm), {
        status: 400,
        body: { code: 'validation_failed', errors: [{ path: '/body/confirm', message: /Ada/ }] },
      })
    t.match(await ada.delete('/api/me'), { status: 400 })
    const ended = await deleteMe(ada, 'ada')
    t.match(ended, { status: 200, body: { ok: true } })
    t.match(ended.headers.get('set-cookie'), /^svc_token=;/)
    t.hasStrict(await ada.get('/api/me'), { status: 401, body: { code: 'token_revoked' } })
    await until(
      async () =>
        (await beside.request('GET', '/api/me', { headers: { Authorization: `Bearer ${ada.token}` } })).body
          .code === 'token_revoked',
      'the other instance knows',
    )
    const again = await service.signIn('Ada', { id: ada.repohostId })
    t.equal((await again.get('/api/me')).status, 200)
  },
)

t.test('a page on an unknown origin can’t delete an account with the cookie', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const headers = { Cookie: `svc_token=${ada.token}`, Origin: 'https://evil.example.com' }
  const reply = await service.request('DELETE', '/api/me', { body: { confirm: 'ada' }, headers })
  t.hasStrict(reply, { status: 403, body: { code: 'csrf_rejected' } })
})

t.test('a workspace’s only admin has to appoint another one before deleting their account', async (t) => {
  const service = await reuseService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada, { name: 'Team', members: [bob] })
  const { id: alone } = await service.workspace(ada, { name: 'Alone', patterns: ['alone/*'] })
  await ada.push('alone/web', { 'ext.a': 1 })
  const rejected = await deleteMe(ada)
  t.hasStrict(rejected, { status: 409, body: { code: 'last_admin' } })
  t.strictSame(rejected.body.workspaces, [{ id, name: 'Team' }])
  t.equal((await ada.get('/api/settings/alone/web')).status, 200, 'nothing is gone')
  await ada.patch(`${team}/${id}/members`, { login: 'bob', role: 'admin' })
  t.equal((await deleteMe(ada)).status, 200)
  await service.app.housekeeping.run()
  const left = await service.database.read.statement('select id from workspaces where id = $1::uuid', [alone])
  t.same(left, [])
  hasProperties(t, (await bob.get(`${team}/${id}/members`)).body.members, [{ login: 'bob' }])
  const [entry] = (await bob.get(`${team}/${id}/audit`)).body.entries
  t.hasStrict(entry, { actor: 'deleted user', action: 'member.left', target: 'deleted user' })
})

t.test('of two admins who delete their accounts concurrently, the last one stays', async (t) => {
  const { ada, bob, id } = await startTeam(t, 'bob', 'cyd')
  await ada.patch(`${team}/${id}/members`, { login: 'bob', role: 'admin' })
  const replies = await Promise.all([deleteMe(ada), deleteMe(bob)])
  t.same(replies.map(({ status }) => status).sort(), [200, 409])
})

t.test('an account with a subscription can’t be deleted, and deletion leaves no billing data', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const sql = service.database.write
  await sql.statement(`insert into billing_customers (id, user_id) values ('cus_1', $1::uuid)`, [
    await idOf(ada),
  ])
  for (const status of ['trialing', 'active', 'past_due']) {
    await sql.statement(
      `insert into subscriptions (id, customer_id, status, event_created, event_rank) values ('sub_1', 'cus_1', $1::text, 1, 1)
       on conflict (id) do update set status = excluded.status`,
      [status],
    )
    t.hasStrict(await deleteMe(ada), { status: 409, body: { code: 'subscription_active' } }, status)
  }
  await sql.statement(`update subscriptions set status = 'canceled'`, [])
  t.equal((await deleteMe(ada)).status, 200)
  const left = await sql.statement(
    'select id from billing_customers union all select id from subscriptions',
    [],
  )
  t.same(left, [])
})

/** A team in which every table about people has data of the canary. */
const startWithCanary = async (t: Test) => {
  const service = await reuseService(t)
  const [bob, cyd] = await service.signInAll('bob', 'cyd')
  const canary = await service.signIn('Canary-zq7')
  const userId = await idOf(canary)
  const today = await readToday(service.database)
  const [early, late, race] = [addDays(today, -9), addDays(today, -8), addDays(today, -1)]
  const { id, code } = await service.workspace(bob, { members: [canary, cyd] })
  const { id: other } = await service.workspace(cyd, { name: 'Other', members: [canary] })

  // Fills every table about people.
  await bob.patch(`${team}/${id}/members`, { login: canary.login, role: 'admin' })
  await canary.push('acme/api', { 'ext.a': 1 })
  await canary.push('acme/api', { 'ext.a': 2 })
  await canary.push(`${canary.login}/dotfiles`, { 'ext.a': 1 })
  await canary.put(`${team}/${id}/project-settings/acme/api`, { settings: { 'ext.b': 1 } })
  await canary.put(`${team}/${id}/project-settings/acme/api`, { settings: { 'ext.b': 2 } })
  const invite = await canary.post(`${team}/${id}/invites`)
  const key = { name: 'editor', scopes: ['settings:read'] }
  await canary.post('/api/me/keys', key)
  await canary.post(`${team}/${id}/keys`, key)
  await canary.post(`${team}/${id}/webhook`)
  await canary.post('/api/events', { event: 'opened', source: 'extension' })
  await service.app.milestones.flush()
  const zone = { timezone: 'Pacific/Chatham', flush_id: 'one' }
  await flush(canary, [{ repo: 'acme/api', day: early, minutes: 50, hours: { 9: 50 } }], zone)
  await flush(canary, [{ repo: 'acme/web', day: late, minutes: 20 }])
  await flush(cyd, [{ repo: 'acme/api', day: early, minutes: 7, hours: { 10: 7 } }])
  for (const kind of ['commits', 'closed-issues']) {
    const members = [{ login: canary.login, repos: [{ repo: 'acme/api', count: 9_000 }] }]
    await bob.post(`/api/team/${kind}`, { workspace: id, day: early, members })
  }
  await dashboard(canary, id)
  await dashboard(bob, id, `&member=${canary.login}`)
  await cyd.delete(`${team}/${other}/members?login=${canary.login}`)
  // An entry from before entries named people by id.
  await service.database.write.statement(
    `insert into audit_entries (workspace_id, id, actor, action, target, details) values
    ($1::uuid, gen_random_uuid(), 'CANARY-zq7', 'member.left', 'canary-zq7', '{}'),
    ($1::uuid, gen_random_uuid(), 'bob', 'member.role_changed', 'Canary-zq7', '{}'),
    ($2::uuid, gen_random_uuid(), 'cyd', 'member.removed', 'canary-zq7', '{"names": ["Canary-zq7"]}')`,
    [id, other],
  )
  await canary.put('/api/me/recording', { paused: false, repos_off: ['acme/secret'], hours: null })
  const beat = { time: Date.parse(early) / 1_000, project: 'canary-zq7-folder' }
  await canary.post('/api/wakatime/v1/users/current/heartbeats.bulk', [beat])
  const agentBeat = { ...beat, time: beat.time + 1_200, project: 'acme/api', category: 'ai coding' }
  await canary.post('/api/wakatime/v1/users/current/heartbeats.bulk', [agentBeat])
  await canary.post('/api/wakatime/v1/users/current/import', [{ ...beat, project: 'acme/api' }])
  await service.app.jobs.imports.run()
  await service.database.write.statement(
    `insert into organizations values ($1::uuid, 9919, 'acme', 'member', 'remove', $2::uuid, now())`,
    [id, userId],
  )
  // Minutes on the day on which someone joins through a link don't count.
  await service.database.write.statement(
    `update members set joined_at = now() - interval '40 days' where workspace_id = $1::uuid and user_id = $2::uuid`,
    [id, userId],
  )
  await service.database.write.statement(
    `insert into import_days (user_id, day, projects, marks)
     values ($1::uuid, '2025-01-01', '{canary-zq7}', array[repeat('1', 1440)::bit(1440)])`,
    [userId],
  )
  await service.app.jobs.rollups.run()
  await makeRows(service, userId, id)
  return { service, bob, cyd, canary, userId, today, early, late, race, id, code, invite }
}
type Scene = Awaited<ReturnType<typeof startWithCanary>>

const expectUnnamed = async (t: Test, { bob, id }: Scene) => {
  const paths = [
    `${team}/${id}/members`,
    `${team}/${id}/invites`,
    `${team}/${id}/audit?limit=500`,
    `${team}/${id}/project-settings`,
    '/api/settings/acme/api',
    '/api/settings/acme/api/versions',
    '/api/me/views',
    '/api/me/export',
    `/api/team/dashboard?workspace=${id}`,
    `/api/team/dashboard?workspace=${id}&format=csv`,
  ]
  for (const path of paths) {
    const { status, text } = await bob.get(path)
    t.equal(status, 200, path)
    t.notMatch(text, /canary/i, path)
  }
  t.match(await bob.get(`/api/team/dashboard?workspace=${id}&member=canary-zq7`), { status: 404 })
  t.match(await bob.get(`/api/team/dashboard?workspace=${id}&member=deleted%20user`), { status: 404 })
  const { audit } = JSON.parse((await bob.get('/api/me/export')).text)
  t.ok(audit.length > 0)
}

/** Deletes the canary's account while others write, and so does the canary as long as the token is good. */
const eraseWhileWriting = async (t: Test, scene: Scene) => {
  const { service, bob, cyd, canary, id, race } = scene
  let minutes = 0
  let isOver = false
  const failures: Reply[] = []
  const keepWriting = async (write: (turn: number) => Promise<Reply>, counts = 0) => {
    for (let turn = 0, rest = 3; rest > 0 && turn < 500; turn++) {
      const reply = await write(turn)
      if (reply.status === 200) minutes += counts
      if (reply.status >= 500) failures.push(reply)
      if (isOver) rest--
    }
  }
  const entry = { repo: 'acme/race', day: race, minutes: 1 }
  const writers = [
    keepWriting(() => flush(canary, [entry], { timezone: 'UTC' }), 1),
    keepWriting((turn) => flush(canary, [entry], { flush_id: `race-${turn}` }), 1),
    keepWriting((turn) => canary.push('acme/api', { 'ext.a': 3 + turn })),
    keepWriting(() => canary.push(`${canary.login}/more`, { 'ext.a': 1 })),
    keepWriting((turn) => canary.post('/api/events', { event: `event-${turn}`, source: 'extension' })),
    keepWriting(() => flush(cyd, [{ ...entry, repo: 'acme/cyd' }])),
    keepWriting((turn) => {
      const members = [{ login: canary.login, repos: [{ repo: 'acme/race', count: turn }] }]
      return bob.post('/api/team/commits', { workspace: id, day: race, members })
    }),
  ]
  await until(() => minutes >= 5, 'the canary writes')
  const ended = await deleteMe(canary)
  const logged = service.logs.length
  t.equal(ended.status, 200, ended.text)
  await expectUnnamed(t, scene)
  isOver = true
  await Promise.all(writers)
  t.same(failures, [])
  await finishErasures(service)
  return { acceptedMinutes: minutes, logsSince: service.logs.slice(logged) }
}

t.test('an export includes data from every table that names the person', async (t) => {
  const { service, canary, userId } = await startWithCanary(t)
  t.same(await columnsWithout(service, userId), EMPTY)
  const exported = JSON.parse((await canary.get('/api/me/export')).text)
  const isEmpty = (name: string) => ['[]', 'null', '{}'].includes(JSON.stringify(exported[name] ?? null))
  const members = peopleColumns().flatMap(({ export: name }) => (typeof name === 'string' ? [name] : []))
  t.same(members.filter(isEmpty), ['signed_out'], 'every member that a rule names has something')
})

t.test('no answer, row or log line names an erased person, even with concurrent writes', async (t) => {
  const scene = await startWithCanary(t)
  const { service, userId } = scene
  const { logsSince } = await eraseWhileWriting(t, scene)
  await expectUnnamed(t, scene)
  for (const { table, row } of await dump(service)) {
    t.notMatch(row, /canary/i, table)
    // The service remembers ended sessions until they would have expired.
    if (table !== 'revocations') t.notOk(row.includes(userId), `${table}: ${row}`)
  }
  for (const line of logsSince) t.notMatch(line, /canary/i)
})

t.test('erasing a person doesn’t change team totals, which include every accepted minute', async (t) => {
  const scene = await startWithCanary(t)
  const { service, bob, id, today, early, late, race } = scene
  const before = await dashboard(bob, id)
  t.match(before.totals, { active_minutes: 77, commits: 9_000, active_members: 2 })
  const { acceptedMinutes } = await eraseWhileWriting(t, scene)

  await service.app.jobs.rollups.run()
  const after = await dashboard(bob, id)
  const sums = ({ active_minutes, commits, closed_issues }: Record<string, number>) => ({
    active_minutes,
    commits,
    closed_issues,
  })
  const racing = ['acme/race', 'acme/cyd']
  for (const [index, day] of after.daily.entries()) {
    if (day.day !== race) t.same(sums(day), sums(before.daily[index]), day.day)
  }
  const repos = after.repos.filter(({ repo }: { repo: string }) => !racing.includes(repo))
  t.same(
    repos.map((row: { repo: string }) => ({ repo: row.repo, ...sums(row as never) })),
    before.repos.map((row: { repo: string }) => ({ repo: row.repo, ...sums(row as never) })),
  )
  t.match(
    after.repos.find(({ repo }: { repo: string }) => repo === 'acme/race'),
    { active_minutes: acceptedMinutes, members: 0 },
    'every accepted minute counts',
  )
  hasProperties(
    t,
    repos.map(({ repo, members }: Record<string, unknown>) => [repo, members]),
    [
      ['acme/api', 1],
      ['acme/web', 0],
    ],
    'deleted users count in sums, without a name',
  )
  t.equal(after.totals.active_members, 1)
  t.hasStrict(after.members.at(-1), {
    login: null,
    role: null,
    avatar_url: '',
    active_minutes: 70 + acceptedMinutes,
    active_days: 0,
    last_active_day: null,
  })
  t.equal(after.daily.find(({ day }: { day: string }) => day === late).active_members, 0)
  const hours = await service.database.read.statement(
    'select coalesce(sum(h), 0)::int as minutes from daily_activity a, unnest(a.hours) h where a.workspace_id = $1::uuid',
    [id],
  )
  t.same(hours, [{ minutes: 7 }], 'hours are gone')
  const { text: csv } = await bob.get(`/api/team/dashboard?workspace=${id}&format=csv`)
  t.ok(csv.includes(`\n${early},deleted user,50,9000,9000\n`), csv)

  const first = monthOf(early)
  const last = addDays(first, lengthOfMonth(first) - 1)
  const readRepos = async () => {
    const responses = []
    for (const repo of ['acme/api', 'acme/web', 'acme/race']) {
      const query = `&repo=${repo}&from=${first}&to=${last < today ? last : today}`
      const { generated_at: _, ...response } = await dashboard(bob, id, query)
      responses.push(response)
    }
    return responses
  }
  const ofRepos = await readRepos()
  hasProperties(
    t,
    ofRepos[0].members.map(({ login, active_minutes, commits }: Record<string, unknown>) => [
      login,
      active_minutes,
      commits,
    ]),
    [
      ['cyd', 7, 0],
      [null, 50, 9_000],
    ],
    'of a repository as well',
  )
  await markAllDaysStale(service)
  const { generated_at: _, ...raw } = await dashboard(bob, id)
  const { generated_at: __, ...rolledUp } = after
  t.same(raw, rolledUp, 'the rollups say what the activity says')
  t.strictSame(await readRepos(), ofRepos, 'the rollups of repositories say what the activity says')
})

t.test(
  'an erased person’s settings stay, their invites end, and the next holder of the login is someone else',
  async (t) => {
    const scene = await startWithCanary(t)
    const { service, bob, cyd, canary, userId, race, code, invite } = scene
    await eraseWhileWriting(t, scene)

    t.hasStrict((await bob.get('/api/settings/acme/api')).body, { updated_by: 'deleted user' })
    t.match(await cyd.post(`${team}/join`, { code: invite.body.code }), { status: 200 })
    const eve = await service.signIn('eve')
    t.hasStrict(await eve.post(`${team}/join`, { code: invite.body.code }), {
      status: 410,
      body: { code: 'invite_revoked' },
    })

    // The next holder of the login is another person.
    const again = await service.signIn(canary.login, { id: canary.repohostId })
    t.not(await idOf(again), userId)
    t.same((await again.get('/api/team/me')).body.workspaces, [])
    t.equal((await again.post(`${team}/join`, { code })).status, 200)
    t.equal((await again.get('/api/settings/Canary-zq7/dotfiles')).status, 404)
    t.same((await again.get(`/api/team/active-minutes?day=${race}`)).body.workspaces[0].minutes, 0)
  },
)

t.test('activity of several deleted users in one repository adds up', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const today = await readToday(service.database)
  const gone = await Promise.all(['a1', 'a2', 'a3', 'a4'].map((login) => service.signIn(login)))
  const { id } = await service.workspace(ada, { members: gone })
  const members = gone.map(({ login }) => ({ login, repos: [{ repo: 'acme/api', count: 10_000 }] }))
  await ada.post('/api/team/commits', { workspace: id, day: today, members })
  for (const caller of gone) {
    await flush(caller, [{ repo: 'acme/api', day: today, minutes: 1_440 }])
    t.equal((await deleteMe(caller)).status, 200)
  }
  await finishErasures(service)
  const found = await dashboard(ada, id)
  t.match(found.totals, { active_minutes: 4 * 1_440, commits: 40_000, active_members: 0 })
  t.match(found.members.at(-1), { login: null, active_minutes: 4 * 1_440 })
  const rows = await service.database.read.statement(
    'select from daily_activity where workspace_id = $1::uuid and user_id = $2::uuid',
    [id, DELETED_USER],
  )
  t.equal(rows.length, 1)
})

t.test('another instance continues an erasure after a shutdown', async (t) => {
  const { service, ada, bob, id } = await startTeam(t, 'bob')
  const userId = await idOf(bob)
  await service.database.write.statement(
    'insert into activity_people (workspace_id, user_id) values ($1::uuid, $2::uuid)',
    [id, userId],
  )
  // More than two steps, over two months.
  await service.database.write.statement(
    `insert into daily_activity (workspace_id, user_id, day, repo_key, minutes)
     select $1::uuid, $2::uuid, '2026-01-20'::date + d, 'acme/' || r, 1 from generate_series(1, 30) d, generate_series(1, 200) r`,
    [id, userId],
  )
  await markAllDaysStale(service)
  await service.app.jobs.rollups.run()
  t.equal((await deleteMe(bob)).status, 200)
  const stopped = new AbortController()
  let steps = 0
  const database = {
    ...service.database,
    transaction: ((work, options) => {
      if (++steps === 2) stopped.abort()
      return service.database.transaction(work as never, options)
    }) as typeof service.database.transaction,
  }
  await eraseAccounts(database, stopped.signal)
  t.equal(steps, 2)
  const range = '&from=2026-01-20&to=2026-02-28'
  t.equal((await dashboard(ada, id, range)).totals.active_minutes, 6_000, 'half way')
  await finishErasures(service)
  const done = await dashboard(ada, id, range)
  t.match(done.totals, { active_minutes: 6_000, active_members: 0 })
  t.strictSame(
    (await dump(service)).filter(({ table, row }) => table !== 'revocations' && row.includes(userId)),
    [],
  )
})

t.test('a small account is erased while a large one is still being erased', async (t) => {
  const { service, large, small, id } = await startTeam(t, 'large', 'small')
  const day = await readToday(service.database)
  await flush(small, [{ repo: 'acme/api', day, minutes: 5 }])
  const [largeId, smallId] = [await idOf(large), await idOf(small)]
  await addActivity(service, id, largeId, 14_000)
  t.equal((await deleteMe(large)).status, 200)

  /** Whether each workspace has activity, after each step. */
  const history: { large: boolean; small: boolean }[] = []
  const { transaction } = service.database
  const rowsOf = (userId: string) =>
    service.database.read.statement('select from daily_activity where user_id = $1::uuid limit 1', [userId])
  const database = {
    ...service.database,
    transaction: (async (work, options) => {
      const result = await transaction(work as never, options)
      if (history.length === 2) t.equal((await deleteMe(small)).status, 200)
      const [ofLarge, ofSmall] = [await rowsOf(largeId), await rowsOf(smallId)]
      history.push({ large: ofLarge.length > 0, small: ofSmall.length > 0 })
      return result
    }) as typeof transaction,
  }
  // If the service's own run is under way, this one does nothing.
  await until(async () => {
    await eraseAccounts(database)
    return (await rowsOf(largeId)).length === 0
  }, 'both are erased')
  t.same(history[2], { large: true, small: true }, 'the small workspace comes later')
  t.ok(
    history.some((left) => left.large && !left.small),
    'and is done first',
  )
  t.same(history.at(-1), { large: false, small: false })
})

t.test('an account that can’t be erased is logged, and the others are erased', async (t) => {
  const service = await reuseService(t)
  const [bob, cyd] = await service.signInAll('bob', 'cyd')
  const [bobs, cyds] = [await idOf(bob), await idOf(cyd)]
  const day = await readToday(service.database)
  const { statement } = service.database.write
  // As if the developer had forgotten this table.
  await statement('create table notes (author uuid references users)', [])
  await statement('insert into notes values ($1::uuid)', [bobs])
  for (const caller of [bob, cyd]) {
    await service.workspace(caller)
    await flush(caller, [{ repo: 'acme/api', day, minutes: 5 }], { flush_id: 'one' })
    t.equal((await deleteMe(caller)).status, 200)
  }
  await statement(`update erasures set started_at = '2026-01-01'::timestamptz`, [])
  // If the service's own run is under way, this one does nothing.
  const failure = () =>
    service.app.jobs.erasures.run().then(
      () => undefined,
      ({ message }: Error) => message,
    )
  t.equal(await until(failure, 'it fails'), `These failed: ${bobs}`)
  const left = () => service.database.read.statement('select user_id as id from erasures', [])
  t.same(await left(), [{ id: bobs }])
  t.notOk((await dump(service)).some(({ table, row }) => table !== 'revocations' && row.includes(cyds)))
  const isLogged = () =>
    service.logs.some((line) => line.includes('the erasure of accounts failed') && line.includes(bobs))
  // It waits for a minute, and then for longer.
  await statement('update attempts set next_at = now()', [])
  await until(isLogged, 'the next run logs it')
  await statement('drop table notes', [])
  await statement('update attempts set next_at = now()', [])
  await finishErasures(service)
  t.same(await left(), [])
})

t.test('an export contains everything about the caller and nothing about anyone else', async (t) => {
  const service = await reuseService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob-canary')
  const today = await readToday(service.database)
  const { id } = await service.workspace(bob, { members: [ada] })
  await bob.patch(`${team}/${id}/members`, { login: 'ada', role: 'admin' })
  await bob.push('acme/of-bob', { 'ext.a': 'canary' })
  await flush(bob, [{ repo: 'acme/of-bob', day: today, minutes: 5 }])
  await ada.patch(`${team}/${id}/members`, { login: 'bob-canary', role: 'member' })
  await ada.patch(`${team}/${id}/members`, { login: 'bob-canary', role: 'admin' })
  await ada.push('ada/dotfiles', { 'ext.b': 1, 'ext.a': 1 })
  await ada.push('ada/dotfiles', { 'ext.b': 2, 'ext.a': 1 })
  await ada.push('acme/api', { 'ext.a': 1 })
  await ada.put(`${team}/${id}/project-settings/acme/api`, { settings: {} })
  const invite = await ada.post(`${team}/${id}/invites`)
  await flush(
    ada,
    [
      { repo: 'acme/Api', day: today, minutes: 9, hours: { 0: 9 } },
      { repo: 'acme/web', day: addDays(today, -1), minutes: 3 },
    ],
    { flush_id: 'f1', timezone: 'Europe/Berlin' },
  )
  await dashboard(bob, id)
  await dashboard(ada, id)
  await ada.post('/api/events', { event: 'opened', source: 'extension' })
  const reply = await ada.get('/api/me/export')
  t.equal(reply.status, 200)
  t.match(reply.headers.get('content-disposition'), /^attachment; filename="ada_\d{4}-\d{2}-\d{2}\.json"$/)
  t.match(reply.headers.get('content-type'), /^application\/json/)
  const found = reply.body
  t.hasStrict(found.profile, {
    id: await idOf(ada),
    login: 'ada',
    repohost_id: ada.repohostId,
    timezone: 'Europe/Berlin',
  })
  hasProperties(t, found.memberships, [{ workspace: { id, name: 'Acme' }, role: 'admin' }, { role: 'admin' }])
  hasProperties(t, found.personal_workspace, { name: 'ada', patterns: ['ada/*'], settings: {} })
  hasProperties(
    t,
    found.personal_settings.map(({ repo, version, settings }: Record<string, unknown>) => [
      repo,
      version,
      JSON.stringify(settings),
    ]),
    [
      ['dotfiles', 1, '{"ext.b":1,"ext.a":1}'],
      ['dotfiles', 2, '{"ext.b":2,"ext.a":1}'],
    ],
  )
  hasProperties(t, found.settings_written, [
    { repo: 'api', workspace_id: id },
    { repo: 'dotfiles' },
    { version: 2 },
  ])
  hasProperties(t, found.overrides_written, [{ owner: 'acme', repo: 'api' }])
  hasProperties(t, found.invites, [{ id: invite.body.id, role: 'member' }])
  t.notMatch(reply.text, invite.body.code)
  hasProperties(t, found.activity, [
    { workspace_id: id, day: addDays(today, -1), repo: 'acme/web', minutes: 3 },
    { workspace_id: id, day: today, repo: 'acme/Api', minutes: 9, commits: 0 },
  ])
  t.equal(found.activity[1].hours[1], 9, 'an hour later in Berlin')
  hasProperties(t, found.flushes, [{ flush_id: 'f1', answer: { accepted: 2 } }])
  t.ok(found.funnel.some(({ event }: { event: string }) => event === 'opened'))
  t.hasStrict(found.funnel_days[0], { day: today })
  hasProperties(t, found.views_of_others, [{ workspace_id: id, day: today }])
  const actions = found.audit.map(({ action, actor, target }: Record<string, string | null>) => [
    action,
    actor,
    target,
  ])
  t.ok(
    actions.some(
      ([action, actor, target]: string[]) => action === 'member.role_changed' && !actor && target === 'ada',
    ),
  )
  t.ok(
    actions.some(
      ([action, actor, target]: string[]) => action === 'member.role_changed' && actor === 'ada' && !target,
    ),
  )
  t.ok(actions.some(([action]: string[]) => action === 'settings.pushed'))
  // The caller learns who viewed their numbers.
  const { views, ...rest } = found
  hasProperties(t, views, [
    { viewer: 'bob-canary', workspace: { id }, kind: 'dashboard' },
    { viewer: 'bob-canary', workspace: { id }, kind: 'comparison' },
  ])
  t.notMatch(JSON.stringify(rest), /canary|of-bob/i)
})

t.test('a person can run one export at a time, and a failed export isn’t a complete file', async (t) => {
  const { service, ada, id } = await startTeam(t)
  await addActivity(service, id, await idOf(ada), 5_000)
  const begin = () =>
    fetch(`${service.url}/api/me/export`, { headers: { Authorization: `Bearer ${ada.token}` } })

  // It is read after the activity.
  await whileHeld(service, ['lock table audit_entries'], async () => {
    const slow = await begin()
    t.equal(slow.status, 200)
    const second = await ada.get('/api/me/export')
    t.hasStrict(second, { status: 429, body: { code: 'rate_limited' } })
    t.ok(Number(second.headers.get('retry-after')) > 0)
    await slow.body?.cancel()
  })
  await until(async () => (await ada.get('/api/me/export')).status === 200, 'it is given up')

  await service.database.write.statement('alter table audit_entries rename to hidden_entries', [])
  // The previous request may give up its turn a moment after its response.
  const broken = await until(async () => {
    const reply = await begin()
    return reply.status === 200 && reply
  }, 'the next one begins')
  await t.rejects(broken.text(), 'the connection ends')
  await service.database.write.statement('alter table hidden_entries rename to audit_entries', [])
  const whole = await until(async () => {
    const reply = await ada.get('/api/me/export')
    return reply.status === 200 && reply
  }, 'the failed one is given up')
  t.equal(whole.body.activity.length, 5_000)
  const rows = new Set(whole.body.activity.map((row: object) => JSON.stringify(row)))
  t.equal(rows.size, 5_000, 'each once')
})

t.test('a caller who disconnects before the first chunk can export again', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  // The profile is read before the pieces.
  for (const table of ['subscriptions', 'recordings']) {
    await whileHeld(service, [`lock table ${table}`], async () => {
      const hangsUp = new AbortController()
      const begun = fetch(`${service.url}/api/me/export`, {
        headers: { Authorization: `Bearer ${ada.token}` },
        signal: hangsUp.signal,
      })
      await lockWaiters(service)
      hangsUp.abort()
      await t.rejects(begun)
    })
    await until(async () => (await countLockWaiters(service)) === 0, 'it goes on')
    await until(async () => (await ada.get('/api/me/export')).status === 200, 'it is given up')
  }
})

t.test('rate limits carry over to the same person’s new account', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'on' } })
  const startAnew = async (caller: Caller) => {
    t.equal((await deleteMe(caller)).status, 200)
    return service.signIn(caller.login, { id: caller.repohostId })
  }
  const remaining = async (caller: Caller) =>
    Number((await caller.get('/api/me')).headers.get('ratelimit-remaining'))

  let ada = await service.signIn('ada')
  const before = await remaining(ada)
  ada = await startAnew(ada)
  t.equal(await remaining(ada), before - 2, 'requests of a minute')

  for (let n = 0; n < 10; n++) t.equal((await ada.get('/api/team/invites/GUESS')).status, 404)
  ada = await startAnew(ada)
  t.equal((await ada.get('/api/team/invites/GUESS')).status, 429, 'invites that are tried')

  for (let n = 0; n < 10; n++) t.equal((await ada.get('/api/me/export')).status, 200)
  t.hasStrict(await ada.get('/api/me/export'), { status: 429, body: { code: 'rate_limited' } })
  ada = await startAnew(ada)
  t.equal((await ada.get('/api/me/export')).status, 429, 'exports of an hour')

  for (let n = 0; n < 30; n++)
    t.equal((await ada.push('ada/a', {}, { 'X-Repohost-Token': 'wrong' })).status, 401)
  ada = await startAnew(ada)
  t.equal((await ada.push('ada/a', {})).status, 429, 'host tokens that the host rejected')

  const bob = await service.signIn('bob')
  t.equal((await bob.get('/api/team/invites/GUESS')).status, 404, 'others are not concerned')
})

t.test('requests in progress on the old account count towards the new one’s limits', async (t) => {
  // Enough connections for all requests at once.
  const service = await startService(t, { env: { RATE_LIMITS: 'on', DATABASE_POOL_SIZE: '16' } })
  const before = await service.signIn('ada')
  let rest: Promise<Reply[]> = Promise.resolve([])
  await whileHeld(service, ['lock table patterns'], async () => {
    const old = Array.from({ length: 3 }, () => before.get('/api/team/me'))
    await lockWaiters(service, 3)
    t.equal((await deleteMe(before)).status, 200)
    const ada = await service.signIn('ada', { id: before.repohostId })
    const further = Array.from({ length: 4 }, () => ada.get('/api/team/me'))
    await lockWaiters(service, 4)
    await sleep(300)
    t.equal(await countLockWaiters(service), 4, 'four at a time for both together')
    rest = Promise.all([...old, ...further])
  })
  await rest
})

t.test('people can see who has viewed their individual numbers', async (t) => {
  const service = await reuseService(t)
  const beside = await startService(t, { beside: service })
  const [ada, bob, cyd, dan] = await service.signInAll('ada', 'bob', 'cyd', 'dan')
  const today = await readToday(service.database)
  const { id } = await service.workspace(ada, { members: [bob, cyd, dan] })
  const ago = (days: number) => addDays(today, -days)
  await flush(bob, [{ repo: 'acme/api', day: ago(10), minutes: 5 }])
  await flush(dan, [{ repo: 'acme/web', day: ago(20), minutes: 5 }])
  await dan.post(`${team}/${id}/leave`)
  const viewsOf = async (caller: Caller) => (await caller.get('/api/me/views')).body.views
  t.same(await viewsOf(bob), [])

  await dashboard(ada, id, `&member=bob&from=${ago(10)}&to=${ago(9)}`)
  const look = { viewer: 'ada', workspace: { id, name: 'Acme' }, day: today }
  const before = { ...look, range: { from: ago(12), to: ago(11) }, kind: 'comparison' }
  const seenFirst = [{ ...look, range: { from: ago(10), to: ago(9) }, kind: 'dashboard' }, before]
  t.strictSame(await viewsOf(bob), seenFirst, 'with the days of `previous_totals`')
  t.same(await viewsOf(cyd), [], 'it didn’t show others')

  await dashboard(ada, id, `&repo=acme/API&from=${ago(12)}&to=${ago(11)}`)
  t.strictSame(await viewsOf(bob), seenFirst, 'nor people who did nothing there')
  t.same(await viewsOf(cyd), [])

  await ada.get(`/api/team/dashboard?workspace=${id}&format=csv&from=${ago(14)}&to=${ago(8)}`)
  const seen = { ...look, range: { from: ago(10), to: ago(9) }, kind: 'dashboard' }
  const file = { ...look, range: { from: ago(14), to: ago(8) }, kind: 'csv' }
  t.strictSame(await viewsOf(bob), [seen, file, before], 'a download is a view of its own')
  t.strictSame(await viewsOf(cyd), [file], 'every member is listed')
  t.same(await viewsOf(dan), [], 'people who left are listed only where they had activity')
  await dashboard(ada, id, `&from=${ago(21)}&to=${ago(19)}`)
  t.strictSame(await viewsOf(dan), [{ ...look, range: { from: ago(21), to: ago(19) }, kind: 'dashboard' }])

  await dashboard(ada, id, `&member=bob&from=${ago(30)}&to=${ago(25)}`)
  await dashboard(ada, id, `&member=bob&from=${ago(26)}&to=${ago(22)}`)
  await dashboard(ada, id, `&member=bob&from=${ago(40)}&to=${ago(31)}&comparison=true`)
  const merged = { ...seen, range: { from: ago(30), to: ago(19) } }
  const compared = [
    { ...look, range: { from: ago(24), to: ago(22) }, kind: 'comparison' },
    { ...look, range: { from: ago(50), to: ago(27) }, kind: 'comparison' },
  ]
  t.strictSame(await viewsOf(bob), [seen, merged, file, before, ...compared], 'adjacent ranges are merged')
  const paged = []
  for (let cursor = ''; paged.length < 9; ) {
    const { body } = await bob.get(`/api/me/views?limit=1${cursor}`)
    paged.push(...body.views)
    if (body.next_cursor === null) break
    cursor = `&cursor=${body.next_cursor}`
  }
  t.strictSame(paged, [seen, merged, file, before, ...compared], 'page by page')
  await service.database.write.statement(
    `update dashboard_views set viewed = '{}', compared = '{}', downloaded = '{}' where member_id = $1::uuid`,
    [await idOf(bob)],
  )
  t.strictSame(
    (await viewsOf(bob))[0],
    { ...look, range: { from: ago(50), to: ago(9) }, kind: 'dashboard' },
    'a view of an earlier version has one range',
  )
  t.same(await viewsOf(ada), [], 'no one’s own views are listed')

  await ada.patch(`${team}/${id}/members`, { login: 'cyd', role: 'admin' })
  await cyd.request('GET', `/api/team/dashboard?workspace=${id}&member=cyd`)
  t.equal((await viewsOf(cyd)).length, 3, 'viewing your own numbers doesn’t count')
  await dashboard(cyd, id)
  await service.database.write.statement(
    'update dashboard_views set day = day - 1 where viewer_id = $1::uuid',
    [await idOf(cyd)],
  )
  const viewers = async () => (await viewsOf(bob)).map(({ viewer }: { viewer: string }) => viewer)
  t.strictSame(await viewers(), ['ada', 'ada', 'ada', 'ada', 'cyd'])
  const first = await bob.get('/api/me/views?limit=4')
  const next = await bob.get(`/api/me/views?limit=1&cursor=${first.body.next_cursor}`)
  hasProperties(t, next.body, { views: [{ viewer: 'cyd', day: ago(1) }], next_cursor: null })
  t.equal((await bob.get('/api/me/views?cursor=x')).status, 400)

  t.equal((await deleteMe(cyd)).status, 200)
  await finishErasures(service)
  t.strictSame(await viewers(), ['ada', 'ada', 'ada', 'ada', 'deleted user'])

  await service.database.write.statement('update dashboard_views set day = day - 400', [])
  await beside.app.housekeeping.run()
  t.strictSame(
    (await viewsOf(bob)).map(({ day, viewer }: Record<string, string>) => [day, viewer]),
    [
      [ago(400), 'ada'],
      [ago(400), 'ada'],
    ],
    'kept for 400 days; before bob joined, only ranges with activity show him',
  )
})

t.test('up to 400 ranges that an admin viewed in a day are listed, then merged into one', async (t) => {
  const service = await reuseService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const today = await readToday(service.database)
  const { id } = await service.workspace(ada, { members: [bob] })
  await flush(bob, [{ repo: 'acme/api', day: today, minutes: 5 }])
  const days = Array.from({ length: 401 }, (_, index) => addDays(today, -2 * index))
  const view = (day = today) => dashboard(ada, id, `&member=bob&from=${day}&to=${day}`)
  await view()
  // As if all but the last two had been viewed as well.
  await service.database.write.statement(
    `update dashboard_views set
         viewed = (select range_agg(daterange(day, day + 1)) from unnest($1::date[]) day),
         compared = (select range_agg(daterange(day - 1, day)) from unnest($1::date[]) day)`,
    [days.slice(0, 399)],
  )
  const ranges = async (kind = 'dashboard'): Promise<unknown[]> => {
    const { body } = await bob.get('/api/me/views?limit=500')
    const views: { kind: string; range: unknown }[] = body.views
    return views.filter((one) => one.kind === kind).map(({ range }) => range)
  }
  await view(days[399])
  t.equal((await ranges()).length, 400)
  await view(days[400])
  t.strictSame(await ranges(), [{ from: days[400], to: today }])
  t.strictSame(await ranges('comparison'), [
    { from: addDays(days[400] ?? today, -1), to: addDays(today, -1) },
  ])
})

t.test(
  'viewing any mix of filters records at most one row per person and repository with activity',
  async (t) => {
    const { service, ada, bob, id } = await startTeam(t, 'bob')
    const today = await readToday(service.database)
    await flush(bob, [{ repo: 'acme/api', day: today, minutes: 5 }])
    const countViews = async () => {
      const text = 'select count(*)::int as looks from dashboard_views where workspace_id = $1::uuid'
      return (await service.database.hot.statement<{ looks: number }>(text, [id]))[0]?.looks
    }
    for (const repo of ['acme/one', 'acme/two', 'other/three']) await dashboard(ada, id, `&repo=${repo}`)
    t.equal(await countViews(), 0, 'a repository without activity has no people')
    for (const repo of ['acme/one', 'acme/two', 'acme/api'])
      await dashboard(ada, id, `&member=bob&repo=${repo}`)
    t.equal(await countViews(), 1)
    hasProperties(t, (await bob.get('/api/me/views')).body.views, [
      { viewer: 'ada', kind: 'dashboard' },
      { viewer: 'ada', kind: 'comparison' },
    ])
    await dashboard(ada, id, '&repo=acme/API')
    t.equal(await countViews(), 2)
  },
)

t.test('no dashboard is shown if the view can’t be recorded, and a view takes one write', async (t) => {
  const { service, ada, id } = await startTeam(t, 'bob')
  const path = `/api/team/dashboard?workspace=${id}`
  await service.database.write.statement('alter table dashboard_views rename to hidden_views', [])
  t.equal((await ada.get(path)).status, 500)
  t.equal((await ada.get(`${path}&format=csv`)).status, 500)
  await service.database.write.statement('alter table hidden_views rename to dashboard_views', [])
  t.equal((await ada.get(path)).status, 200)
  await service.database.write.statement('alter table dashboard_views rename to hidden_views', [])
  t.equal((await ada.get(path)).status, 200, 'it is remembered')
  t.equal((await ada.get(`${path}&from=2025-01-01&to=2025-12-31`)).status, 500, 'more is not')
})
