import { index, integer, text, uuid } from 'drizzle-orm/pg-core'
import { moment, table } from '../../platform/database/table.js'

/**
 * The ids of the keys that instances sign sessions with, so that an instance can report that it's missing another's
 * key.
 */
export const signingKeys = table(
  'signing_keys',
  {
    keyId: text('key_id').primaryKey(),
    usedAt: moment('used_at').notNull().defaultNow(),
  },
  { place: 'coordinator', privacyRecord: null },
)

/** Revoked tokens: a single one (`jti`), or all of a user's below a generation. Kept until they would have expired. */
export const revocations = table(
  'revocations',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    jti: uuid('jti'),
    userId: uuid('user_id'),
    generation: integer('generation'),
    revokedAt: moment('revoked_at').notNull().defaultNow(),
    expiresAt: moment('expires_at').notNull(),
  },
  {
    people: {
      userId: {
        erasure: { keptBecause: 'it keeps tokens of the account from working until they expire' },
        export: 'signed_out',
      },
    },
    expiry: { task: 'expired revocations', sql: 'expires_at < now()' },
    place: 'coordinator',
    privacyRecord: 'ended sessions',
    label: 'ended sessions',
  },
  (t) => [index('revocations_revoked_at').on(t.revokedAt), index('revocations_expires_at').on(t.expiresAt)],
)
