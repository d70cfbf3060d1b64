/** A dashboard's members. */
import type { Role } from '../../../../schemas/common.js'
import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
import { date, integer, orNull, statement, text, textOf, uuid } from '../../../platform/database/statement.js'
import { DELETED_USER } from '../../accounts/index.js'
import { countsOf, eachCount, sumsOf } from '../../minutes/index.js'
import { activityOf, notPeople, RAW, ROW, type Sources, SUMS, sums } from './sources.js'

/** $5: whole months; $6, $7: partly valid months, and bits of their valid days; $8: who isn’t counted as a person. */
const COUNT_ACTIVE = statement(
  'count active members',
  { active_members: integer },
  `
  with months as not materialized (
    select month, user_id, active_day_bits from member_months
    where workspace_id = $1::uuid and $3::text is null
    union all
    select month, user_id, active_day_bits from repo_people
    where workspace_id = $1::uuid and repo_key = $3::text
  )
  select count(*)::int as active_members
  from (
    select user_id from months where month = any($5::date[]) and active_day_bits <> 0
    union
    select user_id
    from months join unnest($6::date[], $7::int[]) as part (month, day_bits) using (month)
    where month = any($6::date[]) and active_day_bits & part.day_bits <> 0
    union
    select a.user_id from ${RAW} a where a.minutes > 0
  ) active where user_id <> all($8::uuid[])`,
)

/** How many people had minutes. */
export const countActiveMembers = async (tx: Db, sources: Sources): Promise<number> => {
  const { months, parts, masks } = sources
  const [row] = await tx.rows(COUNT_ACTIVE, [
    ...activityOf(sources),
    months,
    parts,
    masks,
    notPeople(sources),
  ])
  return row?.active_members ?? 0
}

/**
 * $5, $6: months; other days. The rest of a repository's month belongs to deleted accounts. Without a filter, all
 * members are listed. With a person filter, that person is. People with activity always are. The last row, without
 * a name, is the activity of deleted accounts.
 */
const READ_MEMBERS = statement(
  'read dashboard members',
  {
    login: orNull(text),
    avatar_url: text,
    role: orNull(textOf<Role>()),
    ...sums,
    active_days: integer,
    last_active_day: orNull(date),
    active_members: integer,
  },
  `
  with named_months as (
    select user_id, month, minutes, ${countsOf()}, active_day_bits
    from repo_people where workspace_id = $1::uuid and month = any($5::date[]) and repo_key = $3::text
  ), months as (
    select user_id, month, minutes, ${countsOf()}, active_day_bits
    from member_months where workspace_id = $1::uuid and month = any($5::date[]) and $3::text is null
    union all
    select * from named_months
    union all
    select '${DELETED_USER}', month, minutes, ${countsOf()}, 0
    from repo_months where workspace_id = $1::uuid and month = any($5::date[]) and repo_key = $3::text
    union all
    select '${DELETED_USER}', null, -sum(minutes)::bigint, ${eachCount((count) => `-sum(${count})::bigint`)}, 0
    from named_months
  ), parts as (
    select user_id, minutes, ${countsOf()}, bit_count(active_day_bits::bit(31))::int as active_days,
      case when active_day_bits <> 0 then month + 31 - position(B'1' in active_day_bits::bit(31)) end as last_active_day
    from months
    union all
    select user_id, minutes, ${countsOf()}, (minutes > 0)::int, case when minutes > 0 then day end
    from member_days where workspace_id = $1::uuid and day = any($6::date[])
    union all
    select a.user_id, ${sumsOf('a')}, (sum(a.minutes) > 0)::int, case when sum(a.minutes) > 0 then a.day end
    from ${RAW} a group by a.user_id, a.day
  ), people as (
    select a.user_id, ${SUMS}, sum(a.active_days) as active_days, max(a.last_active_day) as last_active_day
    from parts a group by a.user_id
    having sum(a.minutes::float8) + ${eachCount((count) => `sum(a.${count}::float8)`, ' + ')} > 0
  ), listed as (
    select user_id from people
    union select user_id from members where workspace_id = $1::uuid and $2::uuid is null and $3::text is null
    union select $2::uuid where $2::uuid is not null
  ), placed as (
    select u.repohost_id is null as deleted, u.login, u.avatar_url, m.role, coalesce(p.active_minutes, 0) as active_minutes,
      ${eachCount((count) => `coalesce(p.${count}, 0) as ${count}`)},
      coalesce(p.active_days, 0) as active_days, p.last_active_day,
      row_number() over (order by u.repohost_id is null, p.active_minutes desc nulls last,
        ${eachCount((count) => `p.${count} desc nulls last`)}, u.login_key collate "C") as place
    from listed
    join users u on u.id = listed.user_id
    left join members m on m.workspace_id = $1::uuid and m.user_id = listed.user_id
    left join people p on p.user_id = listed.user_id
  ), rows as (
    select *, case when deleted then ${limits.dashboard_rows} else ${ROW} end as row from placed
  )
  select case when count(*) = 1 and not bool_or(deleted) then min(login) end as login,
    case when count(*) = 1 then min(avatar_url) else '' end as avatar_url,
    case when count(*) = 1 then min(role) end as role,
    sum(active_minutes) as active_minutes, ${eachCount((count) => `sum(${count}) as ${count}`)},
    coalesce(sum(active_days) filter (where not deleted), 0)::int as active_days,
    max(last_active_day) filter (where not deleted) as last_active_day,
    count(*) filter (where active_minutes > 0 and not deleted)::int as active_members
  from rows group by row order by row`,
)

/** Ordered by minutes, descending. `active_members` is how many people in the row had minutes. */
export const readMembers = (tx: Db, sources: Sources) => {
  const { repoKey, raw, months, days } = sources
  // No rollup has a repository's people by day, so with this filter all other days are read from the activity.
  const [rows, rolledUp] = repoKey === undefined ? [raw, days] : [[...raw, ...days], []]
  return tx.rows(READ_MEMBERS, [...activityOf({ ...sources, raw: rows }), months, rolledUp])
}

/** $1: the workspace; $2: users; $3: the first day that counts. It names the workspace, so a cluster asks only one node. */
const READ_LAST_ACTIVE_DAYS = statement(
  'read last active days',
  { userId: uuid, day: date },
  `
  select u.id as "userId", a.day
  from unnest($2::uuid[]) as u (id)
  cross join lateral (
    select day from daily_activity
    where workspace_id = $1::uuid and user_id = u.id and minutes > 0 and day >= $3::date
    order by day desc limit 1
  ) a`,
)

/** Days by user id. Users without an active day since `from` are missing. */
export const readLastActiveDays = async (
  db: Db,
  workspaceId: string,
  userIds: string[],
  from: string,
): Promise<Map<string, string>> => {
  const rows = await db.rows(READ_LAST_ACTIVE_DAYS, [workspaceId, userIds, from])
  return new Map(rows.map(({ userId, day }) => [userId, day]))
}
