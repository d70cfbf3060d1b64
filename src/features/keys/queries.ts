/** Personal and workspace keys, stored by the hash of the secret. The hash outlives the rest of the key. */
import { v7 as uuidv7 } from 'uuid'
import type { AccessKey, Scope } from '../../../schemas/keys.js'
import type { KeyInUse } from '../../platform/access/caller.js'
import type { Db } from '../../platform/database/client.js'
import {
  bool,
  date,
  integer,
  moment,
  orNull,
  type RowOf,
  singleRow,
  statement,
  text,
  textOf,
  texts,
  uuid,
} from '../../platform/database/statement.js'
import { toTimestamp } from '../../platform/time/clock.js'

const TODAY = `(now() at time zone 'UTC')::date`
/** SQL: the key `k` with its secret `s` still works. */
const WORKS = 's.revoked_at is null and s.expires_at > now()'

/** $1: the hash. The key's own row is deleted with its person or workspace. */
const FIND_KEY = statement(
  'find access key',
  {
    state: textOf<'active' | 'revoked' | 'expired'>(),
    keyId: uuid,
    name: orNull(text),
    scopes: orNull(texts),
    userId: orNull(uuid),
    workspaceId: orNull(uuid),
    createdBy: orNull(uuid),
    isUsedToday: bool,
  },
  `
  select case when s.revoked_at is not null or k.id is null then 'revoked' when s.expires_at <= now() then 'expired'
      else 'active' end as state,
    s.key_id as "keyId", k.name, k.scopes, k.user_id as "userId", k.workspace_id as "workspaceId",
    k.created_by as "createdBy", coalesce(k.last_used_day >= ${TODAY}, false) as "isUsedToday"
  from key_secrets s left join access_keys k on k.id = s.key_id
  where s.hash = $1::text`,
)

type FoundKey = { state: 'revoked' | 'expired' } | { state: 'active'; key: KeyInUse; isUsedToday: boolean }

/** Undefined for an unknown secret. */
export const findKey = async (db: Db, hash: string): Promise<FoundKey | undefined> => {
  const [row] = await db.rows(FIND_KEY, [hash])
  if (!row) return undefined
  const { state, isUsedToday, ...key } = row
  return state === 'active' ? { state, key: key as KeyInUse, isUsedToday } : { state }
}

const MARK_USED = statement(
  'record access key use',
  {},
  `
  update access_keys set last_used_day = ${TODAY}
  where id = $1::uuid and (last_used_day is null or last_used_day < ${TODAY})`,
)

export const markUsed = async (db: Db, keyId: string): Promise<void> => {
  await db.rows(MARK_USED, [keyId])
}

/** A person or a workspace. */
export type KeyOwner = { userId: string; workspaceId?: never } | { workspaceId: string; userId?: never }

const ownerParameters = ({ userId, workspaceId }: KeyOwner) => [userId ?? null, workspaceId ?? null]

/** SQL: the key `k` belongs to the person $1 or the workspace $2, one of which is null. */
const IS_OF_OWNER = '(k.user_id = $1::uuid or k.workspace_id = $2::uuid)'

const COUNT_KEYS = statement(
  'count owner access keys',
  { keys: integer },
  `
  select count(*)::int as keys from access_keys k join key_secrets s on s.key_id = k.id
  where ${IS_OF_OWNER} and ${WORKS}`,
)

/** How many keys still work. Reliable only while the owner is locked. */
export const countKeys = async (db: Db, owner: KeyOwner): Promise<number> =>
  singleRow(await db.rows(COUNT_KEYS, ownerParameters(owner))).keys

const LIST_KEYS = statement(
  'list owner access keys',
  {
    id: uuid,
    name: text,
    scopes: texts,
    created_by: text,
    created_at: moment,
    expires_at: moment,
    last_used_day: orNull(date),
  },
  `
  select k.id, k.name, k.scopes, u.login as created_by, k.created_at, s.expires_at, k.last_used_day
  from access_keys k join key_secrets s on s.key_id = k.id join users u on u.id = k.created_by
  where ${IS_OF_OWNER} and ${WORKS}
  order by k.id desc`,
)

/** Keys that still work, newest first. */
export const listKeys = async (db: Db, owner: KeyOwner): Promise<AccessKey[]> => {
  const rows = await db.rows(LIST_KEYS, ownerParameters(owner))
  return rows.map((row) => ({
    ...row,
    scopes: row.scopes as Scope[],
    created_at: toTimestamp(row.created_at),
    expires_at: toTimestamp(row.expires_at),
  }))
}

const LIST_CREATED = statement(
  'list access keys by creator',
  {
    id: uuid,
    name: text,
    scopes: texts,
    workspaceId: orNull(uuid),
    expiresAt: moment,
    lastUsedDay: orNull(date),
  },
  `
  select k.id, k.name, k.scopes, k.workspace_id as "workspaceId", s.expires_at as "expiresAt",
    k.last_used_day as "lastUsedDay"
  from access_keys k join key_secrets s on s.key_id = k.id
  where k.created_by = $1::uuid and ${WORKS}
  order by k.id desc`,
)

