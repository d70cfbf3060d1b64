/** Removes what a deleted workspace leaves behind. */
import { isNotNull } from 'drizzle-orm'
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core'
import type { Db } from '../db/client.js'
import { integer, statement } from '../db/statement.js'
import {
  activity,
  activityDays,
  activityHours,
  activityMemberDays,
  activityMemberMonths,
  activityPeople,
  activityRepoDays,
  activityRepoMonths,
  activityRepoPeople,
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

/**
 * Every table with a `workspace_id`; a test holds the list against the database. The marks of stale days go before the
 * rollups: who rolls up holds them, and nobody does once they are gone.
 */
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
]

/** By the primary key, because rows that are spread over several nodes have no other name. */
const purges = tablesOfWorkspaces.map((table) => {
  const { name, columns, primaryKeys } = getTableConfig(table)
  const key = (primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary)).map(
    (column) => column.name,
  )
  return statement(
    `purge_${name}`,
    { purged: integer },
    `
  delete from ${name}
  where workspace_id = $1::uuid
    and (${key}) in (select ${key} from ${name} where workspace_id = $1::uuid limit $2::int)
  returning 1 as purged`,
  )
})

const PURGE_WORKSPACE = statement('purge_workspace', {}, 'delete from workspaces where id = $1::uuid')

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
  for (const purge of purges) {
    const deleted = await tx.rows(purge, [gone.id, rows])
    if (deleted.length > 0) return true
  }
  await tx.rows(PURGE_WORKSPACE, [gone.id])
  return true
}
