/**
 * The one definition of the database. `npm run migrations` turns a change here into SQL in `drizzle/`.
 *
 * Keys ending in `_key` hold the lower-case form that comparisons use; their neighbours keep what was first given.
 * The large tables lead their primary keys with `owner_key` (settings) or `workspace_id` (activity) and use no
 * sequences, so that `npm run distribute` can spread them over several nodes.
 */
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  date,
  index,
  integer,
  jsonb,
  pgTable,
  pgView,
  primaryKey,
  smallint,
  text,
  timestamp,
  unique,
  uuid,
} from 'drizzle-orm/pg-core'
import { privacyLevels } from '../../../schemas/common.js'
import type { DayCrews } from '../../features/activity/shared-hours.js'
import { DELETED_USER } from '../../features/accounts/deleted-user.js'

const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' })

/** People, keyed by the repository host's numeric id and never by login. */
export const users = pgTable('users', {
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
})

/** What people let be recorded of them; who has no row lets everything. */
export const recordings = pgTable('recordings', {
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
})

/** Accounts that were deleted, as long as something of theirs is left (`features/personal-data/queries/erasures.ts`). */
export const erasures = pgTable('erasures', {
  userId: uuid('user_id').primaryKey(),
  /** For entries of the audit trail that name nobody by id. */
  loginKey: text('login_key').notNull(),
  startedAt: moment('started_at').notNull().defaultNow(),
})

/** Tokens that were logged out: one (`jti`), or all of a user below a generation. Kept until they would have expired. */
export const revocations = pgTable(
  'revocations',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    jti: uuid('jti'),
    userId: uuid('user_id'),
    generation: integer('generation'),
    revokedAt: moment('revoked_at').notNull().defaultNow(),
    expiresAt: moment('expires_at').notNull(),
  },
  (t) => [index('revocations_revoked_at').on(t.revokedAt), index('revocations_expires_at').on(t.expiresAt)],
)

/** OAuth logins under way; a row is deleted by the callback that uses it, so a state works once on any instance. */
export const oauthStates = pgTable(
  'oauth_states',
  {
    stateHash: text('state_hash').primaryKey(),
    returnTo: text('return_to').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (t) => [index('oauth_states_by_age').on(t.expiresAt)],
)

export const workspaces = pgTable(
  'workspaces',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    /** Set on a personal workspace: whose it is. Unique, so a user has at most one. */
    personalOf: uuid('personal_of')
      .unique()
      .references(() => users.id),
    idleWindowMinutes: smallint('idle_window_minutes').notNull(),
    settings: text('settings').notNull().default('{}'),
    /** The level in force, and since when; older ones are in `privacy_levels`. */
    activityPrivacy: text('activity_privacy', { enum: privacyLevels }).notNull().default('named'),
    activityPrivacySince: moment('activity_privacy_since').notNull().defaultNow(),
    /** Of the settings, the idle window and the privacy level together. */
    settingsVersion: integer('settings_version').notNull().default(1),
    settingsUpdatedAt: moment('settings_updated_at').notNull().defaultNow(),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** Set while the rows of a deleted workspace are being removed in the background; it has no members any more. */
    deletedAt: moment('deleted_at'),
  },
  (t) => [
    index('workspaces_deleted').on(t.deletedAt).where(sql`${t.deletedAt} is not null`),
    check('workspaces_activity_privacy', sql`${t.activityPrivacy} in ('named', 'team')`),
  ],
)

const workspaceId = () =>
  uuid('workspace_id')
    .notNull()
    .references(() => workspaces.id, { onDelete: 'cascade' })

/** Which privacy level a workspace had since when. Kept as long as its activity, which it says how to show. */
export const privacyLevelsOfWorkspaces = pgTable(
  'privacy_levels',
  {
    workspaceId: workspaceId(),
    id: uuid('id').notNull(),
    since: moment('since').notNull(),
    level: text('level', { enum: privacyLevels }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.id] })],
)

