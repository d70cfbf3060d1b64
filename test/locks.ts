/** For tests of what happens while somebody waits for a lock. */
import type { Parameter } from '../src/db/client.js'
import type { Service } from './service.js'
import { until } from './until.js'

/** Does `work` while a transaction holds what this statement locks; the transaction then leaves no trace. */
export const whileHeld = async (
  { database }: Service,
  [text, ...parameters]: [string, ...Parameter[]],
  work: () => Promise<void>,
): Promise<void> => {
  class Undo extends Error {}
  const held = database.transaction(async (tx) => {
    await tx.statement(text, parameters)
    await work()
    throw new Undo()
  })
  await held.catch((error) => {
    if (!(error instanceof Undo)) throw error
  })
}

/** How many connections to the database, of whichever process, wait for a lock. */
export const countLockWaiters = async ({ database }: Service): Promise<number> => {
  const text = `
    select count(*)::int as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  const [row] = await database.hot.statement<{ waiting: number }>(text, [])
  return row?.waiting ?? 0
}

/** Resolves as soon as so many wait. */
export const lockWaiters = async (service: Service, count = 1): Promise<void> => {
  await until(async () => (await countLockWaiters(service)) >= count, `${count} wait for a lock`)
}
