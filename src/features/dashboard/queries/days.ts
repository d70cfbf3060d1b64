/** A dashboard's days, in total and by member. */
import type { Db } from '../../../platform/database/client.js'
import { date, integer, statement, text } from '../../../platform/database/statement.js'
import { listDays } from '../../../platform/time/days.js'
import { ERASED, eachCount, isPerson } from '../../minutes/index.js'
import { SUM_OF_COUNTS } from '../../rollups/index.js'
import type { Filter } from './filter.js'
import { type ActivityRows, activityOf, type NamedDays, RAW, SUMS, sums } from './sources.js'

const COUNTS_AS_DOUBLES = eachCount((count) => `a.${count}::float8`)

/** SQL: how many people with minutes the rollups count on each day $5, although their account has been deleted since. */
const ERASED_DAYS = `(
    select e.day, count(distinct e.user_id)::int as people
    from daily_activity e
    where e.workspace_id = $1::uuid and e.day = any($5::date[]) and e.user_id = any(${ERASED})
      and ($3::text is null or e.repo_key = $3::text) and e.minutes > 0
    group by e.day
  )`

/** $5: the days read from rollups. */
const READ_DAYS = statement(
  'read dashboard days',
  { day: date, ...sums, active_members: integer },
  `
  select a.day, a.minutes::float8 as active_minutes, ${COUNTS_AS_DOUBLES}, a.active_members - coalesce(e.people, 0) as active_members
  from workspace_days a left join ${ERASED_DAYS} e using (day)
  where a.workspace_id = $1::uuid and a.day = any($5::date[]) and $3::text is null
  union all
  select a.day, a.minutes::float8, ${COUNTS_AS_DOUBLES}, a.active_members - coalesce(e.people, 0)
  from repo_days a left join ${ERASED_DAYS} e using (day)
  where a.workspace_id = $1::uuid and a.day = any($5::date[]) and a.repo_key = $3::text
  union all
  select a.day, ${SUMS}, count(*) filter (where a.minutes > 0 and ${isPerson('a.user_id')})::int
  from (select a.day, a.user_id, ${SUM_OF_COUNTS} from ${RAW} a group by a.day, a.user_id) a
  group by a.day`,
)

/** The days to read from `daily_activity`, and those to read from rollups. */
export interface DaySources extends ActivityRows {
  rolledUp: string[]
}

/** Days without activity are left out. */
export const readDays = (tx: Db, sources: DaySources) =>
  tx.rows(READ_DAYS, [...activityOf(sources), sources.rolledUp])

/** Logins need no CSV quoting. */
const LIST_MEMBER_DAYS = statement(
  'list member days',
  { line: text },
  `
  select concat_ws(',', a.day, u.login, sum(a.minutes), ${eachCount((count) => `sum(a.${count})`)}) as line
  from ${RAW} a join users u on u.id = a.user_id
  group by a.day, u.login
  order by a.day, lower(u.login)`,
)

/** Each member's activity on each day as a CSV line, by day and login. */
export const listMemberDays = async (
  tx: Db,
  workspaceId: string,
  filter: Filter,
  { from, to }: NamedDays,
): Promise<string[]> => {
  const rows = await tx.rows(
    LIST_MEMBER_DAYS,
    activityOf({ workspaceId, ...filter, raw: listDays(from, to) }),
  )
  return rows.map(({ line }) => line)
}