export const members = pgTable(
  'members',
  {
    workspaceId: workspaceId(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id),
    role: text('role', { enum: ['admin', 'member'] }).notNull(),
    joinedAt: moment('joined_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.userId] }),
    index('members_of_user').on(t.userId, t.workspaceId, t.role),
    index('members_by_joined_at').on(t.workspaceId, t.joinedAt, t.userId),
    check('members_role', sql`${t.role} in ('admin', 'member')`),
  ],
)

/** When somebody was last put out of a workspace: no invite from before lets them in again. Who leaves is not put out. */
export const removals = pgTable(
  'removals',
  {
    workspaceId: workspaceId(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id),
    removedAt: moment('removed_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.userId] }), index('removals_of_user').on(t.userId)],
)

/**
 * Removals of people whose account is gone, kept while an older invite could still be used: none lets a new account of
 * theirs in. Nothing here leads to an account. `person` is an HMAC of the host's id (`features/accounts/person-keys.ts`).
 */
export const removedPeople = pgTable(
  'removed_people',
  {
    workspaceId: workspaceId(),
    /** Which secret the HMAC was made with. */
    keyId: text('key_id').notNull(),
    person: text('person').notNull(),
    removedAt: moment('removed_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.keyId, t.person] })],
)

export const invites = pgTable(
  'invites',
  {
    id: uuid('id').primaryKey(),
    workspaceId: workspaceId(),
    code: text('code').notNull(),
    /** The code without dashes, upper case. */
    codeKey: text('code_key').notNull().unique(),
    role: text('role', { enum: ['admin', 'member'] }).notNull(),
    maxUses: integer('max_uses'),
    usedCount: integer('used_count').notNull().default(0),
    expiresAt: moment('expires_at').notNull(),
    revokedAt: moment('revoked_at'),
    createdBy: uuid('created_by')
      .notNull()
      .references(() => users.id),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (t) => [
    index('invites_of_workspace').on(t.workspaceId, t.createdAt),
    index('invites_by_author').on(t.createdBy),
    check('invites_uses', sql`${t.maxUses} is null or ${t.usedCount} <= ${t.maxUses}`),
  ],
)

/** Repo patterns, taken apart when they are stored so that matching is an equality and at most one LIKE. */
export const patterns = pgTable(
  'patterns',
  {
    workspaceId: workspaceId(),
    ownerKey: text('owner_key').notNull(),
    repoKey: text('repo_key').notNull(),
    position: smallint('position').notNull(),
    pattern: text('pattern').notNull(),
    exact: boolean('exact').notNull(),
    /** Characters of the pattern that are not `*`. */
    literalLength: smallint('literal_length').notNull(),
    /** `repo_key` as an escaped LIKE pattern: `_`, `%` and `\` stand for themselves. */
    repoLike: text('repo_like').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.ownerKey, t.repoKey] }),
    index('patterns_by_owner').on(t.ownerKey, t.workspaceId),
  ],
)

/** The current settings of a repository, as pushed through one workspace. */
export const snapshots = pgTable(
  'snapshots',
  {
    ownerKey: text('owner_key').notNull(),
    repoKey: text('repo_key').notNull(),
    workspaceId: workspaceId(),
    /** New at every first push, so that an ETag never comes back. */
    id: uuid('id').notNull(),
    owner: text('owner').notNull(),
    repo: text('repo').notNull(),
    version: integer('version').notNull(),
    /** Exactly the JSON text that GET returns. */
    settings: text('settings').notNull(),
    sizeBytes: integer('size_bytes').notNull(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
    updatedBy: uuid('updated_by')
      .notNull()
      .references(() => users.id),
  },
  (t) => [
    primaryKey({ columns: [t.ownerKey, t.repoKey, t.workspaceId] }),
    // With the size, so that the room that a workspace takes up is read from here alone.
    index('snapshots_of_workspace').on(t.workspaceId, t.sizeBytes),
    index('snapshots_by_author').on(t.updatedBy),
  ],
)

/** The last versions of a snapshot, the current one included. */
export const snapshotVersions = pgTable(
  'snapshot_versions',
  {
    ownerKey: text('owner_key').notNull(),
    repoKey: text('repo_key').notNull(),
    workspaceId: workspaceId(),
    version: integer('version').notNull(),
    settings: text('settings').notNull(),
    sizeBytes: integer('size_bytes').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    createdBy: uuid('created_by')
      .notNull()
      .references(() => users.id),
  },
  (t) => [
    primaryKey({ columns: [t.ownerKey, t.repoKey, t.workspaceId, t.version] }),
    index('snapshot_versions_of_workspace').on(t.workspaceId, t.ownerKey, t.repoKey, t.version),
    index('snapshot_versions_by_author').on(t.createdBy, t.ownerKey, t.repoKey, t.workspaceId, t.version),
  ],
)

/** Per-repo overrides of a workspace's settings. */
export const overrides = pgTable(
  'overrides',
  {
    ownerKey: text('owner_key').notNull(),
    repoKey: text('repo_key').notNull(),
    workspaceId: workspaceId(),
    /** New at every write; part of the ETag of an effective configuration. */
    revision: uuid('revision').notNull(),
    owner: text('owner').notNull(),
    repo: text('repo').notNull(),
    settings: text('settings').notNull(),
    sizeBytes: integer('size_bytes').notNull().generatedAlwaysAs(sql`octet_length("settings")`),
    updatedAt: moment('updated_at').notNull().defaultNow(),
    updatedBy: uuid('updated_by')
      .notNull()
      .references(() => users.id),
  },
  (t) => [
    primaryKey({ columns: [t.ownerKey, t.repoKey, t.workspaceId] }),
    unique('overrides_of_workspace').on(t.workspaceId, t.ownerKey, t.repoKey),
    index('overrides_by_size').on(t.workspaceId, t.sizeBytes),
    index('overrides_by_author').on(t.updatedBy),
  ],
)

/** SQL: entries whose target is a person. */
export const ABOUT_PEOPLE = `action like 'member.%' or action = 'invites.revoked'`

/** Who changed what, and when. */
export const auditEntries = pgTable(
  'audit_entries',
  {
    workspaceId: workspaceId(),
    id: uuid('id').notNull(),
    /** By the database's clock, and not of the transaction's begin: changes that waited for each other keep their order. */
    at: moment('at').notNull().default(sql`clock_timestamp()`),
    /** The login of the moment: an audit trail does not rewrite itself when somebody is renamed. */
    actor: text('actor').notNull(),
    /** Null in entries from before there were ids. */
    actorId: uuid('actor_id'),
    action: text('action').notNull(),
    target: text('target'),
    /** Where the target is a person; null in entries from before there were ids. */
    targetId: uuid('target_id'),
    details: jsonb('details').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.id] }),
    index('audit_entries_of_workspace').on(t.workspaceId, t.at, t.id),
    index('audit_entries_by_age').on(t.at),
    index('audit_entries_by_actor').on(t.actorId, t.id),
    index('audit_entries_by_target').on(t.targetId, t.id),
    index('audit_entries_by_login').on(sql`lower(${t.actor})`, t.id).where(sql`${t.actorId} is null`),
    index('audit_entries_about_login')
      .on(sql`lower(${t.target})`, t.id)
      .where(sql`${t.targetId} is null and (${sql.raw(ABOUT_PEOPLE)})`),
  ],
)

/** Customers at the billing provider, and whose they are. A user has one, unless the provider made another for them. */
export const billingCustomers = pgTable(
  'billing_customers',
  {
    id: text('id').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (t) => [index('billing_customers_of_user').on(t.userId)],
)

/** What the newest event said of each subscription. Customers may become known only later, so nothing is referenced. */
export const subscriptions = pgTable(
  'subscriptions',
  {
    id: text('id').primaryKey(),
    customerId: text('customer_id').notNull(),
    status: text('status', { enum: ['none', 'trialing', 'active', 'past_due', 'canceled'] }).notNull(),
    /** Seconds since the epoch, by the provider's clock. */
    eventCreated: bigint('event_created', { mode: 'number' }).notNull(),
    /** Orders the events of one second. */
    eventRank: smallint('event_rank').notNull(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  (t) => [index('subscriptions_of_customer').on(t.customerId)],
)

/** Notifications that took effect, so that none does twice. */
export const billingEvents = pgTable(
  'billing_events',
  {
    id: text('id').primaryKey(),
    type: text('type').notNull(),
    receivedAt: moment('received_at').notNull().defaultNow(),
  },
  (t) => [index('billing_events_by_age').on(t.receivedAt)],
)

const funnelColumns = () => ({
  userId: uuid('user_id')
    .notNull()
    .references(() => users.id),
  event: text('event').notNull(),
  source: text('source').notNull(),
  firstAt: moment('first_at').notNull().defaultNow(),
  events: integer('events').notNull().default(1),
})

/** Funnel events of all time: when a user had one first, and how often. */
export const funnelUsers = pgTable('funnel_users', funnelColumns(), (t) => [
  primaryKey({ columns: [t.userId, t.event, t.source] }),
])

/** The same per UTC day, for ranges. */
export const funnelDays = pgTable(
  'funnel_days',
  { ...funnelColumns(), day: date('day', { mode: 'string' }).notNull() },
  (t) => [
    primaryKey({ columns: [t.userId, t.event, t.source, t.day] }),
    index('funnel_days_by_day').on(t.day),
  ],
)

/**
 * What a member did on a UTC day in a repository; rows whose numbers are all 0 count for nothing. There is no reference
 * to `members`, because what people did stays when they leave. Its pages are filled to 70 % (`drizzle/0009`): a row that
 * changes then stays in its page, and needs no new entries in the indexes.
 */
export const activity = pgTable(
  'activity',
  {
    workspaceId: workspaceId(),
    userId: uuid('user_id').notNull(),
    day: date('day').notNull(),
    repoKey: text('repo_key').notNull(),
    // Larger than one person's can be, because those of everybody whose account was deleted are added up.
    minutes: integer('minutes').notNull().default(0),
    commits: integer('commits').notNull().default(0),
    closedIssues: integer('closed_issues').notNull().default(0),
    /** 24 minutes by UTC hour; their sum is at most `minutes`. Null without minutes, and once it is older than the detail is kept. */
    hours: smallint('hours').array(),
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.userId, t.day, t.repoKey] }),
    // With the user, so that a member's days are found as fast in this as in the key, whichever a plan takes.
    index('activity_of_day').on(t.workspaceId, t.day, t.userId, t.repoKey),
    index('activity_of_repo').on(t.workspaceId, t.repoKey, t.day),
  ],
)

/** Repositories with activity, in the case first given. */
export const activityRepos = pgTable(
  'activity_repos',
  { workspaceId: workspaceId(), repoKey: text('repo_key').notNull(), repo: text('repo').notNull() },
  (t) => [primaryKey({ columns: [t.workspaceId, t.repoKey] })],
)

/**
 * Who has activity in a workspace, members and former ones. There before the activity is; whoever changes a person's
 * minutes holds the row, so that two flushes of one person take turns.
 */
export const activityPeople = pgTable(
  'activity_people',
  { workspaceId: workspaceId(), userId: uuid('user_id').notNull() },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.userId] }),
    index('activity_people_of_user').on(t.userId, t.workspaceId),
  ],
)

