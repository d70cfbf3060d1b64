import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  primaryKey,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { privacyLevels } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import { organizationJoins, organizationLeaves } from '../../../schemas/organizations.js'
import { daysAgo } from '../../platform/database/limited-delete.js'
import { moment, table } from '../../platform/database/table.js'
import { person, users } from '../accounts/tables.js'

export const workspaces = table(
  'workspaces',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    /** A personal workspace's owner. Unique, so a user has at most one. */
    personalOf: uuid('personal_of')
      .unique()
      .references(() => users.id),
    /** Counts against this person's quota. Null: unknown, because an earlier release created it. */
    createdBy: uuid('created_by').references(() => users.id),
    idleWindowMinutes: smallint('idle_window_minutes').notNull(),
    settings: text('settings').notNull().default('{}'),
    /** The keys of `settings` that overrides can't change, as JSON text. */
    locked: text('locked').notNull().default('[]'),
    /** The keys of `settings` whose lists and objects overrides add to, as JSON text. */
    merged: text('merged').notNull().default('[]'),
    /** The current level and its start. Older levels are in `privacy_levels`. */
    activityPrivacy: text('activity_privacy', { enum: privacyLevels }).notNull().default('named'),
    activityPrivacySince: moment('activity_privacy_since').notNull().defaultNow(),
    /** One version for the settings, locks, merges, idle window and privacy level. */
    settingsVersion: integer('settings_version').notNull().default(1),
    settingsUpdatedAt: moment('settings_updated_at').notNull().defaultNow(),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** Set while a deleted workspace's rows are being removed in the background. It no longer has members. */
    deletedAt: moment('deleted_at'),
  },
  {
    people: {
      personalOf: { erasure: { by: 'the deletion of the personal workspace' }, export: 'personal_workspace' },
      createdBy: {
        erasure: 'anonymize',
        export: { excludedBecause: 'the audit trail has it' },
        label: 'workspaces created',
      },
    },
    place: 'every node',
    privacyRecord: 'account',
  },
  (t) => [
    index('workspaces_by_creator').on(t.createdBy),
    index('workspaces_deleted').on(t.deletedAt).where(sql`${t.deletedAt} is not null`),
    check('workspaces_activity_privacy', sql`${t.activityPrivacy} in ('named', 'team')`),
  ],
)

/** A column for rows that are deleted with their workspace. */
export const workspaceId = () =>
  uuid('workspace_id')
    .notNull()
    .references(() => workspaces.id, { onDelete: 'cascade' })

/**
 * The last versions of a workspace's settings, without the privacy level, which a restore must not loosen. The current
 * version is missing if an earlier release wrote it. `insertSettingsVersion` adds it.
 */
export const workspaceSettingsVersions = table(
  'workspace_settings_versions',
  {
    workspaceId: workspaceId(),
    version: integer('version').notNull(),
    settings: text('settings').notNull(),
    locked: text('locked').notNull(),
    /** Earlier releases don't write it. */
    merged: text('merged').notNull().default('[]'),
    idleWindowMinutes: smallint('idle_window_minutes').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** Null: an earlier release wrote it and didn't record the author. */
    createdBy: uuid('created_by').references(() => users.id),
    /** The name of the access key that wrote it; null: a person did. */
    createdByKey: text('created_by_key'),
    /** Why the author made the change, in their words. */
    reason: text('reason'),
  },
  {
    people: { createdBy: { erasure: 'anonymize', export: 'workspace_settings_written' } },
    place: 'every node',
    privacyRecord: 'settings',
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.version] }),
    index('workspace_settings_versions_by_author').on(t.createdBy, t.workspaceId, t.version),
  ],
)

/** The history of privacy levels. Kept as long as the activity, because it decides how activity is shown. */
export const privacyLevelsOfWorkspaces = table(
  'privacy_levels',
  {
    workspaceId: workspaceId(),
    id: uuid('id').notNull(),
    since: moment('since').notNull(),
    level: text('level', { enum: privacyLevels }).notNull(),
  },
  { place: 'every node', privacyRecord: null },
  (t) => [primaryKey({ columns: [t.workspaceId, t.id] })],
)

