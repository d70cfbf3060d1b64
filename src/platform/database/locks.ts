/**
 * Our advisory lock numbers. They're in one place because a database has a single number space, and two uses of one
 * number would deadlock.
 */
import type { Db } from './client.js'
import { bool, statement } from './statement.js'

export const locks = {
  /** Held by the service that owns an embedded cluster for as long as it runs. */
  owner: 7_318_214_901,
  /** Held while the schema is migrated. */
  migration: 7_318_214_902,
  /** Held by the running step of housekeeping. */
  housekeeping: 7_318_214_903,
  /** Held while days are rolled up. */
  rollup: 7_318_214_904,
  /** Held while an instance writes the daily backup. */
  backup: 7_318_214_905,
} as const

/** Two-number locks, which are a separate set. The second number is a hash of the user's id. */
export const locksOfUsers = {
  /** Held while a user's workspaces are counted and one is added. */
  workspaces: 1,
  /** Held while a person's minutes are counted. Version 1.0.0 holds it for heartbeats. */
  minutes: 11,
  /** Held while the patterns of a person's workspaces are counted and some are added. */
  patterns: 12,
} as const

/** Two-number locks. The second number is a hash of the workspace's id. */
export const locksOfWorkspaces = {
  /** Held while the storage quota is checked. */
  quota: 2,
  /** Held while a workspace's administration changes. */
  administration: 4,
  /** Shared by transactions that rely on a role, and exclusive while roles change. */
  roles: 3,
  /** Held while a webhook's commits are recorded, each of which counts once. */
  commits: 13,
} as const

/**
 * SQL: one row, read from the node that has a table's rows. On a cluster, sessions are on different nodes, each with
 * its own advisory locks. So every session takes its lock on the node with the rows. Nothing is read.
 */
const atRowsOf = (table: string, condition = 'true') =>
  `(select count(*) from (select from ${table} where ${condition} limit 0) as none) as here`

/** The migrations are listed on the coordinator of a cluster. */
export const AT_COORDINATOR = atRowsOf('drizzle.__drizzle_migrations')

type LockFunction = 'pg_advisory_xact_lock' | 'pg_advisory_xact_lock_shared'

const lockById =
  (table: string, column: string) =>
  (name: string, lock: number, take: LockFunction = 'pg_advisory_xact_lock') =>
    statement(
      name,
      {},
      `select ${take}(${lock}, hashtext($1::uuid::text)) from ${atRowsOf(table, `${column} = $1::uuid`)}`,
    )

/** The same as `lockOfUser`, without waiting. */
export const tryLockOfUser = (name: string, lock: number) =>
  statement(
    name,
    { isHeld: bool },
    `select pg_try_advisory_xact_lock(${lock}, hashtext($1::uuid::text)) as "isHeld" from ${atRowsOf('flushes', 'user_id = $1::uuid')}`,
  )

/** Declares a statement that waits for a lock on the user with the id $1. It's held until the transaction ends. */
export const lockOfUser = lockById('flushes', 'user_id')
/** Like `lockOfUser`, but for the workspace with the id $1. */
export const lockOfWorkspace = lockById('activity_people', 'workspace_id')

/** Less than `deadlock_timeout`. */
const WAIT_BRIEFLY = statement(
  'set short lock timeout',
  {},
  `select set_config('lock_timeout', '100ms', true)`,
)

/** Makes the transaction fail instead of waiting. */
export const waitBriefly = async (tx: Db): Promise<void> => {
  await tx.rows(WAIT_BRIEFLY, [])
}

const LOCK_HOUSEKEEPING = statement(
  'lock housekeeping',
  {},
  `select pg_advisory_xact_lock(${locks.housekeeping}) from ${AT_COORDINATOR}`,
)

/** Waits for other housekeeping transactions, on all instances, and blocks them until this one ends. */
export const lockHousekeeping = async (tx: Db): Promise<void> => {
  await tx.rows(LOCK_HOUSEKEEPING, [])
}
