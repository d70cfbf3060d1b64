/**
 * Reads on a streaming replica that miss nothing: before each, the primary says how far it is, and the replica answers only
 * once it has come so far. Whatever fails or takes too long there is done on the primary, whose answer counts.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Circuit } from '../process/circuit.js'
import type { Db, Tx } from './door.js'
import { codeOf, isDatabaseUnavailable } from './failures.js'
import { bool, orNull, statement, text } from './statement.js'
import { theRow } from './the-row.js'

/** Is told once when the replica is lost, and once when it is used again. */
export interface ReplicaWatch {
  lost(reason: unknown): void
  found(): void
}

export interface Replica {
  /** Runs `work` there, or else with `onPrimary`. */
  read<T>(work: Work<T>, onPrimary: (work: Work<T>) => Promise<T>): Promise<T>
  /** Whether reads go there now. */
  isUsed(): boolean
  /** Resolves after the first look, within two seconds. */
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
  watch: ReplicaWatch
  /** Is told of each read that was done. */
  count: (server: 'replica' | 'primary') => void
}

/** How long a read waits for the replica to come as far as the primary. */
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

/** What follows sees a state of its own, and none from before the replica was asked. */
const BEGIN_ANEW = statement('begin a new transaction on the same connection', {}, 'commit and chain')

/** The replica cannot be used for reads, and would not be if it were asked again. */
export class NotAReplica extends Error {}

/** It is behind: by more than a request waits for, or by as much as when it was last looked at. */
export class ReplicaBehind extends Error {}

/** What says of a read alone that it was cancelled, or had no turn. */
const ofOneRead = new Set(['DATABASE_BUSY', '40001', '40P01', '55P03', '57014'])

/** Whether the replica is lost, and not only this read. */
const isFault = (error: unknown) =>
  error instanceof NotAReplica ||
  error instanceof ReplicaBehind ||
  (isDatabaseUnavailable(error) && !ofOneRead.has(codeOf(error) ?? ''))

/** @throws {NotAReplica} where reads could never go to a replica */
export const readPosition = async (primary: Db) => {
  const { distributed, ...position } = theRow(await primary.rows(READ_POSITION, []))
  if (distributed) throw new NotAReplica('The database is spread by Citus: one replica has not all of it')
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
    const progress = theRow(await replica.rows(READ_PROGRESS, [position]))
    if (!progress.follows) throw new NotAReplica('It is a primary itself, and follows nobody')
    if (progress.cluster !== cluster)
      throw new NotAReplica(
        `It is not a replica of DATABASE_URL as that is now: cluster, database and timeline are ${progress.cluster}, not ${cluster}`,
      )
    if (progress.reached) return
    if (Date.now() + pauseMs > deadline) throw new ReplicaBehind(`It is more than ${waitMs} ms behind`)
    await sleep(pauseMs)
  }
}

export const createReplica = ({ primary, replica, begin, watch, count }: ReplicaOptions): Replica => {
  const circuit = new Circuit({
    probe: async () => {
      await waitForPosition(replica, await readPosition(primary.reserved))
    },
    isFault,
    ...watch,
  })
  return {
    read: async (work, onPrimary) => {
      if (!circuit.isAway) {
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
    isUsed: () => !circuit.isAway,
    start: () => circuit.start(),
    close: () => circuit.close(),
  }
}
