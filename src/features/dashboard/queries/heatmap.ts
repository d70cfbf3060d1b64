/** Queries for a dashboard's heatmap: the hours, and how many people other than the viewer have any. */

import type { Db } from '../../../platform/database/client.js'
import {
  date,
  double,
  integer,
  integers,
  json,
  orNull,
  statement,
  text,
  uuids,
} from '../../../platform/database/statement.js'
import type { HeatmapCell } from '../../minutes/index.js'
import type { DayCrews, ZoneCrew } from '../../rollups/index.js'
import { SUM_OF_HOURS, ZONE, zoneDays } from '../../rollups/index.js'
import { activityOf, RAW, rolledUpDays, type Sources } from './sources.js'

const READ_CREWS = statement(
  'read whose hours are in the heatmap',
  { day: date, crews: orNull(json<DayCrews>()) },
  `
  select d.day, d.hour_crews as crews from activity_days d
  where d.workspace_id = $1::uuid and d.day between $2::date and $3::date and d.day <> all($4::date[]) and case
    when d.hour_crews is null
      then exists (select from activity_hours h where h.workspace_id = $1::uuid and h.day = d.day)
    else d.hour_crews -> 'small' <> '[]' end`,
)

/** Rolled-up days with hours of few people, and days whose rollups lack that information. */
export const readCrews = (
  tx: Db,
  { workspaceId, from, to, raw }: Sources,
): Promise<{ day: string; crews: DayCrews | null }[]> => tx.rows(READ_CREWS, [workspaceId, from, to, raw])

const READ_CELLS = statement(
  'read the heatmap',
  { weekday: integer, hour: integer, minutes: double },
  `
  select weekday, hour, sum(minutes)::float8 as minutes from activity_hours
  where workspace_id = $1::uuid and day between $2::date and $3::date and day <> all($4::date[])
  group by weekday, hour`,
)

/** Local hours from the rollups of all days except these. */
export const readCells = (
  tx: Db,
  { workspaceId, from, to }: Sources,
  without: string[],
): Promise<HeatmapCell[]> => tx.rows(READ_CELLS, [workspaceId, from, to, without])

const READ_RAW_ZONE_DAYS = zoneDays('read raw hours by zone', RAW)

/** UTC hours from days that are read from the activity. */
export const readRawZoneDays = (tx: Db, sources: Sources): Promise<ZoneCrew[]> =>
  tx.rows(READ_RAW_ZONE_DAYS, activityOf(sources))

/** SQL: current and former members of the workspace $1. */
const PEOPLE = `(
    select user_id from members where workspace_id = $1::uuid
    union select user_id from activity_people where workspace_id = $1::uuid
  ) p join users u on u.id = p.user_id`

const LIST_TIMEZONES = statement(
  'list the time zones of a workspace',
  { timezone: text },
  `select distinct ${ZONE} as timezone from ${PEOPLE}`,
)

export const listTimezones = async (tx: Db, workspaceId: string): Promise<string[]> => {
  const rows = await tx.rows(LIST_TIMEZONES, [workspaceId])
  return rows.map(({ timezone }) => timezone)
}

const READ_REPO_ZONE_DAYS = statement(
  'read the hours of a repository by zone',
  { day: date, timezone: text, hours: integers, people: uuids },
  `
  select d.day, z.timezone, case when d.hours[z.n][1] is not null then array(select unnest(d.hours[z.n:z.n])) else (
      select ${SUM_OF_HOURS} from activity a
      where a.workspace_id = $1::uuid and a.user_id = any(d.crews[z.n:z.n]) and a.day = d.day and a.repo_key = $2::text
    ) end as hours, array_remove(array(select unnest(d.crews[z.n:z.n])), null) as people
  from activity_repo_days d cross join unnest(d.timezones) with ordinality as z (timezone, n)
  where d.workspace_id = $1::uuid and d.repo_key = $2::text and d.day = any($3::date[])`,
)

/** UTC hours of a repository, from the rollups of all days that aren't read from the activity. */
export const readRepoZoneDays = (tx: Db, sources: Sources): Promise<ZoneCrew[]> =>
  tx.rows(READ_REPO_ZONE_DAYS, [sources.workspaceId, sources.repoKey ?? '', rolledUpDays(sources)])

