/** The upgrade of activity of version 1.0.0: copied once, and followed while its instances still write. */
import { randomUUID } from 'node:crypto'
import type postgres from 'postgres'
import t from 'tap'
import { copyPreviousActivity } from '../src/features/previous/copy.js'
import { connect } from '../src/platform/database/client.js'
import { migrate } from '../src/platform/database/migrate.js'
import { upgrade } from '../src/upgrade.js'
import { RELEASE, releasedDatabase, type Test } from './migrated.js'

const hoursWith = (minutes: Record<number, number>) =>
  Array.from({ length: 24 }, (_, hour) => minutes[hour] ?? 0)

/** Two workspaces, and a person in each of these zones. */
const filled = async (test: Test, zones: (string | null)[]) => {
  const { url, sql } = await releasedDatabase(test, RELEASE)
  const workspaces = [randomUUID(), randomUUID()].sort()
  await sql`delete from activity`
  await sql`
    insert into workspaces (id, name, idle_window_minutes) select id, 'Team', 5 from unnest(${workspaces}::uuid[]) as w (id)`
  const people = zones.map((timezone) => ({ id: randomUUID(), timezone }))
  for (const [index, { id, timezone }] of people.entries()) {
    const login = `zone-${index}`
    await sql`
      insert into users (id, repohost_id, login, login_key, avatar_url, timezone)
      values (${id}, ${900_000 + index}, ${login}, ${login}, '', ${timezone})`
    await sql`
      insert into activity_people (workspace_id, user_id) select id, ${id} from unnest(${workspaces}::uuid[]) as w (id)`
  }
  return { url, sql, workspaces, people }
}

const write = (
  sql: postgres.Sql,
  workspaceId: string | undefined,
  userId: string | undefined,
  {
    day,
    repo = 'acme/api',
    minutes,
    hours,
  }: { day: string; repo?: string; minutes: number; hours?: number[] },
) => sql`
  insert into activity as a (workspace_id, user_id, day, repo_key, minutes, hours)
  values (${workspaceId ?? ''}, ${userId ?? ''}, ${day}, ${repo}, ${minutes}, ${hours ? `{${hours.join()}}` : null}::text::smallint[])
  on conflict (workspace_id, user_id, day, repo_key) do update
  set minutes = excluded.minutes, hours = excluded.hours`

const daysOf = async (sql: postgres.Sql, userId: string | undefined) =>
  (
    await sql`
      select workspace_id, day::text, repo_key, minutes, hours, timezone from daily_activity
      where user_id = ${userId ?? ''} and minutes > 0 order by workspace_id, day, repo_key`
  ).map((row) => ({ ...row }))

const ownDaysOf = async (sql: postgres.Sql, userId: string | undefined) =>
  (
    await sql`
      select day::text, repo_key, minutes, hours from own_activity
      where user_id = ${userId ?? ''} and minutes > 0 order by day, repo_key`
  ).map((row) => ({ ...row }))

const open = (test: Test, url: string) => {
  const database = connect({ url, poolSize: 4, prepare: true })
  test.teardown(() => database.close())
  return database
}

t.test('each person’s rows go to the days and hours of their zone', async (t) => {
  const { url, sql, workspaces, people } = await filled(t, ['Australia/Sydney', 'America/Los_Angeles', null])
  const [workspace] = workspaces
  for (const { id } of people)
    await write(sql, workspace, id, { day: '2026-03-04', minutes: 35, hours: hoursWith({ 3: 10, 20: 20 }) })
  await upgrade({ url, prepare: true })
  const row = { workspace_id: workspace, repo_key: 'acme/api' }
  t.same(
    await daysOf(sql, people[0]?.id),
    [
      { ...row, day: '2026-03-04', minutes: 15, hours: hoursWith({ 14: 10 }), timezone: 'Australia/Sydney' },
      { ...row, day: '2026-03-05', minutes: 20, hours: hoursWith({ 7: 20 }), timezone: 'Australia/Sydney' },
    ],
    'minutes without an hour stay on their day',
  )
  t.same(await daysOf(sql, people[1]?.id), [
    { ...row, day: '2026-03-03', minutes: 10, hours: hoursWith({ 19: 10 }), timezone: 'America/Los_Angeles' },
    { ...row, day: '2026-03-04', minutes: 25, hours: hoursWith({ 12: 20 }), timezone: 'America/Los_Angeles' },
  ])
  t.same(await daysOf(sql, people[2]?.id), [
    { ...row, day: '2026-03-04', minutes: 35, hours: hoursWith({ 3: 10, 20: 20 }), timezone: 'UTC' },
  ])
  const marked =
    await sql`select day::text from changed_days where workspace_id = ${workspace ?? ''} order by day`
  t.same(
    marked.map(({ day }) => day),
    ['2026-03-03', '2026-03-04', '2026-03-05'],
  )
})

