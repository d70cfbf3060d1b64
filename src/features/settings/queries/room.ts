/** The room that the overrides and the current snapshots of a workspace take up. */
import type { Db } from '../../../platform/database/client.js'
import { locksOfWorkspaces } from '../../../platform/database/locks.js'
import { bool, statement } from '../../../platform/database/statement.js'

const LOCK_ROOM = statement(
  'lock the room of a workspace',
  {},
  `select pg_advisory_xact_lock(${locksOfWorkspaces.room}, hashtext($1::uuid::text))`,
)

/** $1: the workspace; $2: the limit. */
const IS_WITHIN = statement(
  'whether a workspace is within its room',
  { within: bool },
  `
  select coalesce((select sum(size_bytes) from snapshots where workspace_id = $1::uuid), 0)
    + coalesce((select sum(size_bytes) from overrides where workspace_id = $1::uuid), 0) <= $2::bigint as within`,
)

/**
 * Whether a workspace has at most so many bytes, with what this transaction has written. Those who ask of one workspace
 * do so one after the other and each until its transaction ends, so that two do not both take what is left. It is asked
 * last: whoever holds this lock waits for no other.
 */
export const isWithinRoom = async (tx: Db, workspaceId: string, bytes: number): Promise<boolean> => {
  // Sent together; the sum is read once the lock is there.
  const [, [row]] = await Promise.all([
    tx.rows(LOCK_ROOM, [workspaceId]),
    tx.rows(IS_WITHIN, [workspaceId, bytes]),
  ])
  return row?.within === true
}
