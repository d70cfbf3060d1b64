/** Queries for a dashboard's heatmap: the hours, and on which days enough people have any. */

import type { Db } from '../../../platform/database/client.js'
import { date, double, integer, integers, statement, text } from '../../../platform/database/statement.js'
import {
  ERASED,
  type HeatmapCell,
  isPerson,
  localHourDays,
  SUM_OF_HOURS,
  utcDaysOf,
  type ZoneHours,
  zoneHours,
} from '../../minutes/index.js'
import { activityOf, FILTER, type Sources } from './sources.js'

/**
 * SQL: how many of those who don't count here have hours on the day `d.day`: the viewer $6, and people whose account has been
 * deleted. @param repo about `a`, a row of activity
 */
const notCounted = (repo: string) => `(
      select count(distinct n.user_id) from ${localHourDays(
        'array[d.day]',
        `a.workspace_id = $1::uuid and a.user_id = any($6::uuid || ${ERASED}) and ${repo}`,
      )} n
    )`

/**
 * $1: the workspace; $2 and $3: the first and the last day; $4: other days in between; $5: how many people other than
 * the viewer must have hours; $6: the viewer.
 */
const listHiddenDays = (name: string, table: string, repo: string, activityRepo: string) =>
  statement(
    name,
    { day: date },
    `
  select d.day from ${table} d
  where d.workspace_id = $1::uuid and d.day between $2::date and $3::date and d.day <> all($4::date[]) and ${repo}
    and d.hour_people > 0 and d.hour_people <= $5::int + cardinality(${ERASED}) and d.hour_people - ${notCounted(activityRepo)} < $5::int`,
  )

const LIST_HIDDEN_DAYS = listHiddenDays('list days with few people', 'activity_days', 'true', 'true')
/** $7: the repository. */
const LIST_HIDDEN_REPO_DAYS = listHiddenDays(
  'list repository days with few people',
  'activity_repo_days',
  'd.repo_key = $7::text',
  'a.repo_key = $7::text',
)

/** The rolled-up days on which fewer than `minOthers` people other than the viewer have hours. */
export const readHiddenDays = async (
  tx: Db,
  { workspaceId, from, to, raw, repoKey }: Sources,
  viewerId: string,
  minOthers: number,
): Promise<string[]> => {
  const parameters = [workspaceId, from, to, raw, minOthers, viewerId]
  const rows = await (repoKey === undefined
    ? tx.rows(LIST_HIDDEN_DAYS, parameters)
    : tx.rows(LIST_HIDDEN_REPO_DAYS, [...parameters, repoKey]))
  return rows.map(({ day }) => day)
}

const cells = { weekday: integer, hour: integer, minutes: double }

const READ_CELLS = statement(
  'read heatmap',
  cells,
  `
  select weekday, hour, sum(minutes)::float8 as minutes from activity_hours
  where workspace_id = $1::uuid and day between $2::date and $3::date and day <> all($4::date[])
  group by weekday, hour`,
)

/** $5: the repository. */
const READ_REPO_CELLS = statement(
  'read repository heatmap',
  cells,
  `
  select extract(isodow from d.day)::int as weekday, h.hour::int - 1 as hour, sum(h.minutes)::float8 as minutes
  from activity_repo_days d cross join unnest(d.local_hours) with ordinality as h (minutes, hour)
  where d.workspace_id = $1::uuid and d.day between $2::date and $3::date and d.day <> all($4::date[])
    and d.repo_key = $5::text and h.minutes > 0
  group by 1, 2`,
)

/** Hours from the rollups of all days except these. */
export const readCells = (
  tx: Db,
  { workspaceId, from, to, repoKey }: Sources,
  without: string[],
): Promise<HeatmapCell[]> =>
  repoKey === undefined
    ? tx.rows(READ_CELLS, [workspaceId, from, to, without])
    : tx.rows(READ_REPO_CELLS, [workspaceId, from, to, without, repoKey])

/** $5: the viewer. */
const COUNT_RAW_PEOPLE = statement(
  'count heatmap people',
  { day: date, others: integer },
  `
  select a.day, count(distinct a.user_id) filter (where a.user_id <> $5::uuid and ${isPerson('a.user_id')})::int as others
  from ${localHourDays('$4::date[]', FILTER)} a
  group by a.day`,
)

/** How many people other than the viewer have hours on each day that is read from the activity. */
export const countRawPeople = (tx: Db, sources: Sources, viewerId: string) =>
  tx.rows(COUNT_RAW_PEOPLE, [...activityOf(sources), viewerId])

const READ_RAW_HOURS = statement(
  'read activity hours',
  { day: date, timezone: text, hours: integers },
  `
  select a.day, a.timezone, ${SUM_OF_HOURS} as hours
  from ${zoneHours(`${FILTER} and a.day = any(${utcDaysOf('$4::date[]')})`)} a
  group by a.day, a.timezone`,
)

/** The hours of every UTC day that can overlap a local day read from `activity`. */
export const readRawHours = (tx: Db, sources: Sources): Promise<ZoneHours[]> =>
  tx.rows(READ_RAW_HOURS, activityOf(sources))
