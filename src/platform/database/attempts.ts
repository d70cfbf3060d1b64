/**
 * Attempts at units of background work, such as a workspace's month. Each is recorded before it begins, outside of its
 * transaction: a unit that fails waits before it's tried again, longer each time, even if it ended the process. Meanwhile the
 * other units are done.
 */
import type { Database, Db } from './client.js'
import { statement, text } from './statement.js'

/** Work whose units wait after a failure. */
export type Job = 'days' | 'months' | 'weeks' | 'erasures'

const LIST_WAITING = statement(
  'list units that wait',
  { unit: text },
  'select unit from attempts where job = $1::text and next_at > now()',
)

/** The units that are not to be tried yet. */
export const listWaiting = async (db: Db, job: Job): Promise<Set<string>> =>
  new Set((await db.rows(LIST_WAITING, [job])).map(({ unit }) => unit))

/** Waits a minute after the first failure, then twice as long each time, up to 17 hours. */
const BEGIN_ATTEMPT = statement(
  'begin attempt',
  {},
  `
  insert into attempts as a (job, unit, failures, next_at) values ($1::text, $2::text, 1, now() + interval '1 minute')
  on conflict (job, unit) do update set failures = least(a.failures + 1, 11),
    next_at = now() + interval '1 minute' * power(2, least(a.failures, 10))`,
)

const END_ATTEMPT = statement(
  'end attempt',
  {},
  'delete from attempts where job = $1::text and unit = $2::text',
)

/**
 * Does a unit of work, and records it as failed until it's done.
 * @param work in a background transaction; undefined if another instance is at it. It calls `begin` once it knows that none is
 */
export const attempt = async <Result>(
  database: Database,
  job: Job,
  unit: string,
  work: (tx: Db, begin: () => Promise<unknown>) => Promise<Result | undefined>,
): Promise<Result | undefined> => {
  const result = await database.transaction(
    (tx) => work(tx, () => database.write.rows(BEGIN_ATTEMPT, [job, unit])),
    { background: true },
  )
  if (result !== undefined) await database.write.rows(END_ATTEMPT, [job, unit])
  return result
}
