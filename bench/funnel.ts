/**
 * The funnel over a million events (`node build/bench/funnel.js [events]`), against a plain scan of the same rows.
 */

import { startThrowAwayDatabase } from '../demo/database.js'
import { readFunnel } from '../src/features/funnel/queries.js'
import { connect, type Parameter } from '../src/platform/database/client.js'
import { migrate } from '../src/platform/database/migrate.js'
import { withAdHocSql } from '../test/ad-hoc.js'
import { medianTimes, say } from './harness.js'

const STEPS = ['signed_in', 'settings_pushed', 'workspace_created', 'workspace_joined', 'activity_flushed']
const OTHERS = ['panel_opened', 'pull_clicked', 'push_clicked', 'dashboard_opened', 'invite_copied']
const USERS = 50_000
const ROUNDS = 7

const total = Number(process.argv[2] ?? 1_000_000)
const log = { info: () => {}, warn: say, error: say }
const server = await startThrowAwayDatabase({ maxConnections: 20, durable: false, log })

try {
  await migrate(server.url)
  const database = withAdHocSql(connect({ url: server.url, poolSize: 4, prepare: true }))
  const run = (text: string, parameters: Parameter[] = []) => database.hot.statement(text, parameters)
  await run('alter table funnel_days drop constraint funnel_days_user_id_users_id_fk')
  await run('alter table funnel_users drop constraint funnel_users_user_id_users_id_fk')
  // Milestones: each user the first, half of them the next, and so on, once. The rest are the clients' events, over a year.
  let written = 0
  for (const [index, step] of STEPS.entries()) {
    const users = Math.floor(USERS / 2 ** index)
    await run(
      `insert into funnel_days (user_id, event, source, day, first_at)
       select md5(n::text)::uuid, $1, 'service', at::date, at
       from generate_series(1, $2::int) n, lateral (select now() - (400 - $3::int * 9 - n % 300) * interval '1 day' as at) moment`,
      [step, users, index],
    )
    written += users
  }
  const chunk = 50_000
  for (; written < total; written += chunk) {
    await run(
      `insert into funnel_days (user_id, event, source, day, first_at)
       select md5((n::bigint * 7919 % $3::int)::text)::uuid, ($1::text[])[1 + n % 5], (array['extension', 'dashboard'])[1 + n % 2],
         at::date, at
       from generate_series($2::int + 1, $2::int + $4::int) n, lateral (select now() - (n::bigint * 31 % 365)::int * interval '1 day' as at) moment
       on conflict (user_id, event, source, day) do update set events = funnel_days.events + 1`,
      [OTHERS, written, USERS, Math.min(chunk, total - written)],
    )
  }
  await run(
    `insert into funnel_users select user_id, event, source, min(first_at), sum(events) from funnel_days group by user_id, event, source`,
  )
  await run('analyze funnel_users')
  await run('analyze funnel_days')
  const [rows] = await database.hot.statement<{ days: string; lifetimes: string; events: string }>(
    'select (select count(*) from funnel_days) days, (select count(*) from funnel_users) lifetimes, (select sum(events) from funnel_days) events',
    [],
  )
  say(`${rows?.events} events in ${rows?.days} rows by day and ${rows?.lifetimes} of all time`)

  const today = new Date().toISOString().slice(0, 10)
  const monthAgo = new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10)
  const none = { from: undefined, to: undefined, source: undefined }
  const times = await medianTimes(ROUNDS, {
    'all time': () => readFunnel(database.read, STEPS, none),
    'all time, one source': () => readFunnel(database.read, STEPS, { ...none, source: 'extension' }),
    'the last 30 days': () => readFunnel(database.read, STEPS, { ...none, from: monthAgo, to: today }),
    'a year': () => readFunnel(database.read, STEPS, { ...none, from: '2000-01-01' }),
    'count(*) by day': () => database.hot.statement('select count(*) from funnel_days', []),
  })
  for (const [name, ms] of Object.entries(times)) {
    say(`${name.padEnd(22)} ${ms.toFixed(0).padStart(6)} ms`)
  }
  await database.close()
} finally {
  await server.stop()
}
