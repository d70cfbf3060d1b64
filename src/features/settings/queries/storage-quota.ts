/** The storage used by a workspace's overrides and current snapshots. */
import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
import { lockOfWorkspace, locksOfWorkspaces } from '../../../platform/database/locks.js'
import { bool, double, singleRow, statement, uuid } from '../../../platform/database/statement.js'

const LOCK_QUOTA = lockOfWorkspace('lock workspace quota', locksOfWorkspaces.quota)

const COUNTED_BYTES = `greatest(size_bytes, ${limits.workspace_bytes_per_settings})`

/** $1: the workspace; $2: the limit. */
const IS_WITHIN_QUOTA = statement(
  'check workspace quota',
  { within: bool },
  `
  select coalesce((select sum(${COUNTED_BYTES}) from snapshots where workspace_id = $1::uuid), 0)
    + coalesce((select sum(${COUNTED_BYTES}) from overrides where workspace_id = $1::uuid), 0) <= $2::bigint as within`,
)

/**
 * Transactions that check the same workspace run one by one from here on, so that two can't both use the remaining space.
 * Call it last, because a holder of this lock must not wait for another one.
 */
export const lockStorageQuota = async (tx: Db, workspaceId: string): Promise<void> => {
  await tx.rows(LOCK_QUOTA, [workspaceId])
}

/** Whether a workspace uses at most `bytes`, including what this transaction has written. */
export const isWithinQuota = async (db: Db, workspaceId: string, bytes: number): Promise<boolean> =>
  singleRow(await db.rows(IS_WITHIN_QUOTA, [workspaceId, bytes])).within

/** $1: the workspaces. One statement for each table, because a cluster joins these tables by other columns only. */
const sumStorage = (table: string) =>
  statement(
    `sum workspace ${table}`,
    { workspaceId: uuid, bytes: double },
    `
  select workspace_id as "workspaceId", sum(${COUNTED_BYTES})::float8 as bytes
  from ${table} where workspace_id = any($1::uuid[]) group by workspace_id`,
  )
const SUMS = [sumStorage('snapshots'), sumStorage('overrides')]

/** The bytes that workspaces use, as the quota counts them. Workspaces without settings are left out. */
export const readStorage = async (db: Db, workspaceIds: string[]): Promise<Map<string, number>> => {
  const used = new Map<string, number>()
  for (const rows of await Promise.all(SUMS.map((sum) => db.rows(sum, [workspaceIds]))))
    for (const { workspaceId, bytes } of rows) used.set(workspaceId, (used.get(workspaceId) ?? 0) + bytes)
  return used
}
