import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  date,
  index,
  integer,
  jsonb,
  pgView,
  primaryKey,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { limits } from '../../../schemas/limits.js'
import { dayRanges, moment } from '../../platform/database/columns.js'
import { daysAgo } from '../../platform/database/limited-delete.js'
import { type PersonRule, table } from '../../platform/database/table.js'
import { DELETED_USER } from '../accounts/deleted-user.js'
import { users } from '../accounts/tables.js'
import { workspaceId } from '../workspaces/tables.js'
import type { DayCrews } from './shared-hours.js'

/**
 * The activity of a member on a UTC day in a repository. Rows of zeros have no meaning. There is no reference
 * to `members`, because what people did stays when they leave. Its pages are filled to 70 % (`drizzle/0009`): a row that
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
    /** Whether an upload set the count, which webhooks then do not change. Null: if there is a count, an upload set it. */
    commitsUploaded: boolean('commits_uploaded'),
    closedIssuesUploaded: boolean('closed_issues_uploaded'),
    /** 24 minutes by UTC hour; their sum is at most `minutes`. Null without minutes, and once it is older than the detail is kept. */
    hours: smallint('hours').array(),
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

/** Repositories with activity, in the case first given. */
export const activityRepos = table(
  'activity_repos',
  { workspaceId: workspaceId(), repoKey: text('repo_key').notNull(), repo: text('repo').notNull() },
  { place: { spreadBy: 'workspace_id' }, privacyRecord: null, label: 'repositories with activity' },
  (t) => [primaryKey({ columns: [t.workspaceId, t.repoKey] })],
)

/**
 * Members and former members with activity in a workspace. The row exists before the activity. A change of a person's
 * minutes locks the row, so that flushes of one person run one by one.
 */
export const activityPeople = table(
  'activity_people',
  { workspaceId: workspaceId(), userId: uuid('user_id').notNull() },
  {
    people: {
      userId: {
        erasure: { by: 'reassignActivity' },
        export: { leftOutBecause: 'it follows from the activity' },
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
 * Minutes in which a person's agents worked and the person didn't. Only the person sees them: no statement about a team
 * reads this table.
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
  },
  {
    people: { userId: { erasure: 'delete', export: 'agent_minutes' } },
    place: { spreadBy: 'user_id' },
    privacyRecord: 'agent time',
    label: 'minutes of agents',
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.workspaceId, t.day, t.repoKey] }),
    index('agent_minutes_of_workspace').on(t.workspaceId),
    index('agent_minutes_by_age').on(t.day).where(sql`${t.hours} is not null`),
  ],
)

/** The webhook of a workspace, through which the repository host reports commits and closed issues. */
export const webhooks = table(
  'webhooks',
  {
    workspaceId: workspaceId().primaryKey(),
    /** Random. The address of the webhook contains it, and its secrets are derived from it. */
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
        erasure: 'anonymise',
        export: { leftOutBecause: 'the audit trail has it' },
        label: 'webhooks created',
      },
    },
    place: 'every node',
    privacyRecord: 'audit trail',
  },
  (t) => [index('webhooks_by_creator').on(t.createdBy)],
)

/** Correctly signed requests of the repository host. */
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
    /** The status of the answer. */
    status: smallint('status').notNull(),
    counted: integer('counted').notNull(),
    skipped: integer('skipped').notNull(),
  },
  {
    expiry: { task: 'old deliveries', sql: `at < ${daysAgo(limits.webhook_days)}` },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'deliveries',
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.id] }), index('deliveries_by_age').on(t.at)],
)

/** SQL: what is too old to be reported again. A day later, so that nothing expires while it could still be reported. */
const CANNOT_BE_REPORTED = `day < (now() at time zone 'UTC')::date - ${limits.webhook_days + 1}`

/** Commits that webhooks have reported of members, so that each counts once. */
export const reportedCommits = table(
  'reported_commits',
  {
    workspaceId: workspaceId(),
    repoKey: text('repo_key').notNull(),
    hash: text('hash').notNull(),
    day: date('day').notNull(),
  },
  {
    expiry: { task: 'old reported commits', sql: CANNOT_BE_REPORTED },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'deliveries',
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.repoKey, t.hash] }),
    index('reported_commits_by_age').on(t.day),
  ],
)

/** The state of an issue after its last event of a UTC day. */
export const reportedIssues = table(
  'reported_issues',
  {
    workspaceId: workspaceId(),
    repoKey: text('repo_key').notNull(),
    number: bigint('number', { mode: 'number' }).notNull(),
    day: date('day').notNull(),
    /** The time of the event by the host's clock. */
    at: moment('at').notNull(),
    /** False: it was opened again. */
    closed: boolean('closed').notNull(),
    /** The member who closed it. Null: not a member, or a deleted account whose count an upload had decided. */
    userId: uuid('user_id'),
  },
  {
    people: {
      userId: {
        erasure: { by: 'reassignActivity' },
        export: { leftOutBecause: 'the activity says how many there are' },
      },
    },
    expiry: { task: 'old reported issues', sql: CANNOT_BE_REPORTED },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'deliveries',
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.repoKey, t.number, t.day] }),
    index('reported_issues_by_age').on(t.day),
    index('reported_issues_of_user').on(t.userId),
  ],
)

