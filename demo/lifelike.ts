/**
 * Makes a made-up team's even activity look like a real team's: part-time, holidays, a release, repositories that come
 * and go, a day that isn't over.
 */
import type { Database } from '../src/platform/database/client.js'
import { statement } from '../src/platform/database/statement.js'

/** $1: the workspace; $2: its people; $3: today. Who is away depends on the place in the list. */
const TAKE_TIME_OFF = statement(
  'let made-up people be away',
  {},
  `
  delete from daily_activity a
  using unnest($2::uuid[]) with ordinality as p (user_id, n)
  where a.workspace_id = $1::uuid and a.user_id = p.user_id and (
    -- Few work on a weekend.
    (extract(isodow from a.day) > 5 and hashtext(a.user_id::text || a.day) % 6 <> 0)
    -- Part-time: four days a week, and three.
    or (p.n % 6 = 2 and extract(isodow from a.day) = 5)
    or (p.n % 8 = 3 and extract(isodow from a.day) < 3)
    -- Two weeks of holidays.
    or (p.n % 9 = 4 and a.day between $3::text::date - 20 - p.n::int and $3::text::date - 7 - p.n::int)
    -- Every third person began later than the others, over two years.
    or (p.n % 3 = 2 and a.day < $3::text::date - 730 + 25 * p.n::int)
  )`,
)

/** $1: the workspace. Its people joined on their first day of activity, and it's as old as the first of them. */
const DATE_MEMBERS = statement(
  'date made-up members',
  {},
  `
  with first as (
    select user_id, min(day) + time '09:00' as at from daily_activity where workspace_id = $1::uuid group by user_id
  ), joined as (
    update members m set joined_at = least(m.joined_at, f.at at time zone 'UTC')
    from first f where m.workspace_id = $1::uuid and m.user_id = f.user_id
  )
  update workspaces set
    created_at = least(created_at, (select min(at) from first) at time zone 'UTC'),
    activity_privacy_since = least(activity_privacy_since, (select min(at) from first) at time zone 'UTC')
  where id = $1::uuid`,
)

/** $1: the workspace; $2: today; $3: a repository that is nearly finished; $4: one whose work $5 takes over. */
const SHIFT_REPOSITORIES = statement(
  'let made-up repositories come and go',
  {},
  `
  with quiet as (
    delete from daily_activity
    where workspace_id = $1::uuid and repo_key = $3::text and day > $2::text::date - 33
      and hashtext(user_id::text || day) % 5 <> 0
  )
  update daily_activity a set repo_key = $5::text
  where a.workspace_id = $1::uuid and a.repo_key = $4::text and a.day > $2::text::date - 26
    and not exists (
      select from daily_activity b
      where b.workspace_id = a.workspace_id and b.user_id = a.user_id and b.day = a.day and b.repo_key = $5::text
    )`,
)

/** $1: the workspace; $2: its people; $3: today; $4: the day of a release; $5: the hour that isn't over, in UTC. */
const SHAPE_DAYS = statement(
  'give made-up days different lengths',
  {},
  `
  update daily_activity a set hours = array(
    select case when a.day = $3::text::date and h.hour - 1 > $5::int then 0
      else least(60, round(h.minutes * (0.65 + 0.07 * (p.n % 6))
        * case when a.day between $4::text::date - 1 and $4::text::date then 1.7 else 1 end)) end::smallint
    from unnest(a.hours) with ordinality as h (minutes, hour) order by h.hour
  )
  from unnest($2::uuid[]) with ordinality as p (user_id, n)
  where a.workspace_id = $1::uuid and a.user_id = p.user_id and a.hours is not null`,
)

/** $1: the workspace. */
const ADD_UP_HOURS = statement(
  'sum sample hours',
  {},
  `
  update daily_activity a set minutes = (select sum(minutes) from unnest(a.hours) as minutes)
  where a.workspace_id = $1::uuid and a.hours is not null`,
)

/** $1: the workspace. */
const REMOVE_NOTHING = statement(
  'remove made-up days without activity',
  {},
  'delete from daily_activity where workspace_id = $1::uuid and minutes = 0 and hours is not null',
)

/** Run it once the activity exists, and before the rollups do. */
export const makeLifelike = (
  database: Database,
  team: {
    workspaceId: string
    userIds: string[]
    owner: string
    today: string
    releaseDay: string
    hour: number
  },
): Promise<void> =>
  database.transaction(
    async (tx) => {
      const { workspaceId, userIds, owner, today, releaseDay, hour } = team
      await tx.rows(TAKE_TIME_OFF, [workspaceId, userIds, today])
      await tx.rows(SHIFT_REPOSITORIES, [
        workspaceId,
        today,
        `${owner}/experiments`,
        `${owner}/playground`,
        `${owner}/search`,
      ])
      await tx.rows(SHAPE_DAYS, [workspaceId, userIds, today, releaseDay, hour])
      await tx.rows(ADD_UP_HOURS, [workspaceId])
      await tx.rows(REMOVE_NOTHING, [workspaceId])
      await tx.rows(DATE_MEMBERS, [workspaceId])
    },
    { background: true },
  )