/**
 * Who looked at numbers with names: all looks of a viewer on a UTC day at the same people and repository, in the widest
 * range of them. Not a row for each person seen: who that was follows from the activity.
 */
export const dashboardViews = pgTable(
  'dashboard_views',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    viewerId: uuid('viewer_id').notNull(),
    /** Whose numbers: the nil UUID for everybody's. */
    memberId: uuid('member_id').notNull(),
    /** In lower case; empty without a filter. */
    repoKey: text('repo_key').notNull(),
    from: date('from_day').notNull(),
    to: date('to_day').notNull(),
    /** Whether a look was a file to keep (CSV). */
    exported: boolean('exported').notNull(),
  },
  (t) => [
    primaryKey({
      name: 'dashboard_views_pk',
      columns: [t.workspaceId, t.day, t.viewerId, t.memberId, t.repoKey],
    }),
    index('dashboard_views_by_age').on(t.day),
    index('dashboard_views_by_viewer').on(t.viewerId),
    index('dashboard_views_of_member').on(t.memberId),
  ],
)

/** Answers to flushes, so that a retry counts nothing. Written in the transaction that counts. */
export const flushes = pgTable(
  'flushes',
  {
    userId: uuid('user_id').notNull(),
    flushId: text('flush_id').notNull(),
    bodyHash: text('body_hash').notNull(),
    answer: text('answer').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.flushId] }), index('flushes_by_age').on(t.createdAt)],
)