/**
 * The access log: all views of a viewer on a UTC day with the same filter. Not a row for each person seen: who that was
 * follows from the activity.
 */
export const dashboardViews = table(
  'dashboard_views',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    viewerId: uuid('viewer_id').notNull(),
    /** The viewed person. The nil UUID means all members. */
    memberId: uuid('member_id').notNull(),
    /** In lower case; empty without a filter. */
    repoKey: text('repo_key').notNull(),
    /** The first and the last day of all views. */
    from: date('from_day').notNull(),
    to: date('to_day').notNull(),
    /** Whether a view was a CSV download. */
    exported: boolean('exported').notNull(),
    /** The days of each kind of view. All are empty in rows of versions that knew only `from_day` and `to_day`. */
    viewed: dayRanges('viewed').notNull().default('{}'),
    compared: dayRanges('compared').notNull().default('{}'),
    downloaded: dayRanges('downloaded').notNull().default('{}'),
  },
  {
    people: {
      viewerId: {
        erasure: { by: 'reassignViews' },
        export: 'views_of_others',
        label: 'dashboard views by the person',
      },
      memberId: { erasure: 'delete', export: 'views', label: 'dashboard views of the person' },
    },
    expiry: { task: 'old views', sql: `day < (now() at time zone 'UTC')::date - ${limits.view_days}` },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'looks',
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
    privacyRecord: 'answers to flushes',
    label: 'answers to flushes',
  },
  (t) => [primaryKey({ columns: [t.userId, t.flushId] }), index('flushes_by_age').on(t.createdAt)],
)

/** Sums that may exceed 32 bits. */
const sums = () => ({
  minutes: bigint('minutes', { mode: 'number' }).notNull(),
  commits: bigint('commits', { mode: 'number' }).notNull(),
  closedIssues: bigint('closed_issues', { mode: 'number' }).notNull(),
})

/** Sums that may be hidden, or not known. */
const shownSums = () => ({
  minutes: bigint('minutes', { mode: 'number' }),
  commits: bigint('commits', { mode: 'number' }),
  closedIssues: bigint('closed_issues', { mode: 'number' }),
})

/** Rollups are rebuilt by what takes the activity away. */
const rolledUp: PersonRule = {
  erasure: { by: 'reassignActivity' },
  export: { leftOutBecause: 'it is made of the activity' },
}

/** The sums of a workspace's days. This and the tables below are rollups: made of `activity`, a day or a month at a time. */
export const activityDays = table(
  'activity_days',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    ...sums(),
    /** People with minutes. */
    activeMembers: integer('active_members').notNull(),
    /** The crews of the day's heatmap, with ids of users. Null until a version that knows this column has rolled the day up. */
    hourCrews: jsonb('hour_crews').$type<DayCrews>(),
    /** Whether the rollups by repository have all columns. Null until a version that knows them has rolled the day up. */
    byRepo: boolean('by_repo'),
  },
  { place: { spreadBy: 'workspace_id' }, privacyRecord: 'minutes', label: 'activity by day' },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.day] }),
    index('activity_days_not_by_repo').on(t.workspaceId, t.day).where(sql`by_repo is null`),
  ],
)

export const activityMemberDays = table(
  'activity_member_days',
  { workspaceId: workspaceId(), day: date('day').notNull(), userId: uuid('user_id').notNull(), ...sums() },
  {
    people: { userId: rolledUp },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'minutes',
    label: 'activity by person and day',
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.day, t.userId] })],
)

/** A month by its first day. */
const month = () => date('month').notNull()

export const activityMemberMonths = table(
  'activity_member_months',
  {
    workspaceId: workspaceId(),
    month: month(),
    userId: uuid('user_id').notNull(),
    ...sums(),
    /** The days of the month with more than 0 minutes: bit 0 is the first. So any part of a month can be asked for. */
    activeDayBits: integer('active_day_bits').notNull(),
  },
  {
    people: { userId: rolledUp },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'minutes',
    label: 'activity by person and month',
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.month, t.userId] })],
)

/** The sums of a repository's days. Columns without a value are those of versions that do not know them. */
export const activityRepoDays = table(
  'activity_repo_days',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    repoKey: text('repo_key').notNull(),
    ...sums(),
    /** People with minutes. */
    activeMembers: integer('active_members'),
    /** Time zones of people with hours. The arrays below have an element for each of them. Null without hours. */
    timezones: text('timezones').array(),
    /** Arrays of 24 minutes by UTC hour; of 24 nulls where `crews` names everyone, so that few rows of activity have them. */
    hours: integer('hours').array(),
    /** How many people have hours. */
    crewSizes: integer('crew_sizes').array(),
    /** Arrays of ids of users: three of the people, and nulls where there are fewer. */
    crews: uuid('crews').array(),
  },
  {
    people: { crews: rolledUp },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'hours',
    label: 'activity by repository and day',
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.day, t.repoKey] }),
    index('activity_repo_days_with_hours').on(t.day).where(sql`timezones is not null`),
  ],
)

