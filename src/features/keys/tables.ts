import { sql } from 'drizzle-orm'
import { check, date, index, text, uuid } from 'drizzle-orm/pg-core'
import { limits } from '../../../schemas/limits.js'
import { daysAgo } from '../../platform/database/limited-delete.js'
import { moment, table } from '../../platform/database/table.js'
import { person, users } from '../accounts/tables.js'

/** SQL: when a key of `key_secrets` stops working, or stopped. */
const KEY_END = 'least(expires_at, revoked_at)'

/**
 * The SHA-256 of access keys' secrets. They contain no names, and outlast the key for a while, so that its user
 * can learn why it no longer works.
 */
export const keySecrets = table(
  'key_secrets',
  {
    hash: text('hash').primaryKey(),
    keyId: uuid('key_id').notNull().unique(),
    expiresAt: moment('expires_at').notNull(),
    revokedAt: moment('revoked_at'),
  },
  {
    expiry: { task: 'old hashes of keys', sql: `${KEY_END} < ${daysAgo(limits.ended_key_days)}` },
    place: 'every node',
    privacyRecord: 'hashes of access keys',
  },
  () => [index('key_secrets_by_end').on(sql.raw(`(${KEY_END})`))],
)

/**
 * Personal and workspace keys. Its row in `key_secrets` says whether a key still works. A key that no longer works
 * stays as long as that row, because dashboard views name it.
 */
export const accessKeys = table(
  'access_keys',
  {
    id: uuid('id').primaryKey(),
    /** The person who owns the key. Null: a workspace owns it. */
    userId: uuid('user_id').references(() => users.id),
    /** The workspace that owns the key. Not a foreign key, because this feature doesn't depend on workspaces. */
    workspaceId: uuid('workspace_id'),
    createdBy: person('created_by'),
    name: text('name').notNull(),
    scopes: text('scopes').array().notNull(),
    createdAt: moment('created_at').notNull(),
    /** A UTC day. */
    lastUsedDay: date('last_used_day'),
  },
  {
    people: {
      userId: { erasure: 'delete', export: 'keys', label: 'personal access keys' },
      createdBy: { erasure: 'anonymize', export: 'keys', label: 'access keys created' },
    },
    expiry: {
      task: 'old access keys',
      sql: 'not exists (select from key_secrets s where s.key_id = access_keys.id)',
    },
    place: 'every node',
    privacyRecord: 'access keys',
  },
  (t) => [
    index('access_keys_of_user').on(t.userId),
    index('access_keys_of_workspace').on(t.workspaceId),
    index('access_keys_by_creator').on(t.createdBy),
    check('access_keys_owner', sql`(${t.userId} is null) <> (${t.workspaceId} is null)`),
  ],
)
