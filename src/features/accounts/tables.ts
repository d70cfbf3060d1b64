import { bigint, boolean, index, integer, jsonb, text, uuid } from 'drizzle-orm/pg-core'
import { moment } from '../../platform/database/columns.js'
import { table } from '../../platform/database/table.js'

/** People, keyed by the repository host's numeric id and never by login. */
export const users = table(
  'users',
  {
    id: uuid('id').primaryKey(),
    /** Null: an account that was deleted. Nobody signs in to it, and it is found by no login. */
    repohostId: bigint('repohost_id', { mode: 'number' }).unique(),
    login: text('login').notNull(),
    loginKey: text('login_key').notNull().unique(),
    avatarUrl: text('avatar_url').notNull(),
    /** Tokens of an older generation are dead. */
    generation: integer('generation').notNull().default(0),
    timezone: text('timezone'),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  { place: 'every node', privacyRecord: 'account' },
)

/** What people let be recorded of them; who has no row lets everything. */
export const recordings = table(
  'recordings',
  {
    userId: uuid('user_id')
      .primaryKey()
      .references(() => users.id, { onDelete: 'cascade' }),
    paused: boolean('paused').notNull(),
    /** Patterns, as given. */
    reposOff: text('repos_off').array().notNull(),
    /** The same as escaped LIKE patterns of `owner/repo` in lower case. */
    reposOffLike: text('repos_off_like').array().notNull(),
    /** `{from, to, weekdays}` in the person's time zone; null: all. */
    hours: jsonb('hours'),
  },
  {
    people: { userId: { erasure: 'delete', export: 'recording' } },
    place: 'every node',
    privacyRecord: 'recording',
  },
)

/** Tokens that were logged out: one (`jti`), or all of a user below a generation. Kept until they would have expired. */
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
  },
  (t) => [index('revocations_revoked_at').on(t.revokedAt), index('revocations_expires_at').on(t.expiresAt)],
)

/** OAuth logins under way; a row is deleted by the callback that uses it, so a state works once on any instance. */
export const oauthStates = table(
  'oauth_states',
  {
    stateHash: text('state_hash').primaryKey(),
    returnTo: text('return_to').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  {
    expiry: { task: 'expired logins', sql: 'expires_at < now()' },
    place: 'coordinator',
    privacyRecord: null,
  },
  (t) => [index('oauth_states_by_age').on(t.expiresAt)],
)
