import type postgres from 'postgres'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { readDashboard } from '../src/features/dashboard/read-dashboard.js'
import { localHoursOf } from '../src/features/minutes/heatmap.js'
import { rebuildRollups, rollUp } from '../src/features/rollups/roll-up.js'
import { connect, type Database } from '../src/platform/database/client.js'
import { migrate } from '../src/platform/database/migrate.js'
import { resolveRange } from '../src/platform/time/days.js'
import { withAdHocSql } from './ad-hoc.js'
import { databaseOf } from './migrated.js'

const zones = [
  'Europe/Berlin',
  'Asia/Kolkata',
  'Pacific/Kiritimati',
  'Pacific/Niue',
  'America/New_York',
  null,
]
const from = '2025-10-01'
const to = '2026-04-20'

/** Activity of a dozen people as version 4 of the schema kept it. */
const putActivity = async (sql: postgres.Sql, workspace: string, other: string) => {
  await sql`select setseed(0.5)`
  await sql`insert into workspaces (id, name, idle_window_minutes) values (${workspace}, 'Acme', 5), (${other}, 'Other', 5)`
  await sql`
    insert into users (id, repohost_id, login, login_key, avatar_url, timezone)
    select gen_random_uuid(), n, 'Person-' || n, 'person-' || n, '', (${zones}::text[])[1 + n % 6]
    from generate_series(1, 12) n`
  await sql`
    insert into members (workspace_id, user_id, role)
    select ${workspace}, id, 'member' from users where repohost_id <= 9`
  await sql`insert into activity_repos select ${workspace}, 'acme/r' || n, 'Acme/R' || n from generate_series(1, 3) n`
  await sql`
    insert into activity (workspace_id, user_id, day, repo_key, minutes, commits, closed_issues, hours)
    select case when random() < 0.9 then ${workspace}::uuid else ${other}::uuid end, u.id, d::date, 'acme/r' || r,
      case when random() < 0.8 then 600 else 0 end, (random() * 3)::int, (random() * 2)::int,
      case when random() < 0.8 then set_byte(set_byte(decode(repeat('00', 24), 'hex'), (random() * 23)::int, 60),
        (random() * 23)::int, (random() * 60)::int) end
    from users u, generate_series(${from}::date, ${to}::date, interval '1 day') d, generate_series(1, 3) r
    where random() < 0.3`
  await sql`update activity set hours = null where minutes = 0`
  // Some rows count for nothing.
  await sql`update activity set minutes = 0, commits = 0, closed_issues = 0, hours = null where random() < 0.05`
}

/** Its rollups of then; what this version no longer reads is left out. */
const putRollups = async (sql: postgres.Sql) => {
  await sql`
    insert into activity_people (workspace_id, user_id, ordinal)
    select workspace_id, user_id, row_number() over (partition by workspace_id) - 1
    from (select distinct workspace_id, user_id from activity where user_id not in (select id from users limit 2)) a`
  await sql`
    insert into activity_days (workspace_id, day, minutes, commits, closed_issues, active_members, active, members)
    select workspace_id, day, sum(minutes), sum(commits), sum(closed_issues),
      count(distinct user_id) filter (where minutes > 0), '0', ''
    from activity where minutes + commits + closed_issues > 0 group by workspace_id, day`
  await sql`
    insert into activity_repo_days (workspace_id, day, repo_key, minutes, commits, closed_issues, people)
    select workspace_id, day, repo_key, sum(minutes), sum(commits), sum(closed_issues), '0'
    from activity where minutes + commits + closed_issues > 0 group by workspace_id, day, repo_key`
  await sql`
    insert into activity_repo_months (workspace_id, month, repo_key, minutes, commits, closed_issues, people)
    select workspace_id, date_trunc('month', day), repo_key, sum(minutes), sum(commits), sum(closed_issues), '0'
    from activity_repo_days group by workspace_id, date_trunc('month', day), repo_key`
  const packed = new Map<string, Buffer>()
  const rows = await sql<{ workspace_id: string; day: string; timezone: string | null; hours: Buffer }[]>`
    select a.workspace_id, a.day::text, u.timezone, a.hours
    from activity a join users u on u.id = a.user_id where a.hours is not null`
  for (const { workspace_id, day, timezone, hours } of rows) {
    const key = `${workspace_id} ${day}`
    const bytes = packed.get(key) ?? Buffer.alloc(51 * 4)
    packed.set(key, bytes)
    localHoursOf(timezone ?? 'UTC', day).forEach((local, hour) => {
      const at = (local + 12) * 4
      bytes.writeInt32BE(bytes.readInt32BE(at) + (hours[hour] ?? 0), at)
    })
  }
  for (const [key, hours] of packed) {
    const [workspace = '', day = ''] = key.split(' ')
    await sql`update activity_days set hours = ${hours} where workspace_id = ${workspace} and day = ${day}`
  }
}

