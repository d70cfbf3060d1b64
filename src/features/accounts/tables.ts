import { sql } from 'drizzle-orm'
import { bigint, boolean, check, date, index, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { repohostKinds } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import { daysAgo } from '../../platform/database/limited-delete.js'
import { moment, table } from '../../platform/database/table.js'

/** The repository host whose numeric ids identify the accounts. One row, inserted at the first start. */
export const repositoryHost = table(
  'repository_host',
  {
    id: integer('id').primaryKey(),
    kind: text('kind', { enum: repohostKinds }).notNull(),
    url: text('url').notNull(),
    recordedAt: moment('recorded_at').notNull().defaultNow(),
  },
  { place: 'coordinator', privacyRecord: null },
)

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

/** People, keyed by the repository host's numeric id and never by login. */
export const users = table(
  'users',
  {
    id: uuid('id').primaryKey(),
    /** Null for a deleted account, which no one can sign in to or find by login. */
    repohostId: bigint('repohost_id', { mode: 'number' }).unique(),
    login: text('login').notNull(),
    loginKey: text('login_key').notNull().unique(),
    avatarUrl: text('avatar_url').notNull(),
    /** Tokens of an older generation are invalid. */
    generation: integer('generation').notNull().default(0),
    /** The one that the person chose, or else the last one that a client named. Null: none is known. */
    timezone: text('timezone'),
    timezoneChosen: boolean('timezone_chosen').notNull().default(false),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** When the operator disabled the account. Null if enabled. */
    disabledAt: moment('disabled_at'),
  },
  { place: 'every node', privacyRecord: 'account' },
  // Every instance reads all of them every few seconds.
  (t) => [index('users_disabled').on(t.id).where(sql`${t.disabledAt} is not null`)],
)

/** A column that names a person. */
export const person = (name: string) =>
  uuid(name)
    .notNull()
    .references(() => users.id)

/** HMACs of e-mail addresses that the repository host has confirmed as a person's own, to recognize their commits. */
export const addresses = table(
  'addresses',
  {
    hmac: text('hmac').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The UTC day on which the host confirmed it. */
    confirmedDay: date('confirmed_day').notNull(),
  },
  {
    people: { userId: { erasure: 'delete', export: 'addresses_recognized' } },
    place: 'every node',
    privacyRecord: 'addresses',
    label: 'addresses recognized',
  },
  (t) => [index('addresses_of_user').on(t.userId)],
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

/** OAuth logins in progress. The callback deletes the row it uses, so a state works only once on any instance. */
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

/**
 * Repositories that a person has pushed settings for, or has named in full in a flush or a heartbeat. A folder name can
 * stand for one of these only.
 */
export const personRepos = table(
  'person_repos',
  {
    userId: uuid('user_id').notNull(),
    /** `owner/repo` in lower case. */
    repoKey: text('repo_key').notNull(),
    /** The part after the last slash. */
    name: text('name').notNull(),
    /** As first given. */
    repo: text('repo').notNull(),
    /** The last UTC day the person named it. */
    seenDay: date('seen_day').notNull(),
  },
  {
    people: { userId: { erasure: 'delete', export: 'repositories' } },
    expiry: {
      task: 'old repositories of people',
      sql: `seen_day < (${daysAgo(limits.person_repo_days)})::date`,
    },
    place: { spreadBy: 'user_id' },
    routedBy: 'their person',
    privacyRecord: 'project names',
    label: 'repositories named in full',
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.repoKey] }),
    index('person_repos_by_name').on(t.userId, t.name),
    index('person_repos_by_age').on(t.seenDay),
  ],
)

/** Deleted accounts whose data is still being erased (`features/personal-data/queries/erasures.ts`). */
export const erasures = table(
  'erasures',
  {
    userId: uuid('user_id').primaryKey(),
    /** Finds old entries of the audit trail, which have no ids. */
    loginKey: text('login_key').notNull(),
    startedAt: moment('started_at').notNull().defaultNow(),
  },
  {
    people: {
      userId: {
        erasure: { by: 'the end of the erasure' },
        export: { excludedBecause: 'the account has ended' },
      },
    },
    place: 'every node',
    privacyRecord: 'account',
  },
)