export const activityRepoMonths = table(
  'activity_repo_months',
  { workspaceId: workspaceId(), month: month(), repoKey: text('repo_key').notNull(), ...sums() },
  { place: { spreadBy: 'workspace_id' }, privacyRecord: null, label: 'activity by repository and month' },
  (t) => [primaryKey({ columns: [t.workspaceId, t.month, t.repoKey] })],
)

/** People with activity in a repository in a month, without deleted accounts. */
export const activityRepoPeople = table(
  'activity_repo_people',
  {
    workspaceId: workspaceId(),
    month: month(),
    repoKey: text('repo_key').notNull(),
    userId: uuid('user_id').notNull(),
    /** The days of the month with anything: bit 0 is the first. */
    dayBits: integer('day_bits').notNull(),
    /** The days with more than 0 minutes. This and all below are null in rows of versions that do not know them. */
    activeDayBits: integer('active_day_bits'),
    ...shownSums(),
    /** The minutes in each ISO week that the month touches, in the month alone: always six, so that all can be added up. */
    weekMinutes: integer('week_minutes').array(),
  },
  {
    people: { userId: rolledUp },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'minutes',
    label: 'activity by repository, person and month',
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.month, t.repoKey, t.userId] })],
)

/** Minutes of a UTC day by local weekday (1: Monday) and hour. */
export const activityHours = table(
  'activity_hours',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    weekday: smallint('weekday').notNull(),
    hour: smallint('hour').notNull(),
    minutes: bigint('minutes', { mode: 'number' }).notNull(),
  },
  { place: { spreadBy: 'workspace_id' }, privacyRecord: 'hours', label: 'activity by hour' },
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
export const publishedWeeks = table(
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
  { place: { spreadBy: 'workspace_id' }, privacyRecord: null },
  (t) => [primaryKey({ columns: [t.workspaceId, t.week] })],
)

export const publishedDays = table(
  'published_days',
  {
    workspaceId: workspaceId(),
    week: date('week').notNull(),
    day: date('day').notNull(),
    ...shownSums(),
    activeMembers: integer('active_members'),
  },
  { place: { spreadBy: 'workspace_id' }, privacyRecord: null },
  (t) => [primaryKey({ columns: [t.workspaceId, t.week, t.day] })],
)

export const publishedRepos = table(
  'published_repos',
  {
    workspaceId: workspaceId(),
    week: date('week').notNull(),
    repoKey: text('repo_key').notNull(),
    ...shownSums(),
    activeMembers: integer('active_members'),
    /** The same, as written by the previous version. */
    members: integer('members').notNull(),
  },
  { place: { spreadBy: 'workspace_id' }, privacyRecord: null, label: 'published repositories' },
  (t) => [primaryKey({ columns: [t.workspaceId, t.week, t.repoKey] })],
)

export const publishedCells = table(
  'published_cells',
  {
    workspaceId: workspaceId(),
    week: date('week').notNull(),
    weekday: smallint('weekday').notNull(),
    hour: smallint('hour').notNull(),
    minutes: bigint('minutes', { mode: 'number' }).notNull(),
  },
  { place: { spreadBy: 'workspace_id' }, privacyRecord: null, label: 'published hours' },
  (t) => [primaryKey({ columns: [t.workspaceId, t.week, t.weekday, t.hour] })],
)

/** The views below are for people and their tools, and read by nothing here. Names and order of columns stay. */
const reportColumns = () => ({
  workspaceId: uuid('workspace_id').notNull(),
  workspace: text('workspace').notNull(),
  day: date('day').notNull(),
})

/** The activity of each person on each UTC day. */
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

/** The activity in each repository on each UTC day, with the number of people without deleted accounts. */
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

/** Minutes of each UTC day by the local weekday (1: Monday) and hour. From the rollup: a change follows within five minutes, one of the current day within an hour. */
export const reportHours = pgView('report_hours', {
  ...reportColumns(),
  weekday: smallint('weekday').notNull(),
  hour: smallint('hour').notNull(),
  minutes: bigint('minutes', { mode: 'number' }).notNull(),
}).as(sql`
  select h.workspace_id, w.name as workspace, h.day, h.weekday, h.hour, h.minutes
  from activity_hours h
  join workspaces w on w.id = h.workspace_id and w.deleted_at is null`)

/**
 * Days whose rollups are out of date, because `activity` has changed since. Every transaction that changes it adds its
 * marks, and a dashboard reads a marked day from `activity` itself. Rows are only added and deleted, so that no writer
 * waits for another. Declared last, so that the purge of a workspace begins with the marks.
 */
export const staleDays = table(
  'stale_days',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    id: uuid('id').notNull().defaultRandom(),
    /** When the day began to wait for its rollups. */
    at: moment('at').notNull().defaultNow(),
  },
  { place: { spreadBy: 'workspace_id' }, privacyRecord: null, label: 'days that wait for their rollups' },
  (t) => [primaryKey({ columns: [t.workspaceId, t.day, t.id] })],
)