/**
 * Days whose rollups below do not hold, because `activity` has changed since: every transaction that changes it adds
 * its marks, and a dashboard reads a marked day from `activity` itself. Only ever added to and deleted from, so nobody
 * waits for anybody.
 */
export const staleDays = pgTable(
  'stale_days',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    id: uuid('id').notNull().defaultRandom(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.day, t.id] })],
)

/** Of so many counts that they may exceed 32 bits. */
const sums = () => ({
  minutes: bigint('minutes', { mode: 'number' }).notNull(),
  commits: bigint('commits', { mode: 'number' }).notNull(),
  closedIssues: bigint('closed_issues', { mode: 'number' }).notNull(),
})

/** Sums that may be withheld. */
const shownSums = () => ({
  minutes: bigint('minutes', { mode: 'number' }),
  commits: bigint('commits', { mode: 'number' }),
  closedIssues: bigint('closed_issues', { mode: 'number' }),
})

/** The sums of a workspace's days. This and the tables below are rollups: made of `activity`, a day or a month at a time. */
export const activityDays = pgTable(
  'activity_days',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    ...sums(),
    /** With more than 0 minutes. */
    activeMembers: integer('active_members').notNull(),
    /** Whose hours are in the heatmap of the day; null until a version that knows it has rolled the day up. */
    hourCrews: jsonb('hour_crews').$type<DayCrews>(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.day] })],
)