/** Each with the columns that are added when it is rolled up again. */
const rollups = {
  days: ['hour_crews', 'by_repo'],
  member_days: [],
  member_months: [],
  repo_days: ['active_members', 'timezones', 'hours', 'crew_sizes', 'crews'],
  repo_months: [],
  repo_people: ['minutes', 'commits', 'closed_issues', 'active_day_bits', 'week_minutes'],
  hours: [],
}

const readRollups = async (database: Database) => {
  const texts = Object.entries(rollups).map(
    ([name, added]) =>
      `select (to_jsonb(r) - '{${added.join()}}'::text[])::text as row from activity_${name} r order by 1`,
  )
  const tables = await Promise.all(
    texts.map((text) => withAdHocSql(database).read.statement<{ row: string }>(text, [])),
  )
  return Object.fromEntries(
    Object.keys(rollups).map((name, index) => [name, tables[index]?.map(({ row }) => row) ?? []]),
  )
}

t.test('activity and its rollups become plain tables, and a dashboard stays the same', async (t) => {
  const { url, sql } = await databaseOf(t, 5)
  const [workspace, other] = [uuidv7(), uuidv7()]
  await putActivity(sql, workspace, other)
  await putRollups(sql)
  const hoursOf = (hours: string) =>
    sql.unsafe<{ total: number }[]>(
      `select workspace_id, user_id, day::text, repo_key, ${hours} as hours from activity order by 1, 2, 3, 4`,
    )
  const before = await hoursOf(
    `case when hours is not null then array(select get_byte(hours, n)::smallint from generate_series(0, 23) n) end`,
  )
  await migrate(url)
  t.same([...(await hoursOf('hours'))], [...before], 'every hour is there')

  const database = connect({ url, poolSize: 4, prepare: true })
  t.teardown(() => database.close())
  const read = async (first: string, last: string, filter: { repoKey?: string }) => {
    const range = resolveRange({ from: first, to: last }, last, { defaultDays: 30, maxDays: 366 })
    if (!range) throw new Error('The range is none')
    const viewer = { userId: uuidv7(), floor: 'named', minGroup: 5 } as const
    const { dashboard } = await readDashboard(database, viewer, workspace, range, filter, { trends: true })
    const { generated_at: _, ...content } = dashboard
    return content
  }
  const ranges = [
    ['2025-11-10', '2026-04-19'],
    ['2026-02-27', '2026-03-02'],
    ['2026-01-01', '2026-01-31'],
  ] as const
  const readAll = async () => {
    const dashboards = []
    for (const [first, last] of ranges)
      for (const filter of [{}, { repoKey: 'acme/r1' }]) dashboards.push(await read(first, last, filter))
    return dashboards
  }
  const migrated = { rollups: await readRollups(database), dashboards: await readAll() }
  for (const [name, rows] of Object.entries(migrated.rollups)) t.ok(rows.length > 5, name)
  t.ok((migrated.dashboards[0]?.totals.active_members ?? 0) > 9)
  await sql`insert into stale_days (workspace_id, day) select distinct workspace_id, day from activity`
  t.same(await readAll(), migrated.dashboards, 'a recount says the same')
  await rebuildRollups(database)
  t.same(await readRollups(database), migrated.rollups, 'as the service makes them')
  t.same(await readAll(), migrated.dashboards)
  const people = await sql`select 1 from activity_people`
  const [known] = await sql`select count(distinct (workspace_id, user_id))::int as people from activity`
  t.equal(people.length, known?.people, 'everyone with activity is known')
})

t.test('rollups without the minutes of weeks are made again', async (t) => {
  const { url, sql } = await databaseOf(t, 21)
  const [workspace, user] = [uuidv7(), uuidv7()]
  await sql`insert into workspaces (id, name, idle_window_minutes) values (${workspace}, 'Acme', 5)`
  await sql`insert into users (id, repohost_id, login, login_key, avatar_url) values (${user}, 1, 'ada', 'ada', '')`
  await sql`insert into activity_repos values (${workspace}, 'acme/api', 'acme/api')`
  await sql`
    insert into activity (workspace_id, user_id, day, repo_key, minutes)
    select ${workspace}, ${user}, day::date, 'acme/api', extract(day from day)::int
    from generate_series('2026-03-01'::date, '2026-03-31'::date, interval '1 day') day`
  await sql`
    insert into activity_days (workspace_id, day, minutes, commits, closed_issues, active_members, by_repo)
    select workspace_id, day, minutes, 0, 0, 1, true from activity`
  await migrate(url)
  const database = connect({ url, poolSize: 4, prepare: true })
  t.teardown(() => database.close())
  await rollUp(database)
  // March 2026 begins on a Sunday.
  const [row] = await sql`select week_minutes from activity_repo_people`
  t.same(row?.week_minutes, [1, 35, 84, 133, 182, 61])
})
