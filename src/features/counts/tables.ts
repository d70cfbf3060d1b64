import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  date,
  index,
  integer,
  jsonb,
  primaryKey,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { limits } from '../../../schemas/limits.js'
import { daysAgo } from '../../platform/database/limited-delete.js'
import { moment, table } from '../../platform/database/table.js'
import { users } from '../accounts/tables.js'
import { workspaceId } from '../workspaces/tables.js'
import type { SkippedCommit } from './webhooks/delivery.js'

/** A workspace's webhook, through which the repository host reports commits and closed issues. */
export const webhooks = table(
  'webhooks',
  {
    workspaceId: workspaceId().primaryKey(),
    /** Random. It's part of the webhook's address, and the secrets are derived from it. */
    id: uuid('id').notNull().unique(),
    /** Secrets of a webhook are numbered from 1. */
    generation: integer('generation').notNull().default(1),
    /** When each of the last few secrets was replaced, the latest first. */
    replacedAt: moment('replaced_at').array().notNull().default([]),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** The admin who was shown the current secret. Null: unknown, because an earlier release created it. */
    createdBy: uuid('created_by').references(() => users.id),
  },
  {
    people: {
      createdBy: {
        erasure: 'anonymize',
        export: { excludedBecause: 'the audit trail has it' },
        label: 'webhooks created',
      },
    },
    place: 'every node',
    privacyRecord: 'audit trail',
  },
  (t) => [index('webhooks_by_creator').on(t.createdBy)],
)

/** Correctly signed requests from the repository host. */
export const deliveries = table(
  'deliveries',
  {
    workspaceId: workspaceId(),
    id: uuid('id').notNull(),
    /** The host's id of the delivery, which stays the same when the host sends it again. Null: there is none. */
    deliveryId: text('delivery_id'),
    at: moment('at').notNull().default(sql`clock_timestamp()`),
    event: text('event').notNull(),
    /** Null: the payload names no repository. */
    repo: text('repo'),
    /** The response status. */
    status: smallint('status').notNull(),
    counted: integer('counted').notNull(),
    skipped: integer('skipped').notNull(),
    /** Why they were skipped, and how many commits the host left out. Null: an earlier release received it. */
    notAMember: integer('not_a_member'),
    unknownAuthor: integer('unknown_author'),
    outsidePatterns: integer('outside_patterns'),
    notDelivered: integer('not_delivered'),
    /** The first ones. Null: none, or an author has deleted their account. */
    skippedCommits: jsonb('skipped_commits').$type<SkippedCommit[]>(),
  },
  {
    expiry: { task: 'old deliveries', sql: `at < ${daysAgo(limits.webhook_days)}` },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'deliveries',
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.id] }),
    index('deliveries_by_age').on(t.at),
    index('deliveries_by_skipped').using('gin', t.skippedCommits.op('jsonb_path_ops')),
  ],
)

/** SQL: rows too old to be reported again, plus a day, so that nothing expires while it could still be reported. */
const IS_OUT_OF_REPORT_RANGE = `day < (now() at time zone 'UTC')::date - ${limits.webhook_days + 1}`

/** Members' commits that webhooks have reported, so that each counts once in a workspace, for the first repository. */
export const reportedCommits = table(
  'reported_commits',
  {
    workspaceId: workspaceId(),
    repoKey: text('repo_key').notNull(),
    hash: text('hash').notNull(),
    day: date('day').notNull(),
  },
  {
    expiry: { task: 'old reported commits', sql: IS_OUT_OF_REPORT_RANGE },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'deliveries',
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.repoKey, t.hash] }),
    index('reported_commits_by_hash').on(t.workspaceId, t.hash),
    index('reported_commits_by_age').on(t.day),
  ],
)

/** An issue's state after its last event on the closer's local day. Earlier releases stored UTC days. */
export const reportedIssues = table(
  'reported_issues',
  {
    workspaceId: workspaceId(),
    /** Empty: `number` is the host's id of the issue, which stays the same when its repository is renamed or transferred. */
    repoKey: text('repo_key').notNull(),
    number: bigint('number', { mode: 'number' }).notNull(),
    day: date('day').notNull(),
    /** The time of the event by the host's clock. */
    at: moment('at').notNull(),
    /** Whether the issue is closed. False: it was opened again. */
    closed: boolean('closed').notNull(),
    /** The repository that it counts in. Null: `repoKey`. */
    countedIn: text('counted_in'),
    /** The member who closed it. Null: not a member, or a deleted account whose count an upload had decided. */
    userId: uuid('user_id'),
  },
  {
    people: {
      userId: {
        erasure: { by: 'reassignActivity' },
        export: { excludedBecause: 'the activity says how many there are' },
      },
    },
    expiry: { task: 'old reported issues', sql: IS_OUT_OF_REPORT_RANGE },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'deliveries',
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.repoKey, t.number, t.day] }),
    index('reported_issues_by_age').on(t.day),
    index('reported_issues_of_user').on(t.userId),
  ],
)
