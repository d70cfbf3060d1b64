/**
 * Activity written by the previous version doesn't say where its hours are on people's calendars. This adds it, a UTC
 * day of a workspace at a time, with the person's present time zone.
 */
import type { Db } from '../../../platform/database/client.js'
import {
  date,
  integer,
  integers,
  orNull,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'
import { groupBy } from '../../../platform/process/maps.js'
import { daysOf, markDays, sharesOf } from '../../minutes/index.js'
import type { WorkspaceDay } from './rollups.js'

/** How many days are listed at once, so that changed days don't wait for all of them. */
const DAYS_LISTED = 20_000

/** Skips deleted workspaces. */
const LIST_UNASSIGNED_DAYS = statement(
  'list unassigned days',
  { workspaceId: uuid, day: date },
  `
  select distinct d.workspace_id as "workspaceId", d.day
  from (
    select workspace_id, day from stale_days
    union all (
      select l.workspace_id, l.day
      from activity_days l join workspaces w on w.id = l.workspace_id and w.deleted_at is null
      where l.by_local_day is null
      order by l.workspace_id, l.day limit ${DAYS_LISTED}
    )
  ) d join workspaces w on w.id = d.workspace_id and w.deleted_at is null
  order by d.workspace_id, d.day
  limit $1::int`,
)

export const listUnassignedDays = (db: Db, limit: number): Promise<WorkspaceDay[]> =>
  db.rows(LIST_UNASSIGNED_DAYS, [limit])

/** Locks the rows in the order in which flushes do. */
const LOCK_ROWS = statement(
  'lock activity for local days',
  {
    userId: uuid,
    repoKey: text,
    minutes: integer,
    hours: integers,
    timezone: text,
    known: orNull(text),
    before: integer,
    after: integer,
  },
  `
  select a.user_id as "userId", a.repo_key as "repoKey", a.minutes, a.hours,
    coalesce(a.timezone, u.timezone, 'UTC') as timezone, a.timezone as known,
    a.minutes_before as before, a.minutes_after as after
  from activity a left join users u on u.id = a.user_id
  where a.workspace_id = $1::uuid and a.day = $2::date and a.hours is not null
  order by a.user_id, a.day, a.repo_key collate "C"
  for update of a`,
)

const READ_OTHER_ZONES = statement(
  'read other time zones',
  { userId: uuid, repoKey: text, timezone: text, hours: integers },
  `
  select user_id as "userId", repo_key as "repoKey", timezone, hours from activity_other_zones
  where workspace_id = $1::uuid and day = $2::date`,
)

/** $1, $2: workspace and day; per row: $3 user, $4 repository, $5 time zone, $6 and $7 minutes before and after. */
const ASSIGN_ROWS = statement(
  'assign activity to local days',
  {},
  `
  update activity a set timezone = r.timezone, minutes_before = r.before, minutes_after = r.after
  from unnest($3::uuid[], $4::text[], $5::text[], $6::int[], $7::int[]) as r (user_id, repo_key, timezone, before, after)
  where a.workspace_id = $1::uuid and a.day = $2::date and a.user_id = r.user_id and a.repo_key = r.repo_key`,
)

const DELETE_MARKS = [
  statement(
    'delete local day marks',
    {},
    'delete from stale_days where workspace_id = $1::uuid and day = $2::date',
  ),
  statement(
    'mark local day',
    {},
    'update activity_days set by_local_day = true where workspace_id = $1::uuid and day = $2::date and by_local_day is null',
  ),
]

/** Locates a UTC day's activity, and marks the local days where it is or was. */
export const assignToLocalDays = async (tx: Db, { workspaceId, day }: WorkspaceDay): Promise<void> => {
  // The marks go first: rows that are written after they were read have marks of their own.
  await Promise.all(DELETE_MARKS.map((end) => tx.rows(end, [workspaceId, day])))
  const rows = await tx.rows(LOCK_ROWS, [workspaceId, day])
  const others = groupBy(
    await tx.rows(READ_OTHER_ZONES, [workspaceId, day]),
    ({ userId, repoKey }) => `${userId} ${repoKey}`,
  )
  const touched = new Set([day])
  const assigned = rows.flatMap(({ userId, repoKey, minutes, hours, timezone, known, ...was }) => {
    const own = [...hours]
    const shares = { before: 0, after: 0 }
    const add = (one: { timezone: string; hours: readonly number[] }) => {
      const { before, after } = sharesOf({ day, ...one })
      shares.before += before
      shares.after += after
    }
    for (const other of others.get(`${userId} ${repoKey}`) ?? []) {
      add(other)
      other.hours.forEach((minutes, hour) => {
        own[hour] = (own[hour] ?? 0) - minutes
      })
    }
    add({ timezone, hours: own })
    for (const one of [was, shares]) for (const local of daysOf(day, minutes, one)) touched.add(local)
    const isSame = known !== null && was.before === shares.before && was.after === shares.after
    return isSame ? [] : [{ userId, repoKey, timezone, ...shares }]
  })
  if (assigned.length > 0)
    await tx.rows(ASSIGN_ROWS, [
      workspaceId,
      day,
      assigned.map(({ userId }) => userId),
      assigned.map(({ repoKey }) => repoKey),
      assigned.map(({ timezone }) => timezone),
      assigned.map(({ before }) => before),
      assigned.map(({ after }) => after),
    ])
  await markDays(tx, workspaceId, [...touched])
}