export const activityMemberDays = pgTable(
  'activity_member_days',
  { workspaceId: workspaceId(), day: date('day').notNull(), userId: uuid('user_id').notNull(), ...sums() },
  (t) => [primaryKey({ columns: [t.workspaceId, t.day, t.userId] })],
)

/** A month by its first day. */
const month = () => date('month').notNull()

export const activityMemberMonths = pgTable(
  'activity_member_months',
  {
    workspaceId: workspaceId(),
    month: month(),
    userId: uuid('user_id').notNull(),
    ...sums(),
    /** The days of the month with more than 0 minutes: bit 0 is the first. So any part of a month can be asked for. */
    activeDayBits: integer('active_day_bits').notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.month, t.userId] })],
)

export const activityRepoDays = pgTable(
  'activity_repo_days',
  { workspaceId: workspaceId(), day: date('day').notNull(), repoKey: text('repo_key').notNull(), ...sums() },
  (t) => [primaryKey({ columns: [t.workspaceId, t.day, t.repoKey] })],
)

export const activityRepoMonths = pgTable(
  'activity_repo_months',
  { workspaceId: workspaceId(), month: month(), repoKey: text('repo_key').notNull(), ...sums() },
  (t) => [primaryKey({ columns: [t.workspaceId, t.month, t.repoKey] })],
)

/** Who did anything in a repository in a month. */
export const activityRepoPeople = pgTable(
  'activity_repo_people',
  {
    workspaceId: workspaceId(),
    month: month(),
    repoKey: text('repo_key').notNull(),
    userId: uuid('user_id').notNull(),
    /** The days of the month with anything: bit 0 is the first. */
    dayBits: integer('day_bits').notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.month, t.repoKey, t.userId] })],
)

/** Minutes of a UTC day by the local weekday (1: Monday) and hour of those who were active. */
export const activityHours = pgTable(
  'activity_hours',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    weekday: smallint('weekday').notNull(),
    hour: smallint('hour').notNull(),
    minutes: bigint('minutes', { mode: 'number' }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.day, t.weekday, t.hour] }),
    index('activity_hours_by_age').on(t.day),
  ],
)