t.test('own time has the minutes of several workspaces once', async (t) => {
  const { url, sql, workspaces, people } = await filled(t, ['Europe/Berlin'])
  const id = people[0]?.id
  await write(sql, workspaces[0], id, { day: '2026-03-04', minutes: 30, hours: hoursWith({ 9: 30 }) })
  await write(sql, workspaces[1], id, { day: '2026-03-04', minutes: 25, hours: hoursWith({ 9: 20, 10: 5 }) })
  await upgrade({ url, prepare: true })
  t.same(await ownDaysOf(sql, id), [
    { day: '2026-03-04', repo_key: 'acme/api', minutes: 35, hours: hoursWith({ 10: 30, 11: 5 }) },
  ])
})

t.test(
  'what an instance of version 1.0.0 writes later is added, and what it takes away is taken away',
  async (t) => {
    const { url, sql, workspaces, people } = await filled(t, ['Asia/Tokyo'])
    const [workspace, id] = [workspaces[0], people[0]?.id]
    await write(sql, workspace, id, { day: '2026-03-04', minutes: 10, hours: hoursWith({ 1: 10 }) })
    await upgrade({ url, prepare: true })
    const database = open(t, url)
    await write(sql, workspace, id, { day: '2026-03-04', minutes: 25, hours: hoursWith({ 1: 8, 16: 17 }) })
    await copyPreviousActivity(database)
    const row = { workspace_id: workspace, repo_key: 'acme/api', timezone: 'Asia/Tokyo' }
    const expected = [
      { ...row, day: '2026-03-04', minutes: 8, hours: hoursWith({ 10: 8 }) },
      { ...row, day: '2026-03-05', minutes: 17, hours: hoursWith({ 1: 17 }) },
    ]
    t.same(await daysOf(sql, id), expected)
    await copyPreviousActivity(database)
    t.same(await daysOf(sql, id), expected, 'once')
  },
)

t.test('an interrupted copy goes on, and copies nothing twice', async (t) => {
  const { url, sql, workspaces, people } = await filled(t, ['Asia/Kolkata', 'Pacific/Auckland'])
  for (const { id } of people)
    await sql`
      insert into activity (workspace_id, user_id, day, repo_key, minutes, commits, hours)
      select w.id, ${id}, '2025-01-01'::date + n, 'acme/r' || n % 7, 24, n % 3, array_fill(1::smallint, array[24])
      from unnest(${workspaces}::uuid[]) as w (id), generate_series(1, 700) n`
  await migrate(url)
  const stop = new AbortController()
  await copyPreviousActivity(open(t, url), { stop: stop.signal, report: () => stop.abort() })
  const [before] = await sql`select count(*)::int as copied from activity where minutes = copied_minutes`
  t.equal(before?.copied, 1_000)
  await upgrade({ url, prepare: true })
  const [old] =
    await sql`select sum(minutes)::int as minutes, sum(commits)::int as commits from activity where user_id = any(${people.map(({ id }) => id)})`
  const [sums] = await sql`
    select sum(minutes)::int as minutes, sum(commits)::int as commits from daily_activity
    where user_id = any(${people.map(({ id }) => id)})`
  t.same({ ...sums }, { ...old })
})

t.test('version 1.0.0 can’t publish a week, and the weeks that it has published stay', async (t) => {
  const { url, sql, workspaces } = await filled(t, [])
  const week = (day: string) => sql`
    insert into published_weeks (workspace_id, week, min_group, minutes, commits, closed_issues, active_members)
    values (${workspaces[0] ?? ''}, ${day}, 5, 1, 1, 1, 5)`
  await week('2026-01-05')
  await upgrade({ url, prepare: true })
  await t.rejects(week('2026-01-12'), /published_weeks_by_local_day/)
  t.equal((await sql`select from published_weeks where week = '2026-01-05'`).length, 1)
})
