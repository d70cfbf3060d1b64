import { sql } from 'drizzle-orm'
import type { Db } from '../db/client.js'

/** Any number that no other program on the database uses for its own lock. */
const HOUSEKEEPING_LOCK = 7_318_214_906

/** Whether this transaction may keep house: no other one does until it ends. */
export const takeHousekeepingTurn = async (tx: Db): Promise<boolean> => {
  const [row] = await tx.execute<{ taken: boolean }>(
    sql`select pg_try_advisory_xact_lock(${HOUSEKEEPING_LOCK}::bigint) as taken`,
  )
  return row?.taken ?? false
}
