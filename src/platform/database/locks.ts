/**
 * The numbers of our advisory locks, all in one place because they share one space in a database: two uses of one number
 * would deadlock.
 */
import { statement } from './statement.js'

export const locks = {
  /** Held by the service that owns an embedded cluster, for as long as it lives. */
  owner: 7_318_214_901,
  /** Held while the schema is migrated. */
  migration: 7_318_214_902,
  /** Held by the running step of housekeeping. */
  housekeeping: 7_318_214_903,
  /** Held while days are rolled up. */
  rollup: 7_318_214_904,
} as const

/** Locks with two numbers, which are a separate set. The second number is a hash of the user's id. */
export const locksOfUsers = {
  /** Held while a user's workspaces are counted and one is added. */
  workspaces: 1,
  /** Held while a person's heartbeats are counted. */
  heartbeats: 11,
} as const

/** The same with a hash of the workspace's id. */
export const locksOfWorkspaces = {
  /** Held while the storage quota is checked. */
  room: 2,
  /** Held while a workspace's administration changes. */
  administration: 4,
  /** Shared by transactions that rely on a role, and exclusive while roles change. */
  roles: 3,
} as const

/** Declares the wait for a lock of the user, or of the workspace, whose id is $1. It is held until the transaction ends. */
export const lockById = (name: string, lock: number) =>
  statement(name, {}, `select pg_advisory_xact_lock(${lock}, hashtext($1::uuid::text))`)
