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
import { moment, type PersonRule, table } from '../../platform/database/table.js'
import { DELETED_USER } from '../accounts/deleted-user.js'
import { sums } from '../minutes/tables.js'
import { workspaceId } from '../workspaces/tables.js'

/** Sums that may be hidden or unknown. */
const shownSums = () => ({
  minutes: bigint('minutes', { mode: 'number' }),
  commits: bigint('commits', { mode: 'number' }),
  closedIssues: bigint('closed_issues', { mode: 'number' }),
})

/** The code that removes activity rebuilds the rollups. */
const rolledUp: PersonRule = {
  erasure: { by: 'reassignActivity' },
  export: { excludedBecause: 'it is made from the activity' },
}

/** A workspace's sums by local day. This and the tables below are rollups, made from `activity` a day or a month at a time. */
export const activityDays = table(
  'activity_days',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    ...sums(),
    /** People with minutes. */
    activeMembers: integer('active_members').notNull(),
    /** People with minutes that have an hour. */
    peopleWithHours: integer('hour_people'),
    /** Null until the activity of the UTC day with the same date says where it is on people's calendars. */
    byLocalDay: boolean('by_local_day'),
    /** For the previous version, which rolls up days without `by_repo`. */
    hourCrews: jsonb('hour_crews'),
    byRepo: boolean('by_repo'),
  },
  { place: { spreadBy: 'workspace_id' }, privacyRecord: 'minutes', label: 'activity by day' },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.day] }),
    index('activity_days_not_by_repo').on(t.workspaceId, t.day).where(sql`by_repo is null`),
    index('activity_days_not_by_local_day').on(t.workspaceId, t.day).where(sql`by_local_day is null`),
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
    /** The month's days with more than 0 minutes: bit 0 is the first. This makes any part of a month readable. */
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

/** A repository's sums by local day. Versions that don't know a column leave it null. */
export const activityRepoDays = table(
  'activity_repo_days',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    repoKey: text('repo_key').notNull(),
    ...sums(),
    /** People with minutes. */
    activeMembers: integer('active_members'),
    /** People with minutes that have an hour. */
    peopleWithHours: integer('hour_people'),
    /** 24 minutes by local hour. Null without hours. */
    localHours: integer('local_hours').array(),
    /** Columns of the previous version. */
    timezones: text('timezones').array(),
    hours: integer('hours').array(),
    crewSizes: integer('crew_sizes').array(),
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
    /** The month's days with any activity: bit 0 is the first. */
    dayBits: integer('day_bits').notNull(),
    /** The days with more than 0 minutes. This and all below are null in rows that older versions wrote. */
    activeDayBits: integer('active_day_bits'),
    ...shownSums(),
    /** The month's minutes in each ISO week that it touches. The array always has six, so that rows can be added up. */
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

/** Minutes of a local day by hour, with its weekday (1: Monday). */
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
 * Weeks of local days (by their Monday) as shown at the privacy level `team`. The rows here and in the three tables below are
 * written once and never change. A number that must stay hidden is null, and a day, repository or cell with nothing to
 * show has no row. `features/rollups/published-week.ts` decides what they leave out.
 */
export const publishedWeeks = table(
  'published_weeks',
  {
    workspaceId: workspaceId(),
    week: date('week').notNull(),
    /** The minimum number of people that a number covers. */
    minGroup: smallint('min_group').notNull(),
    ...shownSums(),
    activeMembers: integer('active_members'),
    publishedAt: moment('published_at').notNull().defaultNow(),
    /** Null: a week of UTC days, published by the previous version. */
    byLocalDay: boolean('by_local_day'),
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
    /** The active members, as written by the previous version. */
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

/**
 * The views below are for people and their tools. The service never reads them. Column names and their order never
 * change.
 */
const reportColumns = () => ({
  workspaceId: uuid('workspace_id').notNull(),
  workspace: text('workspace').notNull(),
  day: date('day').notNull(),
})

/** Each person's activity on each UTC day. */
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

/** Activity in each repository on each UTC day, with the number of people without deleted accounts. */
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

/**
 * Minutes of each local day by hour, with its weekday (1: Monday). Read from the rollup: a change appears within five
 * minutes, or within an hour for the current day.
 */
export const reportHours = pgView('report_hours', {
  ...reportColumns(),
  weekday: smallint('weekday').notNull(),
  hour: smallint('hour').notNull(),
  minutes: bigint('minutes', { mode: 'number' }).notNull(),
}).as(sql`
  select h.workspace_id, w.name as workspace, h.day, h.weekday, h.hour, h.minutes
  from activity_hours h
  join workspaces w on w.id = h.workspace_id and w.deleted_at is null`)
