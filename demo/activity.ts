/** Believable activity of a team: working hours in several time zones, weekends, holidays, a handful of repositories each. */

import type { Database } from '../src/platform/database/client.js'
import { integer, statement } from '../src/platform/database/statement.js'
import { localHoursOf } from '../src/platform/time/zones.js'

const timezones = [
  'Europe/Berlin',
  'Europe/London',
  'America/New_York',
  'America/Los_Angeles',
  'Asia/Kolkata',
  'Asia/Tokyo',
]

const repoNames = [
  'api-gateway',
  'web',
  'mobile',
  'billing',
  'docs',
  'infra',
  'search',
  'auth',
  'design-system',
  'cli',
  'data-pipeline',
  'notifications',
  'editor-extension',
  'sdk-js',
  'sdk-python',
  'website',
  'monitoring',
  'experiments',
  'release-tools',
  'playground',
]

export interface TeamActivity {
  workspaceId: string
  userIds: string[]
  owner: string
  /** At least three names. Default: those of a larger team. */
  names?: readonly string[]
  from: string
  to: string
}

/**
 * $1: the workspace; $2, $3: users and by how many hours their clocks are ahead; $4: repositories, at least three;
 * $5, $6: first and last day. A working day has three blocks of three hours from nine on, each in another repository;
 * people change their repositories every few weeks, have free weekends (mostly), holidays, and weeks of their own away, but the first
 * of them is there on the last days.
 */
const INSERT_ACTIVITY = statement(
  'make up activity',
  { rows: integer },
  `
  with people as (
    select user_id, ahead, n::int from unnest($2::uuid[], $3::int[]) with ordinality as p (user_id, ahead, n)
  ), repos as (
    select repo, n::int - 1 as n, count(*) over ()::int as total from unnest($4::text[]) with ordinality as r (repo, n)
  ), blocks as (
    select p.user_id, d.day::date, (33 + b.block * 3 - p.ahead) % 24 as start,
      (p.n * 7 + extract(week from d.day)::int / 3 + b.block) as choice,
      (10 + random() * 50)::int as first, (15 + random() * 45)::int as second, (random() * 40)::int as third
    from people p
    cross join generate_series($5::text::date, $6::text::date, interval '1 day') as d (day)
    cross join generate_series(0, 2) as b (block)
    where (extract(isodow from d.day) < 6 or random() < 0.04)
      and to_char(d.day, 'MM-DD') not between '12-24' and '12-31' and to_char(d.day, 'MM-DD') not in ('01-01', '05-01')
      and ((extract(doy from d.day)::int + p.n * 37) % 120 > 8 or (p.n = 1 and d.day > $6::text::date - 30))
      and random() < 0.88
  ), rows as (
    select b.*, lower(r.repo) as repo_key, worked[25 - b.start:] || worked[:24 - b.start] as hours
    from blocks b join repos r on r.n = b.choice % r.total
    cross join lateral (
      select array[first, second, third]::smallint[] || array_fill(0::smallint, array[21]) as worked
    ) w
  ), written as (
    insert into daily_activity (workspace_id, user_id, day, repo_key, minutes, commits, closed_issues, hours)
    select $1::uuid, user_id, day, repo_key, first + second + third,
      floor(random() * random() * 7), floor(random() * 1.3), hours
    from rows
    on conflict (workspace_id, user_id, day, repo_key) do nothing
    returning day
  ), named as (
    insert into activity_repos (workspace_id, repo_key, repo)
    select $1::uuid, lower(repo), repo from repos on conflict do nothing
  ), people_with_activity as (
    insert into activity_people (workspace_id, user_id) select $1::uuid, user_id from people on conflict do nothing
  ), marked as (
    insert into changed_days (workspace_id, day) select distinct $1::uuid, day from written on conflict do nothing
  )
  select count(*)::int as rows from written`,
)

const ALLOW_ANY_TIME = statement('allow any time for made-up activity', {}, 'set local statement_timeout = 0')

const SET_ZONES = statement(
  'set the time zones of people',
  {},
  `
  update users u set timezone = z.timezone
  from unnest($1::uuid[], $2::text[]) as z (user_id, timezone) where u.id = z.user_id`,
)

/** Adds activity and leaves existing rows alone. The service updates the rollups by itself. @returns how many rows */
export const seedActivity = (
  database: Database,
  { workspaceId, userIds, owner, names = repoNames, from, to }: TeamActivity,
): Promise<number> => {
  // Most of a team is in one place.
  const zones = userIds.map(
    (_, index) => (index % 3 === 0 ? timezones[(index / 3) % timezones.length] : timezones[0]) ?? 'UTC',
  )
  const ahead = zones.map((timezone) => localHoursOf(timezone, from)[0] ?? 0)
  const repos = names.map((name) => `${owner}/${name}`)
  return database.transaction(
    async (tx) => {
      await tx.rows(ALLOW_ANY_TIME, [])
      await tx.rows(SET_ZONES, [userIds, zones])
      const [row] = await tx.rows(INSERT_ACTIVITY, [workspaceId, userIds, ahead, repos, from, to])
      return row?.rows ?? 0
    },
    { background: true },
  )
}
