import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core'
import { limits } from '../../../schemas/limits.js'
import { daysAgo } from '../../platform/database/limited-delete.js'
import { moment, table } from '../../platform/database/table.js'
import { person } from '../accounts/tables.js'
import { workspaceId } from '../workspaces/tables.js'

/** A repository's current settings, as pushed through one workspace. */
export const snapshots = table(
  'snapshots',
  {
    ownerKey: text('owner_key').notNull(),
    repoKey: text('repo_key').notNull(),
    workspaceId: workspaceId(),
    /** Every first push gets a new one, so that ETags are never reused. */
    id: uuid('id').notNull(),
    owner: text('owner').notNull(),
    repo: text('repo').notNull(),
    version: integer('version').notNull(),
    /** The JSON text, exactly as GET returns it. */
    settings: text('settings').notNull(),
    sizeBytes: integer('size_bytes').notNull(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
    updatedBy: person('updated_by'),
  },
  {
    people: { updatedBy: { erasure: 'anonymize', export: 'settings_written' } },
    place: { spreadBy: 'owner_key' },
    privacyRecord: 'settings',
  },
  (t) => [
    primaryKey({ columns: [t.ownerKey, t.repoKey, t.workspaceId] }),
    // Includes the size, so that checking the storage quota takes only an index-only scan.
    index('snapshots_of_workspace').on(t.workspaceId, t.sizeBytes),
    index('snapshots_by_name').on(t.workspaceId, t.repoKey),
    index('snapshots_by_author').on(t.updatedBy),
  ],
)

/** The last versions of a snapshot, the current one included. */
export const snapshotVersions = table(
  'snapshot_versions',
  {
    ownerKey: text('owner_key').notNull(),
    repoKey: text('repo_key').notNull(),
    workspaceId: workspaceId(),
    version: integer('version').notNull(),
    settings: text('settings').notNull(),
    sizeBytes: integer('size_bytes').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    createdBy: person('created_by'),
    /** Why the author restored it, in their own words. */
    reason: text('reason'),
  },
  {
    people: { createdBy: { erasure: 'anonymize', export: 'settings_written' } },
    place: { spreadBy: 'owner_key' },
    privacyRecord: 'settings',
  },
  (t) => [
    primaryKey({ columns: [t.ownerKey, t.repoKey, t.workspaceId, t.version] }),
    index('snapshot_versions_of_workspace').on(t.workspaceId, t.ownerKey, t.repoKey, t.version),
    index('snapshot_versions_by_author').on(t.createdBy, t.ownerKey, t.repoKey, t.workspaceId, t.version),
  ],
)

/** Per-repo overrides of a workspace's settings. */
export const overrides = table(
  'overrides',
  {
    ownerKey: text('owner_key').notNull(),
    repoKey: text('repo_key').notNull(),
    workspaceId: workspaceId(),
    /** Every write gets a new one. Part of the ETags of overrides and effective configurations. */
    revision: uuid('revision').notNull(),
    owner: text('owner').notNull(),
    repo: text('repo').notNull(),
    version: integer('version').notNull().default(1),
    settings: text('settings').notNull(),
    sizeBytes: integer('size_bytes').notNull().generatedAlwaysAs(sql`octet_length("settings")`),
    updatedAt: moment('updated_at').notNull().defaultNow(),
    updatedBy: person('updated_by'),
    /** The name of the workspace key that wrote it; `updated_by` is then the admin who created the key. */
    updatedByKey: text('updated_by_key'),
    /** Why the author made the change, in their own words. */
    reason: text('reason'),
  },
  {
    people: { updatedBy: { erasure: 'anonymize', export: 'overrides_written' } },
    place: { spreadBy: 'owner_key' },
    privacyRecord: 'settings',
  },
  (t) => [
    primaryKey({ columns: [t.ownerKey, t.repoKey, t.workspaceId] }),
    unique('overrides_of_workspace').on(t.workspaceId, t.ownerKey, t.repoKey),
    index('overrides_by_size').on(t.workspaceId, t.sizeBytes),
    index('overrides_by_name').on(t.workspaceId, t.repoKey),
    index('overrides_by_author').on(t.updatedBy),
  ],
)

/** An override's last versions before the current one. */
export const overrideVersions = table(
  'override_versions',
  {
    ownerKey: text('owner_key').notNull(),
    repoKey: text('repo_key').notNull(),
    workspaceId: workspaceId(),
    version: integer('version').notNull(),
    settings: text('settings').notNull(),
    createdAt: moment('created_at').notNull(),
    createdBy: person('created_by'),
    /** The name of the workspace key that wrote it; `created_by` is then the admin who created the key. */
    createdByKey: text('created_by_key'),
    reason: text('reason'),
  },
  {
    people: { createdBy: { erasure: 'anonymize', export: 'override_versions_written' } },
    place: { spreadBy: 'owner_key' },
    privacyRecord: 'settings',
  },
  (t) => [
    primaryKey({ columns: [t.ownerKey, t.repoKey, t.workspaceId, t.version] }),
    index('override_versions_of_workspace').on(t.workspaceId, t.ownerKey, t.repoKey, t.version),
    index('override_versions_by_author').on(t.createdBy, t.ownerKey, t.repoKey, t.workspaceId, t.version),
  ],
)

/** Renames of repositories that webhooks have reported, so that a report has an effect once. */
export const reportedRenames = table(
  'reported_renames',
  {
    workspaceId: workspaceId(),
    /** The SHA-256 of the payload. */
    hash: text('hash').notNull(),
    at: moment('at').notNull().defaultNow(),
  },
  {
    expiry: { task: 'old reported renames', sql: `at < ${daysAgo(limits.webhook_days)}` },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'deliveries',
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.hash] }), index('reported_renames_by_age').on(t.at)],
)
