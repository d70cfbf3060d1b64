import type { Db } from './client.js'
import { locks } from './locks.js'
import { statement } from './statement.js'

const TAKE_TURN = statement(
  'take the turn at housekeeping',
  {},
  `select pg_advisory_xact_lock(${locks.housekeeping})`,
)

/** Waits until no other transaction, of whichever instance, keeps house; none does until this one ends. */
export const takeHousekeepingTurn = async (tx: Db): Promise<void> => {
  await tx.rows(TAKE_TURN, [])
}
