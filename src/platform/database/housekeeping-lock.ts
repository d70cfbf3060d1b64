import type { Db } from './client.js'
import { AT_COORDINATOR, locks } from './locks.js'
import { statement } from './statement.js'

const LOCK_HOUSEKEEPING = statement(
  'take the turn at housekeeping',
  {},
  `select pg_advisory_xact_lock(${locks.housekeeping}) from ${AT_COORDINATOR}`,
)

/** Waits for other housekeeping transactions, on all instances, and blocks them until this one ends. */
export const lockHousekeeping = async (tx: Db): Promise<void> => {
  await tx.rows(LOCK_HOUSEKEEPING, [])
}
