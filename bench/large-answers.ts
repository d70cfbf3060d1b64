/**
 * The largest responses: the longest pause of the event loop, time, size and memory.
 */

import { readToday } from '../src/platform/time/clock.js'
import { addDays } from '../src/platform/time/days.js'
import {
  benchmark,
  createWorkspace,
  longestStall,
  METRICS_PORT,
  median,
  memoryOf,
  prepare,
  type Setting,
  say,
  waitForRollups,
} from './harness.js'

const ROUNDS = 5
const REPOS = 100_000
const MEMBERS = 5_000
const OWN_ROWS = 480_000
const WORKSPACES = 200

/** Runs a statement that fills tables, without the service's timeouts. */
const put = ({ database }: Setting, text: string, parameters: (string | number)[]) =>
  database.transaction(
    async (tx) => {
      await tx.statement(`set local statement_timeout = '10min'`, [])
      await tx.statement(text, parameters)
      // Without statistics, plans aren't representative.
      await tx.statement('analyze', [])
    },
    { background: true },
  )

const measure = async (
  { service }: Setting,
  name: string,
  path: string,
  token: string,
  accept = 'application/json',
) => {
  const times: number[] = []
  const stalls: number[] = []
  let bytes = 0
  for (let round = 0; round < ROUNDS; round++) {
    await longestStall()
    const begin = performance.now()
    const reply = await fetch(service.url + path, {
      headers: { Authorization: `Bearer ${token}`, Accept: accept, 'Accept-Encoding': 'identity' },
    })
    bytes = (await reply.arrayBuffer()).byteLength
    if (reply.status !== 200) throw new Error(`${name}: ${reply.status}`)
    times.push(performance.now() - begin)
    stalls.push(await longestStall())
  }
  const cells = [
    name,
    `${(bytes / 2 ** 20).toFixed(1)} MiB`,
    `${median(times).toFixed(0)} ms`,
    `${median(stalls).toFixed(0)} ms`,
    `${Math.max(...stalls).toFixed(0)} ms`,
    `${(await memoryOf(service.pid, 'VmHWM')).toFixed(0)} MiB`,
  ]
  say(`| ${cells.join(' | ')} |`)
}

await benchmark(async (cleanUp) => {
  const setting = await prepare(cleanUp, { METRICS_PORT: String(METRICS_PORT) })
  const { database, service, signIn } = setting
  const today = await readToday(database)
  const year = `from=${addDays(today, -364)}&to=${today}`
  say('| answer | size | time (median) | event loop (median) | event loop (worst) | memory so far |')
  say('|---|---|---|---|---|---|')

  const boss = await signIn('boss')
  const empty = await createWorkspace(service.url, [boss])
  await measure(setting, 'dashboard of nothing', `/api/team/dashboard?workspace=${empty}&${year}`, boss.token)

  const many = await createWorkspace(service.url, [boss])
  await put(
    setting,
    `with named as (
      insert into activity_repos select $1::text::uuid, 'acme/repository-' || n, 'acme/repository-' || n
      from generate_series(1, ${REPOS}) n
    ), counted as (
      insert into daily_activity (workspace_id, user_id, day, repo_key, commits)
      select $1::text::uuid, $2::text::uuid, $3::text::date - n % 365, 'acme/repository-' || n, 1 + n % 10
      from generate_series(1, ${REPOS}) n
    )
    insert into changed_days select $1::text::uuid, $3::text::date - n from generate_series(0, 364) n on conflict do nothing`,
    [many, boss.id, today],
  )
  const dashboard = `/api/team/dashboard?workspace=${many}&${year}`
  await measure(
    setting,
    `dashboard of ${REPOS} repositories, not rolled up`,
    `${dashboard}&member=boss`,
    boss.token,
  )
  await waitForRollups(database)
  await measure(setting, `dashboard of ${REPOS} repositories`, dashboard, boss.token)

  const team = await createWorkspace(service.url, [boss])
  await put(
    setting,
    `with people as (
      insert into users (id, repohost_id, login, login_key, avatar_url)
      select gen_random_uuid(), 500000000 + n, 'person-' || n, 'person-' || n, 'https://avatars.example.com/u/' || n
      from generate_series(1, ${MEMBERS}) n
      returning id
    ), joined as (
      insert into members (workspace_id, user_id, role) select $1::text::uuid, id, 'member' from people
    ), worked as (
      insert into daily_activity (workspace_id, user_id, day, repo_key, minutes)
      select $1::text::uuid, id, $2::text::date - d, 'acme/r' || r, 100
      from people, generate_series(0, 30) d, generate_series(1, 2) r
    )
    insert into changed_days select $1::text::uuid, $2::text::date - d from generate_series(0, 30) d on conflict do nothing`,
    [team, today],
  )
  const month = `/api/team/dashboard?workspace=${team}&from=${addDays(today, -30)}&to=${today}`
  await measure(setting, `dashboard of ${MEMBERS} members, not rolled up`, month, boss.token)
  await waitForRollups(database)
  await measure(setting, `dashboard of ${MEMBERS} members`, month, boss.token)
  await measure(setting, 'the same as CSV', month, boss.token, 'text/csv')

  const busy = await signIn('busy')
  const own = await createWorkspace(service.url, [busy])
  await put(
    setting,
    `with named as (
      insert into activity_repos select $1::text::uuid, 'acme/repository-' || n, 'acme/repository-' || n
      from generate_series(1, ${OWN_ROWS / 365}) n
    )
    insert into daily_activity (workspace_id, user_id, day, repo_key, minutes)
    select $1::text::uuid, $2::text::uuid, $3::text::date - d, 'acme/repository-' || n, 1
    from generate_series(0, 364) d, generate_series(1, ${OWN_ROWS / 365}) n`,
    [own, busy.id, today],
  )
  await measure(setting, `${OWN_ROWS} own rows of minutes`, `/api/team/active-minutes?${year}`, busy.token)
  await measure(setting, 'one day of them', `/api/team/active-minutes?from=${today}&to=${today}`, busy.token)

  await put(
    setting,
    `insert into audit_entries (workspace_id, id, actor, action, details)
    select $1::text::uuid, gen_random_uuid(), 'boss', 'patterns.replaced',
      jsonb_build_object('before', p, 'after', p)
    from generate_series(1, 600) n,
      lateral (select array_agg('acme/' || rpad(i::text, 195, md5((n * i)::text))) as p from generate_series(1, 50) i)`,
    [empty],
  )
  await measure(
    setting,
    '500 entries of 50 patterns of 200 characters',
    `/api/team/workspaces/${empty}/audit?limit=500`,
    boss.token,
  )

  const member = await signIn('member-of-many')
  await put(
    setting,
    `with made as (
      insert into workspaces (id, name, idle_window_minutes) select gen_random_uuid(), 'w' || n, 5
      from generate_series(1, ${WORKSPACES}) n returning id
    ), joined as (
      insert into members (workspace_id, user_id, role) select id, $1::text::uuid, 'admin' from made
    )
    insert into patterns (workspace_id, owner_key, repo_key, position, pattern, exact, literal_length, repo_like)
    select id, 'acme', rpad('x' || i, 195, 'x'), i, 'acme/' || rpad('x' || i, 195, 'x'), true, 200, rpad('x' || i, 195, 'x')
    from made, generate_series(1, 50) i`,
    [member.id],
  )
  await measure(setting, `${WORKSPACES} workspaces of 50 patterns`, '/api/team/me', member.token)
})