/**
 * Weeks (by their Monday, UTC) as they are shown at the privacy level `team`. The rows here and in the three tables below
 * are written once and never change; a number that must not be shown is null, and a day, repository or cell of which
 * nothing may be shown has no row. What they leave out is decided in `features/activity/published-week.ts`.
 */
export const publishedWeeks = pgTable(
  'published_weeks',
  {
    workspaceId: workspaceId(),
    week: date('week').notNull(),
    /** How many people stand behind every number. */
    minGroup: smallint('min_group').notNull(),
    ...shownSums(),
    activeMembers: integer('active_members'),
    publishedAt: moment('published_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.week] })],
)

export const publishedDays = pgTable(
  'published_days',
  {
    workspaceId: workspaceId(),
    week: date('week').notNull(),
    day: date('day').notNull(),
    ...shownSums(),
    activeMembers: integer('active_members'),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.week, t.day] })],
)

export const publishedRepos = pgTable(
  'published_repos',
  {
    workspaceId: workspaceId(),
    week: date('week').notNull(),
    repoKey: text('repo_key').notNull(),
    ...shownSums(),
    activeMembers: integer('active_members'),
    /** Of the version before: the same. */
    members: integer('members').notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.week, t.repoKey] })],
)

export const publishedCells = pgTable(
  'published_cells',
  {
    workspaceId: workspaceId(),
    week: date('week').notNull(),
    weekday: smallint('weekday').notNull(),
    hour: smallint('hour').notNull(),
    minutes: bigint('minutes', { mode: 'number' }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.week, t.weekday, t.hour] })],
)

/** The backups that `npm run backup` has made of this database, so that the doctor can say how old the last one is. */
export const backups = pgTable('backups', {
  /** Of which moment. */
  madeAt: moment('made_at').primaryKey(),
  /** Of the file. */
  bytes: bigint('bytes', { mode: 'number' }).notNull(),
})

/** The views below are for people and their tools, and read by nothing here. Names and order of columns stay. */
const reportColumns = () => ({
  workspaceId: uuid('workspace_id').notNull(),
  workspace: text('workspace').notNull(),
  day: date('day').notNull(),
})

/** What each person did on each UTC day. */
export const reportMemberDays = pgView('report_member_days', {
  ...reportColumns(),
  login: text('login').notNull(),
  ...sums(),
}).as(sql`
  select a.workspace_id, w.name as workspace, a.day, u.login,
    sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues
  from activity a
  join workspaces w on w.id = a.workspace_id and w.deleted_at is null
  join users u on u.id = a.user_id
  where a.minutes + a.commits + a.closed_issues > 0
  group by a.workspace_id, w.name, a.day, u.login`)

/** What was done in each repository on each UTC day, and by how many; deleted accounts do not count there. */
export const reportRepoDays = pgView('report_repo_days', {
  ...reportColumns(),
  repo: text('repo').notNull(),
  ...sums(),
  members: bigint('members', { mode: 'number' }).notNull(),
}).as(sql`
  select a.workspace_id, w.name as workspace, a.day, coalesce(r.repo, a.repo_key) as repo,
    sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues,
    count(*) filter (where a.user_id <> '${sql.raw(DELETED_USER)}') as members
  from activity a
  join workspaces w on w.id = a.workspace_id and w.deleted_at is null
  left join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key
  where a.minutes + a.commits + a.closed_issues > 0
  group by a.workspace_id, w.name, a.day, coalesce(r.repo, a.repo_key)`)

/** Minutes of each UTC day by the local weekday (1: Monday) and hour. From the rollup: what has just changed follows within five minutes. */
export const reportHours = pgView('report_hours', {
  ...reportColumns(),
  weekday: smallint('weekday').notNull(),
  hour: smallint('hour').notNull(),
  minutes: bigint('minutes', { mode: 'number' }).notNull(),
}).as(sql`
  select h.workspace_id, w.name as workspace, h.day, h.weekday, h.hour, h.minutes
  from activity_hours h
  join workspaces w on w.id = h.workspace_id and w.deleted_at is null`)
