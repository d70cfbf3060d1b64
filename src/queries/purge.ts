/** Removes what a deleted workspace leaves behind. */
import { getTableName, isNotNull } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Db } from '../db/client.js'
import {
  activity,
  activityDays,
  activityMonths,
  activityPeople,
  activityRepoDays,
  activityRepoMonths,
  activityRepos,
  auditEntries,
  invites,
  members,
  overrides,
  patterns,
  removals,
  snapshots,
  snapshotVersions,
  staleDays,
  workspaces,
} from '../db/tables.js'

/** Every table with a `workspace_id`; a test holds the list against the database. */
export const tablesOfWorkspaces: PgTable[] = [
  invites,
  members,
  removals,
  patterns,
  snapshotVersions,
  snapshots,
  overrides,
  auditEntries,
  activity,
  activityDays,
  activityMonths,
  activityRepoDays,
  activityRepoMonths,
  staleDays,
  activityRepos,
  activityPeople,
]

/**
 * One step of removing one deleted workspace: at most so many rows of one table, or at the end the workspace itself.
 * @returns whether there was something to do
 */
export const purgeDeletedWorkspaces = async (tx: Db, rows: number): Promise<boolean> => {
  const [gone] = await tx
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(isNotNull(workspaces.deletedAt))
    .limit(1)
  if (!gone) return false
  for (const table of tablesOfWorkspaces) {
    const name = getTableName(table)
    const deleted = await tx.statement(
      `delete from ${name} where ctid = any (array(
          select ctid from ${name} where workspace_id = $1::uuid limit $2::int
        )) returning 1`,
      [gone.id, rows],
    )
    if (deleted.length > 0) return true
  }
  await tx.statement('delete from workspaces where id = $1::uuid', [gone.id])
  return true
}
