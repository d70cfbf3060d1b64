import { sql } from 'drizzle-orm'
import {
  bigint,
  bit,
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
import { workspaceId } from '../workspaces/tables.js'

/** Sums that may exceed 32 bits. */
export const sums = () => ({
  minutes: bigint('minutes', { mode: 'number' }).notNull(),
  commits: bigint('commits', { mode: 'number' }).notNull(),
  closedIssues: bigint('closed_issues', { mode: 'number' }).notNull(),
})

/**
 * Where a row's minutes are on the person's own calendar (docs/decisions/21-local-days.md). Commits, issues and minutes
 * without an hour belong to the row's day.
 */
const localShares = () => ({
  /** The time zone in which the row's hours were recorded; it goes with them. Null: none, or written by the previous version. */
  timezone: text('timezone'),
  /** The part of `minutes` on the local day before. It stays when the hours are deleted. */
  minutesBefore: integer('minutes_before').notNull().default(0),
  /** The part of `minutes` on the local day after. */
  minutesAfter: integer('minutes_after').notNull().default(0),
})

/**
 * A member's activity on a UTC day in a repository. Rows with only zeros mean nothing. There's no foreign key to
 * `members`, because people's activity stays when they leave. Its pages are filled to 70 % (`drizzle/0029`): a row that
 * changes then stays in its page, and needs no new entries in the indexes.
 */
export const activity = table(
  'activity',
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
    /**
     * Minutes in each of the 24 UTC hours. Their sum is at most `minutes`. Null without minutes, and once the hours are
     * past their retention period.
     */
    hours: smallint('hours').array(),
    ...localShares(),
  },
  {
    people: { userId: { erasure: { by: 'reassignActivity' }, export: 'activity' } },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'minutes',
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.userId, t.day, t.repoKey] }),
    // Includes the user, so that a member's days are found as fast as with the primary key.
    index('activity_of_day').on(t.workspaceId, t.day, t.userId, t.repoKey),
    index('activity_of_repo').on(t.workspaceId, t.repoKey, t.day),
  ],
)

/**
 * The part of a row's hours that was recorded in another time zone than the row's: on a journey, or by a second machine.
 */
export const activityOtherZones = table(
  'activity_other_zones',
  {
    workspaceId: workspaceId(),
    userId: uuid('user_id').notNull(),
    day: date('day').notNull(),
    repoKey: text('repo_key').notNull(),
    timezone: text('timezone').notNull(),
    /** As in `activity`. */
    hours: smallint('hours').array().notNull(),
  },
  {
    people: {
      userId: {
        erasure: { by: 'reassignActivity' },
        export: 'activity',
      },
    },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'minutes',
    label: 'hours in other time zones',
  },
  (t) => [
    primaryKey({
      name: 'activity_other_zones_pk',
      columns: [t.workspaceId, t.userId, t.day, t.repoKey, t.timezone],
    }),
  ],
)

/** Repositories with activity, in their original case. */
export const activityRepos = table(
  'activity_repos',
  { workspaceId: workspaceId(), repoKey: text('repo_key').notNull(), repo: text('repo').notNull() },
  { place: { spreadBy: 'workspace_id' }, privacyRecord: null, label: 'repositories with activity' },
  (t) => [primaryKey({ columns: [t.workspaceId, t.repoKey] })],
)

/**
 * Members and former members with activity in a workspace. The row exists before the activity. Changing a person's
 * minutes locks the row, so that their flushes run one by one.
 */
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

/**
 * Minutes in which a person's agents worked and the person didn't. Only the person sees them. No team query reads this
 * table.
 */
export const agentMinutes = table(
  'agent_minutes',
  {
    userId: uuid('user_id').notNull(),
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    repoKey: text('repo_key').notNull(),
    /** As first given. */
    repo: text('repo').notNull(),
    minutes: integer('minutes').notNull(),
    /** As in `activity`. */
    hours: smallint('hours').array(),
    ...localShares(),
    /** The part of `hours` in each other time zone. Null: none. */
    otherZones: jsonb('other_zones'),
  },
  {
    people: { userId: { erasure: 'delete', export: 'agent_minutes' } },
    place: { spreadBy: 'user_id' },
    routedBy: { also: 'the patterns of workspaces that the person has joined' },
    privacyRecord: 'agent time',
    label: 'minutes of agents',
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.workspaceId, t.day, t.repoKey] }),
    index('agent_minutes_of_workspace').on(t.workspaceId),
    index('agent_minutes_by_age').on(t.day).where(sql`${t.hours} is not null`),
  ],
)

/**
 * Minutes of a person's heartbeats and imports that count in no workspace, for that person only. Each minute is in one row
 * of its day at most. No team query reads this table.
 */
export const personalMinutes = table(
  'personal_minutes',
  {
    userId: uuid('user_id').notNull(),
    day: date('day').notNull(),
    /** A repository, or a project name that isn't one, in lower case. */
    repoKey: text('repo_key').notNull(),
    /** As given. */
    repo: text('repo').notNull(),
    minutes: integer('minutes').notNull(),
    /** One bit for each minute of the UTC day, the first minute first. Null: past their retention period. */
    marks: bit('marks', { dimensions: 1_440 }),
    ...localShares(),
    /** The part of `marks` in each other time zone. Null: none. */
    otherZones: jsonb('other_zones'),
  },
  {
    people: { userId: { erasure: 'delete', export: 'personal_minutes' } },
    place: { spreadBy: 'user_id' },
    routedBy: { also: 'the patterns of workspaces that the person has joined' },
    privacyRecord: 'personal minutes',
    label: 'minutes that no workspace counts',
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.day, t.repoKey] }),
    index('personal_minutes_by_age').on(t.day).where(sql`${t.marks} is not null`),
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

/** A mark of a day. Rows are only added and deleted, so that no writer waits for another. */
const dayMarks = () => ({
  workspaceId: workspaceId(),
  day: date('day').notNull(),
  id: uuid('id').notNull().defaultRandom(),
  /** Since when the day has waited. */
  at: moment('at').notNull().defaultNow(),
})

/**
 * Local days whose rollups are out of date, because `activity` has changed since. Every transaction that changes it adds
 * its marks, and a dashboard reads a marked day from `activity` itself.
 */
export const staleLocalDays = table(
  'stale_local_days',
  dayMarks(),
  {
    place: { spreadBy: 'workspace_id' },
    // A rollup in progress holds the marks, so a later one doesn't find them.
    purgedFirst: true,
    privacyRecord: null,
    label: 'days that wait for their rollups',
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.day, t.id] })],
)

/**
 * UTC days whose activity may not say yet where it is on people's calendars. The previous version, which knows no other
 * marks, adds them for whatever it writes, and takes them for its own rollups.
 */
export const staleDays = table(
  'stale_days',
  dayMarks(),
  {
    place: { spreadBy: 'workspace_id' },
    purgedFirst: true,
    privacyRecord: null,
    label: 'days that wait for locating',
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.day, t.id] })],
)