export const members = table(
  'members',
  {
    workspaceId: workspaceId(),
    userId: person('user_id'),
    role: text('role', { enum: ['admin', 'member'] }).notNull(),
    joinedAt: moment('joined_at').notNull().defaultNow(),
  },
  {
    people: { userId: { erasure: 'delete', export: 'memberships', label: 'memberships' } },
    place: 'every node',
    privacyRecord: 'membership',
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.userId] }),
    index('members_of_user').on(t.userId, t.workspaceId, t.role),
    index('members_by_joined_at').on(t.workspaceId, t.joinedAt, t.userId),
    check('members_role', sql`${t.role} in ('admin', 'member')`),
  ],
)

/** The repository-host organization or GitLab group that a workspace follows. */
export const organizations = table(
  'organizations',
  {
    workspaceId: workspaceId(),
    /** The host's numeric id, which never changes hands. Names do. */
    hostId: bigint('host_id', { mode: 'number' }).notNull(),
    name: text('name').notNull(),
    joins: text('joins', { enum: organizationJoins }).notNull(),
    leaves: text('leaves', { enum: organizationLeaves }).notNull(),
    linkedBy: person('linked_by'),
    linkedAt: moment('linked_at').notNull(),
    /** The last time since then that the host confirmed `linkedBy` as an owner. */
    confirmedAt: moment('confirmed_at'),
    /**
     * When the host said that `linkedBy` doesn't own it. If it is earlier than `linkedAt`, it belongs to the previous
     * link.
     */
    deniedAt: moment('denied_at'),
  },
  {
    people: { linkedBy: { erasure: 'anonymize', export: 'organizations_linked' } },
    place: 'every node',
    privacyRecord: 'membership',
    label: 'linked organizations',
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId] }),
    index('organizations_by_host_id').on(t.hostId),
    index('organizations_by_linker').on(t.linkedBy),
  ],
)

/** The host's reports about members of a workspace that follows an organization. A row ends with its membership. */
export const organizationMembers = table(
  'organization_members',
  {
    workspaceId: workspaceId(),
    userId: person('user_id'),
    /** The last sign-in at which the host confirmed someone who joined through a link, or the link itself if it is newer. Null: joined by invite. */
    confirmedAt: moment('confirmed_at'),
    /** When the host first said that the member has left, while the removal waits for an admin. */
    leftAt: moment('left_at'),
  },
  {
    people: { userId: { erasure: 'delete', export: 'organization_memberships' } },
    place: 'every node',
    privacyRecord: 'membership',
    label: 'memberships from an organization',
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.userId] }),
    foreignKey({
      name: 'organization_members_of_member',
      columns: [t.workspaceId, t.userId],
      foreignColumns: [members.workspaceId, members.userId],
    }).onDelete('cascade'),
    index('organization_members_of_user').on(t.userId),
  ],
)

/**
 * A person's last removal from a workspace. That person can't use older invites. Leaving isn't a removal. It has
 * the time `-infinity`, and only keeps an organization from bringing the person back.
 */
export const removals = table(
  'removals',
  {
    workspaceId: workspaceId(),
    userId: person('user_id'),
    removedAt: moment('removed_at').notNull(),
    /** Whether an organization can make the person a member again. */
    returns: boolean('returns').notNull().default(false),
    /** Ids and signature hashes of the host's last reports about the person, so that repeats have no effect. */
    reports: text('reports').array().notNull().default([]),
  },
  {
    people: { userId: { erasure: 'delete', export: 'removals' } },
    place: 'every node',
    privacyRecord: 'membership',
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.userId] }), index('removals_of_user').on(t.userId)],
)

/** SQL: invites that can still be redeemed. Nothing makes any other invite active again. */
export const ACTIVE_INVITE =
  'revoked_at is null and expires_at > now() and (max_uses is null or used_count < max_uses)'

/** SQL: whether an invite from before the removal can still be redeemed. */
export const hasOlderInvite = (table: string) => `exists (
    select from invites
    where workspace_id = ${table}.workspace_id and created_at <= ${table}.removed_at and ${ACTIVE_INVITE}
  )`

/** SQL: whether an organization makes its people members of the workspace. */
export const isFollowing = (table: string) => `exists (
    select from organizations where workspace_id = ${table}.workspace_id and joins = 'member'
  )`

/**
 * SQL: why the link `table` doesn't make anyone a member although it's set to. Null if the link is active. It depends
 * on the rights of the link's creator, so it changes in the transaction that revokes them.
 */
