import { sql } from 'drizzle-orm'
import { bigint, boolean, date, index, integer, text, uuid } from 'drizzle-orm/pg-core'
import { repohostKinds } from '../../../schemas/common.js'
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
