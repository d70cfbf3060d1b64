/** For tests of what happens while a transaction waits for a lock. */
import type { Parameter } from '../src/platform/database/client.js'
import { isCluster } from './database.js'
import type { Service } from './service.js'
import { until } from './until.js'

/** Does `work` while a transaction holds the locks of this statement, and then rolls it back. */
export const whileHeld = async (
  { database }: Service,
  [text, ...parameters]: [string, ...Parameter[]],
  work: () => Promise<void>,
): Promise<void> => {
  class Undo extends Error {}
  const held = database.transaction(async (tx) => {
    await tx.statement('set local idle_in_transaction_session_timeout = 0', [])
    await tx.statement(text, parameters)
    await work()
    throw new Undo()
  })
  await held.catch((error) => {
    if (!(error instanceof Undo)) throw error
  })
}

/** On a cluster, a transaction can wait for a lock on any node, in several sessions that share a number. */
const COUNT_WAITERS = {
  alone: `
    select count(*)::int as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`,
  cluster: `
    select count(distinct global_pid)::int as waiting from citus_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`,
}

/** How many connections to the database wait for a lock, including those of other processes. */
export const countLockWaiters = async ({ database }: Service): Promise<number> => {
  const text = (await isCluster()) ? COUNT_WAITERS.cluster : COUNT_WAITERS.alone
  const [row] = await database.hot.statement<{ waiting: number }>(text, [])
  return row?.waiting ?? 0
}

/** Resolves as soon as this many wait. */
export const lockWaiters = async (service: Service, count = 1): Promise<void> => {
  await until(async () => (await countLockWaiters(service)) >= count, `${count} wait for a lock`)
}
