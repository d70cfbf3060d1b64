/** Removes what a deleted workspace leaves behind. */
import { overrides, snapshots, snapshotVersions } from '../../settings/index.js'
import { activity, activityDays, activityHours, activityMemberDays, activityMemberMonths, activityPeople, activityRepoDays, activityRepoMonths, activityRepoPeople, activityRepos, dashboardViews, publishedCells, publishedDays, publishedRepos, publishedWeeks, staleDays } from '../../activity/index.js'
import { asc, getTableName, isNotNull } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Db } from '../../../platform/database/client.js'
import { limitedDelete } from '../../../platform/database/limited-delete.js'
import { statement } from '../../../platform/database/statement.js'
import {
  auditEntries,
  invites,
  members,
  patterns,
  privacyLevelsOfWorkspaces,
  removals,
  removedPeople,
  workspaces,
} from '../tables.js'

/**
 * Every table with a `workspace_id`; a test holds the list against the database. The marks of stale days go before the
 * rollups: who rolls up holds them, and nobody does once they are gone.
 */
export const tablesOfWorkspaces: PgTable[] = [
  invites,
  members,
  removals,
  removedPeople,
  patterns,
  snapshotVersions,
  snapshots,
  overrides,
  auditEntries,
  dashboardViews,
  activity,
  staleDays,
  activityDays,
  activityMemberDays,
  activityMemberMonths,
  activityRepoDays,
  activityRepoMonths,
  activityRepoPeople,
  activityHours,
  activityRepos,
  activityPeople,
  publishedDays,
  publishedRepos,
  publishedCells,
  publishedWeeks,
  privacyLevelsOfWorkspaces,
]

const PURGES = tablesOfWorkspaces.map((table) =>
  limitedDelete(`purge ${getTableName(table)}`, table, 'workspace_id = $1::uuid', '$2'),
)
const PURGE_WORKSPACE = statement('purge a workspace', {}, 'delete from workspaces where id = $1::uuid')

/** The longest deleted first. */
export const listDeletedWorkspaces = (db: Db): Promise<{ id: string }[]> =>
  db
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(isNotNull(workspaces.deletedAt))
    .orderBy(asc(workspaces.deletedAt), asc(workspaces.id))

/**
 * One step of removing a deleted workspace: at most so many rows of one table, or at the end the workspace itself.
 * @returns whether there may be more to do
 */
export const purgeWorkspace = async (tx: Db, id: string, rows: number): Promise<boolean> => {
  for (const purge of PURGES) if ((await tx.rows(purge, [id, rows])).length > 0) return true
  await tx.rows(PURGE_WORKSPACE, [id])
  return false
}
