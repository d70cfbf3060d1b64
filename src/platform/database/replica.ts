/**
 * Reads on a streaming replica that miss nothing: before each one, the primary tells its position, and the replica answers
 * once it has reached it. A read that fails or takes too long there runs on the primary.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { CircuitBreaker } from '../process/circuit-breaker.js'
import type { Db, Tx } from './db.js'
import { codeOf, isDatabaseUnavailable } from './failures.js'
import { singleRow } from './single-row.js'
import { bool, orNull, statement, text } from './statement.js'

/** Called once when the replica is lost, and once when it is used again. */
export interface ReplicaEvents {
  onLost(reason: unknown): void
  onRestored(): void
}

export interface Replica {
  /** Runs `work` there, or else with `onPrimary`. */
  read<T>(work: Work<T>, onPrimary: (work: Work<T>) => Promise<T>): Promise<T>
  /** Whether reads go there now. */
  isUsed(): boolean
  /** Resolves after the first probe, within two seconds. */
  start(): Promise<void>
  close(): void
}

type Work<T> = (tx: Tx) => Promise<T>

interface ReplicaOptions {
  primary: { hot: Db; reserved: Db }
  /** A connection that no request uses. */
  replica: Db
  /** Runs a transaction on the replica. */
  begin: <T>(work: Work<T>) => Promise<T>
  events: ReplicaEvents
  /** Called for each read. */
  count: (server: 'replica' | 'primary') => void
}

/** How long a read waits for the replica to catch up. */
const CATCH_UP_MS = 200

const CLUSTER = `(select system_identifier::text from pg_control_system())
    || ' ' || (select oid::text from pg_database where datname = current_database())`

/**
 * Which database this is, on which timeline, and how far it is: as far as anything is that was acknowledged. Where commits
 * do not wait for the disk, that is more than was written.
 */
const READ_POSITION = statement(
  'read how far the primary is',
  { cluster: text, position: text, distributed: bool },
  `
  select ${CLUSTER} || ' ' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as cluster,
    (case current_setting('synchronous_commit')
      when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_lsn() end)::text as position,
    exists (select from pg_extension where extname = 'citus') as distributed`,
)

const READ_PROGRESS = statement(
  'read whether a replica is as far',
  { cluster: orNull(text), follows: bool, reached: bool },
  `
  select ${CLUSTER} || ' ' || upper(lpad(to_hex(timeline_id), 8, '0')) as cluster, pg_is_in_recovery() as follows,
    coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false) as reached
  from pg_control_checkpoint()`,
)

/** Later statements see a snapshot that begins after the check of the replica. */
const BEGIN_ANEW = statement('begin a new transaction on the same connection', {}, 'commit and chain')

/** The replica cannot be used for reads, and another check would not change that. */
export class NotAReplica extends Error {}

/** It is behind: by more than a request waits for, or by as much as when it was last looked at. */
export class ReplicaBehind extends Error {}

/** Errors that concern only this read, such as a cancellation or a full queue. */
const ofOneRead = new Set(['DATABASE_BUSY', '40001', '40P01', '55P03', '57014'])

/** Whether the replica is lost, and not only this read. */
const isFault = (error: unknown) =>
  error instanceof NotAReplica ||
  error instanceof ReplicaBehind ||
  (isDatabaseUnavailable(error) && !ofOneRead.has(codeOf(error) ?? ''))

/** @throws {NotAReplica} where reads could never go to a replica */
export const readPosition = async (primary: Db) => {
  const { distributed, ...position } = singleRow(await primary.rows(READ_POSITION, []))
  if (distributed)
    throw new NotAReplica('Citus distributes the database, so a single replica does not have all of it')
  return position
}

/** Waits until the replica is as far. @throws {NotAReplica, ReplicaBehind} */
export const waitForPosition = async (
  replica: Db,
  { cluster, position }: { cluster: string; position: string },
  waitMs = CATCH_UP_MS,
): Promise<void> => {
  const deadline = Date.now() + waitMs
  for (let pauseMs = 2; ; pauseMs *= 2) {
    const progress = singleRow(await replica.rows(READ_PROGRESS, [position]))
    if (!progress.follows) throw new NotAReplica('It is a primary, not a replica')
    if (progress.cluster !== cluster)
      throw new NotAReplica(
        `It is not a replica of the current primary of DATABASE_URL: cluster, database and timeline are ${progress.cluster}, not ${cluster}`,
      )
    if (progress.reached) return
    if (Date.now() + pauseMs > deadline) throw new ReplicaBehind(`It is more than ${waitMs} ms behind`)
    await sleep(pauseMs)
  }
}

export const createReplica = ({ primary, replica, begin, events, count }: ReplicaOptions): Replica => {
  const circuit = new CircuitBreaker({
    probe: async () => {
      await waitForPosition(replica, await readPosition(primary.reserved))
    },
    isFault,
    ...events,
  })
  return {
    read: async (work, onPrimary) => {
      if (!circuit.isOpen) {
        const position = await readPosition(primary.hot)
        try {
          const answer = await circuit.run(() =>
            begin(async (tx) => {
              await waitForPosition(tx, position)
              await tx.rows(BEGIN_ANEW, [])
              return work(tx)
            }),
          )
          count('replica')
          return answer
        } catch {
          // The primary answers, and what fails there as well has failed.
        }
      }
      const answer = await onPrimary(work)
      count('primary')
      return answer
    },
    isUsed: () => !circuit.isOpen,
    start: () => circuit.start(),
    close: () => circuit.close(),
  }
}
