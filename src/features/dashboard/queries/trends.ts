/** The trends of members and repositories: minutes by day or week. */
import type { Db } from '../../../platform/database/client.js'
import { integer, json, statement } from '../../../platform/database/statement.js'
import { groupBy } from '../../../platform/process/maps.js'
import {
  addDays,
  type Buckets,
  countDays,
  DAYS_OF_WEEK,
  lengthOfMonth,
  listDays,
  mondayOf,
  monthOf,
  sundayOf,
} from '../../../platform/time/days.js'
import { weekOfMonth } from '../../rollups/index.js'
import type { DaySources } from './days.js'
import { activityOf, RAW, type Sources } from './sources.js'

/**
 * Minutes by bucket, if any, for the rows named in $8, by their position from 1. $5: the days that are read from rollups;
 * $6, $7: start and length of `Buckets`. Weeks span months, so monthly rollups don't add up to them.
 * @param key column of the rows in `listed`, which has their places
 * @param rolledUp their places, days and minutes in rollups
 */
const trends = (name: string, key: string, listed: string, rolledUp: string) =>
  statement(
    name,
    { place: integer, trend: json<Record<number, number>>() },
    `
  with listed as (
    ${listed}
  ), parts as (
    ${rolledUp}
    union all
    select l.place, a.day, a.minutes from ${RAW} a join listed l using (${key})
  ), sums as (
    select place::int, (day - $6::date) / $7::int as bucket, sum(minutes::float8) as minutes from parts group by 1, 2
  )
  select place, json_object_agg(bucket, minutes) as trend from sums group by place`,
  )

const LISTED_MEMBERS = `select u.id as user_id, place
    from unnest($8::text[]) with ordinality as l (login_key, place) join users u using (login_key)`

const READ_MEMBER_TRENDS = trends(
  'read member trends',
  'user_id',
  LISTED_MEMBERS,
  `select l.place, d.day, d.minutes from member_days d join listed l using (user_id)
    where d.workspace_id = $1::uuid and d.day = any($5::date[])`,
)

/** $5: the first days of weeks, or of the parts of weeks that fall in a month. */
const READ_TRENDS_IN_REPO = trends(
  'read repository member trends',
  'user_id',
  LISTED_MEMBERS,
  `select l.place, w.day, p.week_minutes[${weekOfMonth('w.day', 'w.month')}] as minutes
    from repo_people p join listed l using (user_id)
    join (select day, date_trunc('month', day::timestamp)::date as month from unnest($5::date[]) as day) w using (month)
    where p.workspace_id = $1::uuid and p.repo_key = $3::text
      and p.month = any(array(select date_trunc('month', day::timestamp)::date from unnest($5::date[]) as day))`,
)

const READ_REPO_TRENDS = trends(
  'read repository trends',
  'repo_key',
  'select repo_key, place from unnest($8::text[]) with ordinality as l (repo_key, place)',
  `select l.place, d.day, d.minutes from repo_days d join listed l using (repo_key)
    where d.workspace_id = $1::uuid and d.day = any($5::date[])`,
)

interface DayMinutes {
  day: string
  active_minutes: number
}

/** Reads trends. The last one is the remainder after all others. */
const readTrends = async (
  tx: Db,
  read: typeof READ_MEMBER_TRENDS,
  sources: DaySources,
  { start, length, count }: Buckets,
  names: (string | null)[],
  days: DayMinutes[],
): Promise<number[][]> => {
  const keys = names.flatMap((name) => name?.toLowerCase() ?? [])
  const rows = await tx.rows(read, [...activityOf(sources), sources.rolledUp, start, length, keys])
  const places = new Map(rows.map(({ place, trend }) => [place, trend]))
  const trends = keys.map((_, index) =>
    Array.from({ length: count }, (_, bucket) => places.get(index + 1)?.[bucket] ?? 0),
  )
  const others = Array.from({ length: count }, () => 0)
  for (const { day, active_minutes } of days) {
    const bucket = Math.floor((countDays(start, day) - 1) / length)
    others[bucket] = (others[bucket] ?? 0) + active_minutes
  }
  for (const trend of trends)
    trend.forEach((minutes, bucket) => {
      others[bucket] = (others[bucket] ?? 0) - minutes
    })
  return [...trends, others]
}

/**
 * The range's weeks (or parts of weeks within a month) with valid rollups, by their first days, and the days outside of
 * them.
 */
const wholeWeeks = ({ from, to, raw }: Sources): { weeks: string[]; others: string[] } => {
  const isRaw = new Set(raw)
  const firstOf = (day: string) => {
    const [month, monday] = [monthOf(day), mondayOf(day)]
    return month > monday ? month : monday
  }
  const isWhole = (first: string, days: string[]) => {
    const month = monthOf(first)
    const [sunday, end] = [sundayOf(first), addDays(month, lengthOfMonth(month) - 1)]
    const last = sunday < end ? sunday : end
    return days.length === countDays(first, last) && !days.some((day) => isRaw.has(day))
  }
  const weeks: string[] = []
  const others: string[] = []
  for (const [first, days] of groupBy(listDays(from, to), firstOf)) {
    if (isWhole(first, days)) weeks.push(first)
    else others.push(...days)
  }
  return { weeks, others }
}

/**
 * @param logins of the rows of `readMembers`
 * @param days of `readDays`
 * @returns the minutes of each bucket, for each named row and for all others together
 */
export const readMemberTrends = (
  tx: Db,
  sources: Sources,
  buckets: Buckets,
  logins: (string | null)[],
  days: DayMinutes[],
) => {
  if (sources.repoKey === undefined) return readTrends(tx, READ_MEMBER_TRENDS, sources, buckets, logins, days)
  const { weeks, others } =
    buckets.length === DAYS_OF_WEEK
      ? wholeWeeks(sources)
      : { weeks: [], others: listDays(sources.from, sources.to) }
  const inRepo = { ...sources, raw: others, rolledUp: weeks }
  return readTrends(tx, READ_TRENDS_IN_REPO, inRepo, buckets, logins, days)
}

/** The trends of the rows of `readRepos`. */
export const readRepoTrends = (
  tx: Db,
  sources: Sources,
  buckets: Buckets,
  repos: (string | null)[],
  days: DayMinutes[],
) => readTrends(tx, READ_REPO_TRENDS, sources, buckets, repos, days)
