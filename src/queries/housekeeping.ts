import { sql } from 'drizzle-orm'
import type { Db } from '../db/client.js'

/** Any number that no other program on the database uses for its own lock. */
const HOUSEKEEPING_LOCK = 7_318_214_906

/** Waits until no other transaction, of whichever instance, keeps house; none does until this one ends. */
export const takeHousekeepingTurn = async (tx: Db): Promise<void> => {
  await tx.execute(sql`select pg_advisory_xact_lock(${HOUSEKEEPING_LOCK}::bigint)`)
}
