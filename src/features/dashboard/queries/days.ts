/** A dashboard's days, in total and by member. */
import type { Db } from '../../../platform/database/client.js'
import { date, integer, statement, text } from '../../../platform/database/statement.js'
import { listDays } from '../../../platform/time/days.js'
import { eachCount, sumsOf } from '../../minutes/index.js'
import type { Filter } from './filter.js'
import { type ActivityRows, activityOf, type NamedDays, notPeople, RAW, SUMS, sums } from './sources.js'

const COUNTS_AS_DOUBLES = eachCount((count) => `a.${count}::float8`)

/** $5: the days read from rollups; $6: who isn’t counted as a person. */
const READ_DAYS = statement(
  'read dashboard days',
  { day: date, ...sums, active_members: integer },
  `
  select a.day, a.minutes::float8 as active_minutes, ${COUNTS_AS_DOUBLES}, a.active_members
  from workspace_days a
  where a.workspace_id = $1::uuid and a.day = any($5::date[]) and $3::text is null
  union all
  select a.day, a.minutes::float8, ${COUNTS_AS_DOUBLES}, a.active_members
  from repo_days a
  where a.workspace_id = $1::uuid and a.day = any($5::date[]) and a.repo_key = $3::text
  union all
  select a.day, ${SUMS}, count(*) filter (where a.minutes > 0 and a.user_id <> all($6::uuid[]))::int
  from (select a.day, a.user_id, ${sumsOf('a')} from ${RAW} a group by a.day, a.user_id) a
  group by a.day`,
)

/** The days to read from `daily_activity`, and those to read from rollups. */
export interface DaySources extends ActivityRows {
  rolledUp: string[]
  /** As in `Sources`. */
  erased: string[]
}

/** How many people rollups count on each day $4 as active, although their account has been deleted since. */
const COUNT_ERASED = statement(
  'count erased people',
  { day: date, people: integer },
  `
  select day, count(distinct user_id)::int as people from daily_activity
  where workspace_id = $1::uuid and user_id = any($2::uuid[]) and ($3::text is null or repo_key = $3::text)
    and day = any($4::date[]) and minutes > 0
  group by day`,
)

/** Days without activity are left out. */
export const readDays = async (tx: Db, sources: DaySources) => {
  const { workspaceId, repoKey, erased, rolledUp } = sources
  const [days, erasures] = await Promise.all([
    tx.rows(READ_DAYS, [...activityOf(sources), rolledUp, notPeople(sources)]),
    erased.length === 0 ? [] : tx.rows(COUNT_ERASED, [workspaceId, erased, repoKey ?? null, rolledUp]),
  ])
  const people = new Map(erasures.map(({ day, people }) => [day, people]))
  return days.map((day) => ({ ...day, active_members: day.active_members - (people.get(day.day) ?? 0) }))
}

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