/** Without one or two people in a time zone, possibly including the viewer, no repository has `others = 1` below. */
const LIST_DAYS_TO_COMPARE = statement(
  'list the days on which repositories are compared',
  { day: date },
  `
  select d.day from unnest($2::date[]) as d (day)
  cross join lateral (
    select from activity_repo_days a
    where a.workspace_id = $1::uuid and a.day = d.day and a.crew_sizes && array[1, 2] limit 1
  ) a`,
)

/** The rolled-up days on which a repository may have only one other person. On other days, no repository is held back. */
export const listDaysToCompare = async (
  tx: Db,
  { workspaceId }: Sources,
  days: string[],
): Promise<string[]> => {
  const rows = await tx.rows(LIST_DAYS_TO_COMPARE, [workspaceId, days])
  return rows.map(({ day }) => day)
}

/**
 * $1: the workspace; $2: the viewer; $3: the repository; $4: days; $5 to $7: for each of them and every time zone the number of
 * its clock. `worked`, by day, repository and time zone: how many people other than the viewer have hours, and if only one does, a value that identifies that person for the day.
 */
const findSharedClocks = (name: string, worked: string) =>
  statement(
    name,
    { clock: integer },
    `
  with ${worked}, repos as (
    select c.clock, w.repo_key, sum(w.others) as others, min(w.one) as one
    from worked w join unnest($5::date[], $6::text[], $7::int[]) as c (day, timezone, clock) using (day, timezone)
    where w.others > 0
    group by c.clock, w.repo_key
  ), ranked as (
    select *, row_number() over (partition by clock order by others = 1, others, repo_key) as rank,
      min(one) filter (where others = 1) over (partition by clock)
        = max(one) filter (where others = 1) over (partition by clock) as is_one_alone
    from repos
  )
  select clock from ranked
  where repo_key = $3::text and others > 1 and not (rank = 1 and is_one_alone is true)`,
  )

const FIND_SHARED_CLOCKS = {
  raw: findSharedClocks(
    'find who shares the raw hours of a repository',
    `people as materialized (
    select u.id, ${ZONE} as timezone, row_number() over ()::text as one
    from ${PEOPLE}
    where u.id <> $2::uuid and u.repohost_id is not null
  ), worked as (
    select a.day, a.repo_key, p.timezone, count(*) as others, min(p.one) as one
    from activity a join people p on p.id = a.user_id
    where a.workspace_id = $1::uuid and a.day = any($4::date[]) and 0 < any(a.hours)
    group by a.day, a.repo_key, p.timezone
  )`,
  ),
  // The rollup names people only for small groups, so the viewer's own hours are looked up.
  rolledUp: findSharedClocks(
    'find who shares the hours of a repository',
    `own as materialized (
    select a.day, a.repo_key, ${ZONE} as timezone
    from activity a join users u on u.id = a.user_id
    where a.workspace_id = $1::uuid and a.user_id = $2::uuid and a.day = any($4::date[]) and 0 < any(a.hours)
  ), worked as (
    select d.day, d.repo_key, z.timezone, z.people - (own.day is not null)::int as others,
      case when d.crews[z.n][1] = $2::uuid then d.crews[z.n][2] else d.crews[z.n][1] end::text as one
    from activity_repo_days d
    cross join unnest(d.timezones, d.crew_sizes) with ordinality as z (timezone, people, n)
    left join own on own.day = d.day and own.repo_key = d.repo_key and own.timezone = z.timezone
    where d.workspace_id = $1::uuid and d.day = any($4::date[])
  )`,
  ),
}

/**
 * The numbers of the clocks whose hours in the repository may be shown. At least two other people must have hours in
 * it. If exactly one person has hours in repositories that no one else has hours in, the repository with the fewest
 * people is held back together with those, so this must not be that repository.
 */
export const listSharedClocks = async (
  tx: Db,
  source: keyof typeof FIND_SHARED_CLOCKS,
  { workspaceId, repoKey }: Sources,
  viewerId: string,
  days: string[],
  clocks: { day: string; timezone: string; clock: number }[],
): Promise<number[]> => {
  const rows = await tx.rows(FIND_SHARED_CLOCKS[source], [
    workspaceId,
    viewerId,
    repoKey ?? '',
    days,
    clocks.map(({ day }) => day),
    clocks.map(({ timezone }) => timezone),
    clocks.map(({ clock }) => clock),
  ])
  return rows.map(({ clock }) => clock)
}