/** Keys that still work, newest first: personal and workspace keys. */
export const listKeysCreatedBy = (db: Db, userId: string) => db.rows(LIST_CREATED, [userId])

/** $1: the hash; $2: the id. Either can be null. */
const FIND_OWNER = statement(
  'find access key owner',
  { id: uuid, userId: orNull(uuid), login: orNull(text), workspaceId: orNull(uuid) },
  `
  select k.id, k.user_id as "userId", u.login, k.workspace_id as "workspaceId"
  from key_secrets s join access_keys k on k.id = s.key_id left join users u on u.id = k.user_id
  where s.hash = $1::text or s.key_id = $2::uuid`,
)

/** Reads a key that works, or stopped working within `ended_key_days`. */
export const findOwner = async (db: Db, { hash, id }: { hash?: string; id?: string }) =>
  (await db.rows(FIND_OWNER, [hash ?? null, id ?? null]))[0]

export interface NewKey {
  owner: KeyOwner
  createdBy: { id: string; login: string }
  name: string
  scopes: Scope[]
  days: number
  hash: string
}

/** $1, $2: the owner; $3: the id; $4: the creator; $5 to $8: name, scopes, days, hash. */
const INSERT_KEY = statement(
  'insert access key',
  { createdAt: moment, expiresAt: moment },
  `
  with secret as (
    insert into key_secrets (hash, key_id, expires_at)
    values ($8::text, $3::uuid, statement_timestamp() + make_interval(days => $7::int))
    returning expires_at
  ), key as (
    insert into access_keys (user_id, workspace_id, id, created_by, name, scopes, created_at)
    values ($1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::text, $6::text[], statement_timestamp())
    returning created_at
  )
  select created_at as "createdAt", expires_at as "expiresAt" from secret, key`,
)

export const insertKey = async (
  tx: Db,
  { owner, createdBy, name, scopes, days, hash }: NewKey,
): Promise<AccessKey> => {
  const id = uuidv7()
  const parameters = [...ownerParameters(owner), id, createdBy.id, name, scopes, days, hash]
  const { createdAt, expiresAt } = singleRow(await tx.rows(INSERT_KEY, parameters))
  return {
    id,
    name,
    scopes,
    created_by: createdBy.login,
    created_at: toTimestamp(createdAt),
    expires_at: toTimestamp(expiresAt),
    last_used_day: null,
  }
}

/** `workspaceId` is null for a key that belonged to a person. */
const revokedColumns = { id: uuid, name: text, scopes: texts, workspaceId: orNull(uuid) }

export type RevokedKey = RowOf<typeof revokedColumns>

/** @param which SQL: a condition on the working keys `k` */
const revoke = (name: string, which: string) =>
  statement(
    name,
    revokedColumns,
    `
  update key_secrets s set revoked_at = now()
  from access_keys k
  where k.id = s.key_id and ${WORKS} and ${which}
  returning k.id, k.name, k.scopes, k.workspace_id as "workspaceId"`,
  )

const REVOKE_KEY = revoke('revoke access key', `${IS_OF_OWNER} and k.id = $3::uuid`)
const REVOKE_KEYS = revoke('revoke owner access keys', IS_OF_OWNER)
const REVOKE_KEYS_IN_WORKSPACE = revoke(
  'revoke workspace access keys by creator',
  'k.created_by = $1::uuid and k.workspace_id = $2::uuid',
)
const REVOKE_ALL_KEYS = revoke('revoke access keys by creator', 'k.created_by = $1::uuid')

const FIND_KEY_HASH = statement(
  'find access key hash',
  { known: bool },
  `select exists (select from access_keys k where ${IS_OF_OWNER} and k.id = $3::uuid) as known`,
)

/** @returns whether the owner has, or had, such a key; and the key, if this call has revoked it. */
export const revokeKey = async (
  tx: Db,
  owner: KeyOwner,
  id: string,
): Promise<{ found: boolean; revoked: RevokedKey | undefined }> => {
  const parameters = [...ownerParameters(owner), id]
  const [revoked] = await tx.rows(REVOKE_KEY, parameters)
  const found = revoked !== undefined || singleRow(await tx.rows(FIND_KEY_HASH, parameters)).known
  return { found, revoked }
}

/** Revokes a workspace's keys. */
export const revokeKeysOfWorkspace = async (tx: Db, workspaceId: string): Promise<void> => {
  await tx.rows(REVOKE_KEYS, ownerParameters({ workspaceId }))
}

/** Revokes the keys that a person created for a workspace. */
export const revokeKeysCreatedBy = (tx: Db, workspaceId: string, userId: string): Promise<RevokedKey[]> =>
  tx.rows(REVOKE_KEYS_IN_WORKSPACE, [userId, workspaceId])

/** Revokes all personal and workspace keys that a person created. */
export const revokeAllKeysOf = (tx: Db, userId: string): Promise<RevokedKey[]> =>
  tx.rows(REVOKE_ALL_KEYS, [userId])

/** SQL: how records name an author: the workspace key with this name, or else the person with this login. */
export const authorName = (keyName: string, login: string): string =>
  `coalesce('key ' || ${keyName}, ${login})`
