import { bigint, boolean, date, index, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { limits } from '../../../schemas/limits.js'
import { daysAgo } from '../../platform/database/limited-delete.js'
import { moment, table } from '../../platform/database/table.js'
import { hourColumns } from '../own-time/tables.js'
import { workspaceId } from '../workspaces/tables.js'

/** Sums that may exceed 32 bits. */
export const sums = () => ({
  minutes: bigint('minutes', { mode: 'number' }).notNull(),
  commits: bigint('commits', { mode: 'number' }).notNull(),
  closedIssues: bigint('closed_issues', { mode: 'number' }).notNull(),
})

/**
 * A member's activity on a local day in a repository (docs/decisions/21-local-days.md). Rows with only zeros mean nothing.
 * There's no foreign key to `members`, because people's activity stays when they leave. Its pages are filled to 70 %: a
 * row that changes then stays in its page, and needs no new entries in the indexes.
 */
export const dailyActivity = table(
  'daily_activity',
  {
    workspaceId: workspaceId(),
    userId: uuid('user_id').notNull(),
    day: date('day').notNull(),
    repoKey: text('repo_key').notNull(),
    // Can exceed one person's limit, because the rows of deleted accounts are added up.
    minutes: integer('minutes').notNull().default(0),
    commits: integer('commits').notNull().default(0),
    closedIssues: integer('closed_issues').notNull().default(0),
    /**
     * Whether an upload set the count, which webhooks then don't change. Null: if there is a count, an upload set it.
     */
    commitsUploaded: boolean('commits_uploaded'),
    closedIssuesUploaded: boolean('closed_issues_uploaded'),
    ...hourColumns(),
  },
  {
    people: { userId: { erasure: { by: 'reassignActivity' }, export: 'activity' } },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'minutes',
    label: 'activity',
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.userId, t.day, t.repoKey] }),
    // Includes the user, so that a member's days are found as fast as with the primary key.
    index('daily_activity_of_day').on(t.workspaceId, t.day, t.userId, t.repoKey),
    index('daily_activity_of_repo').on(t.workspaceId, t.repoKey, t.day),
  ],
)

/** Repositories with activity, in their original case. */
export const activityRepos = table(
  'activity_repos',
  { workspaceId: workspaceId(), repoKey: text('repo_key').notNull(), repo: text('repo').notNull() },
  { place: { spreadBy: 'workspace_id' }, privacyRecord: null, label: 'repositories with activity' },
  (t) => [primaryKey({ columns: [t.workspaceId, t.repoKey] })],
)

/** Members and former members with activity in a workspace. The row exists before the activity. */
export const activityPeople = table(
  'activity_people',
  { workspaceId: workspaceId(), userId: uuid('user_id').notNull() },
  {
    people: {
      userId: {
        erasure: { by: 'reassignActivity' },
        export: { excludedBecause: 'it follows from the activity' },
      },
    },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'minutes',
    label: 'people with activity',
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.userId] }),
    index('activity_people_of_user').on(t.userId, t.workspaceId),
  ],
)

/** Responses to flushes, so that retries don't count again. Written in the transaction that counts the flush. */
export const flushes = table(
  'flushes',
  {
    userId: uuid('user_id').notNull(),
    flushId: text('flush_id').notNull(),
    bodyHash: text('body_hash').notNull(),
    answer: text('answer').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  {
    people: { userId: { erasure: 'delete', export: 'flushes' } },
    expiry: { task: 'old flush ids', sql: `created_at < ${daysAgo(limits.flush_id_days)}` },
    place: { spreadBy: 'user_id' },
    routedBy: { also: 'the patterns of workspaces that the person has joined' },
    privacyRecord: 'answers to flushes',
    label: 'answers to flushes',
  },
  (t) => [primaryKey({ columns: [t.userId, t.flushId] }), index('flushes_by_age').on(t.createdAt)],
)

/**
 * Local days whose rollups are out of date, because `daily_activity` has changed since. A dashboard reads them from
 * `daily_activity`.
 */
export const changedDays = table(
  'changed_days',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    /** Since when the day has waited. */
    at: moment('at').notNull().defaultNow(),
  },
  {
    place: { spreadBy: 'workspace_id' },
    // A rollup in progress holds the marks, so a later one doesn't find them.
    purgedFirst: true,
    privacyRecord: null,
    label: 'days that wait for their rollups',
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.day] })],
)
