/** Queries for a dashboard's heatmap: the hours, and on which days enough people have any. */

import type { Db } from '../../../platform/database/client.js'
import { date, double, integer, statement } from '../../../platform/database/statement.js'
import type { HeatmapCell } from '../../minutes/index.js'
import { activityOf, notPeople, RAW, type Sources } from './sources.js'

/** SQL: whether `a` has minutes with an hour. */
const HAS_HOURS = '0 < any (a.hours)'

/** SQL: how many of those who don't count here, $6, have hours on the day `d.day`. @param repo about `a`, a row of activity */
const notCounted = (repo: string) => `(
      select count(distinct a.user_id) from daily_activity a
      where a.workspace_id = $1::uuid and a.day = d.day and a.user_id = any($6::uuid[]) and ${HAS_HOURS} and ${repo}
    )`

/**
 * $1: the workspace; $2 and $3: the first and the last day; $4: other days in between; $5: how many people other than
 * the viewer must have hours; $6: the viewer, and people whose account has been deleted.
 */
const listHiddenDays = (name: string, table: string, repo: string, activityRepo: string) =>
  statement(
    name,
    { day: date },
    `
  select d.day from ${table} d
  where d.workspace_id = $1::uuid and d.day between $2::date and $3::date and d.day <> all($4::date[]) and ${repo}
    and d.people_with_hours > 0 and d.people_with_hours <= $5::int + cardinality($6::uuid[]) and d.people_with_hours - ${notCounted(activityRepo)} < $5::int`,
  )

const LIST_HIDDEN_DAYS = listHiddenDays('list days with few people', 'workspace_days', 'true', 'true')
/** $7: the repository. */
const LIST_HIDDEN_REPO_DAYS = listHiddenDays(
  'list repository days with few people',
  'repo_days',
  'd.repo_key = $7::text',
  'a.repo_key = $7::text',
)

/** The rolled-up days on which fewer than `minOthers` people other than the viewer have hours. */
export const readHiddenDays = async (
  tx: Db,
  { workspaceId, from, to, raw, repoKey, erased }: Sources,
  viewerId: string,
  minOthers: number,
): Promise<string[]> => {
  const parameters = [workspaceId, from, to, raw, minOthers, [viewerId, ...erased]]
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
  select weekday, hour, sum(minutes)::float8 as minutes from workspace_hours
  where workspace_id = $1::uuid and day between $2::date and $3::date and day <> all($4::date[])
  group by weekday, hour`,
)

/** $5: the repository. */
const READ_REPO_CELLS = statement(
  'read repository heatmap',
  cells,
  `
  select extract(isodow from d.day)::int as weekday, h.hour::int - 1 as hour, sum(h.minutes)::float8 as minutes
  from repo_days d cross join unnest(d.hours) with ordinality as h (minutes, hour)
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

/** $5: the viewer, and who isn’t counted as a person. */
const COUNT_RAW_PEOPLE = statement(
  'count heatmap people',
  { day: date, others: integer },
  `
  select a.day, count(distinct a.user_id) filter (where a.user_id <> all($5::uuid[]))::int as others
  from ${RAW} a
  where ${HAS_HOURS}
  group by a.day`,
)

/** How many people other than the viewer have hours on each day that is read from the activity. */
export const countRawPeople = (tx: Db, sources: Sources, viewerId: string) =>
  tx.rows(COUNT_RAW_PEOPLE, [...activityOf(sources), [viewerId, ...notPeople(sources)]])

const READ_RAW_CELLS = statement(
  'read activity hours',
  cells,
  `
  select extract(isodow from a.day)::int as weekday, h.hour::int - 1 as hour, sum(h.minutes)::float8 as minutes
  from ${RAW} a cross join unnest(a.hours) with ordinality as h (minutes, hour)
  where h.minutes > 0
  group by 1, 2`,
)

/** The hours of days that are read from the activity. */
export const readRawCells = (tx: Db, sources: Sources, days: string[]): Promise<HeatmapCell[]> =>
  tx.rows(READ_RAW_CELLS, activityOf({ ...sources, raw: days }))
