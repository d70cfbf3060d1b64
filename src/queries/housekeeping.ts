import { sql } from 'drizzle-orm'
import type { Db } from '../db/client.js'
import { locks } from '../db/locks.js'

/** Waits until no other transaction, of whichever instance, keeps house; none does until this one ends. */
export const takeHousekeepingTurn = async (tx: Db): Promise<void> => {
  await tx.execute(sql`select pg_advisory_xact_lock(${locks.housekeeping}::bigint)`)
}