export const pausedBecause = (table: string) => `case
    when ${table}.joins <> 'member' then null
    when not exists (
      select from members creator
      where creator.workspace_id = ${table}.workspace_id and creator.user_id = ${table}.linked_by and creator.role = 'admin'
    ) then 'maker_left'
    when ${table}.denied_at >= ${table}.linked_at then 'maker_not_owner'
    when greatest(${table}.linked_at, ${table}.confirmed_at) < now() - interval '${limits.membership_unconfirmed_days} days' then 'not_confirmed'
  end`

/** SQL: whether the link `table` makes people members. */
export const isAdmitting = (table: string) =>
  `(${table}.joins = 'member' and ${pausedBecause(table)} is null)`

/** SQL: the membership `table` came from an organization, not an invite. */
export const joinedByOrganization = (table: string) => `exists (
    select from organization_members om
    where om.workspace_id = ${table}.workspace_id and om.user_id = ${table}.user_id and om.confirmed_at is not null
  )`

/**
 * Removals of people who deleted their account, kept while an older invite or an organization could let a new account
 * of theirs in. Nothing here identifies an account. `person` is an HMAC of the host's id
 * (`features/accounts/person-keys.ts`).
 */
export const removedPeople = table(
  'removed_people',
  {
    workspaceId: workspaceId(),
    /** The secret that the HMAC was made with. */
    keyId: text('key_id').notNull(),
    person: text('person').notNull(),
    removedAt: moment('removed_at').notNull(),
  },
  {
    expiry: {
      task: 'ended removals',
      sql: `not ${hasOlderInvite('removed_people')} and not ${isFollowing('removed_people')}`,
    },
    place: 'every node',
    privacyRecord: 'kept removals',
    label: 'kept removals',
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.keyId, t.person] })],
)

export const invites = table(
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
    createdBy: person('created_by'),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  {
    people: { createdBy: { erasure: 'anonymize', export: 'invites' } },
    place: 'every node',
    privacyRecord: 'settings',
  },
  (t) => [
    index('invites_of_workspace').on(t.workspaceId, t.createdAt),
    index('invites_by_author').on(t.createdBy),
    check('invites_uses', sql`${t.maxUses} is null or ${t.usedCount} <= ${t.maxUses}`),
  ],
)

/** Repo patterns, split when they're stored so that matching takes an equality and at most one LIKE. */
export const patterns = table(
  'patterns',
  {
    workspaceId: workspaceId(),
    ownerKey: text('owner_key').notNull(),
    repoKey: text('repo_key').notNull(),
    position: smallint('position').notNull(),
    pattern: text('pattern').notNull(),
    exact: boolean('exact').notNull(),
    /** Characters of the pattern that aren't `*`. */
    literalLength: smallint('literal_length').notNull(),
    /** `repo_key` as an escaped LIKE pattern: `_`, `%` and `\` stand for themselves. */
    repoLike: text('repo_like').notNull(),
  },
  { place: 'every node', privacyRecord: null },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.ownerKey, t.repoKey] }),
    index('patterns_by_owner').on(t.ownerKey, t.workspaceId),
  ],
)

/** SQL: whether an entry's target is a person. */
export const isAboutPeople = () => `(action like 'member.%' or action = 'invites.revoked')`

export const auditEntries = table(
  'audit_entries',
  {
    workspaceId: workspaceId(),
    id: uuid('id').notNull(),
    /** The statement's time, not the transaction's, so that changes that waited for each other keep their order. */
    at: moment('at').notNull().default(sql`clock_timestamp()`),
    /** The login at the time. A rename doesn't change the audit trail. */
    actor: text('actor').notNull(),
    /** Null in entries from before ids were stored. */
    actorId: uuid('actor_id'),
    action: text('action').notNull(),
    target: text('target'),
    /** Set if the target is a person. Null in entries from before ids were stored. */
    targetId: uuid('target_id'),
    details: jsonb('details').notNull(),
  },
  {
    people: {
      actorId: {
        erasure: { by: 'ANONYMIZE_AUDIT_TRAIL' },
        export: 'audit',
        label: 'audit entries by the person',
      },
      targetId: {
        erasure: { by: 'ANONYMIZE_AUDIT_TRAIL' },
        export: 'audit',
        label: 'audit entries about the person',
      },
    },
    expiry: { task: 'old audit entries', sql: `at < ${daysAgo(limits.audit_days)}` },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'audit trail',
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
      .where(sql`${t.targetId} is null and ${sql.raw(isAboutPeople())}`),
  ],
)
