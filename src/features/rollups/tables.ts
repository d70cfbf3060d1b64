import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  date,
  index,
  integer,
  pgView,
  primaryKey,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { moment, type PersonRule, table } from '../../platform/database/table.js'
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

/** A workspace's sums by local day. This and the tables below are rollups, made from `daily_activity`. */
export const workspaceDays = table(
  'workspace_days',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    ...sums(),
    /** People with minutes. */
    activeMembers: integer('active_members').notNull(),
    /** People with minutes that have an hour. */
    peopleWithHours: integer('people_with_hours').notNull(),
  },
  { place: { spreadBy: 'workspace_id' }, privacyRecord: 'minutes', label: 'activity by day' },
  (t) => [primaryKey({ columns: [t.workspaceId, t.day] })],
)

export const memberDays = table(
  'member_days',
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

export const memberMonths = table(
  'member_months',
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

export const repoDays = table(
  'repo_days',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    repoKey: text('repo_key').notNull(),
    ...sums(),
    /** People with minutes. */
    activeMembers: integer('active_members').notNull(),
    /** People with minutes that have an hour. */
    peopleWithHours: integer('people_with_hours').notNull(),
    /** Minutes in each of the 24 hours. Null without hours. */
    hours: integer('hours').array(),
  },
  { place: { spreadBy: 'workspace_id' }, privacyRecord: 'hours', label: 'activity by repository and day' },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.day, t.repoKey] }),
    index('repo_days_with_hours').on(t.day).where(sql`${t.hours} is not null`),
  ],
)

export const repoMonths = table(
  'repo_months',
  { workspaceId: workspaceId(), month: month(), repoKey: text('repo_key').notNull(), ...sums() },
  { place: { spreadBy: 'workspace_id' }, privacyRecord: null, label: 'activity by repository and month' },
  (t) => [primaryKey({ columns: [t.workspaceId, t.month, t.repoKey] })],
)

/** People with activity in a repository in a month, without deleted accounts. */
export const repoPeople = table(
  'repo_people',
  {
    workspaceId: workspaceId(),
    month: month(),
    repoKey: text('repo_key').notNull(),
    userId: uuid('user_id').notNull(),
    ...sums(),
    /** The month's days with any activity: bit 0 is the first. */
    dayBits: integer('day_bits').notNull(),
    /** The days with more than 0 minutes. */
    activeDayBits: integer('active_day_bits').notNull(),
    /** The month's minutes in each ISO week that it touches. The array always has six, so that rows can be added up. */
    weekMinutes: integer('week_minutes').array().notNull(),
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
export const workspaceHours = table(
  'workspace_hours',
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
    index('workspace_hours_by_age').on(t.day),
  ],
)

/**
 * Days that were rolled up after the rollups of their month. A dashboard reads them from `daily_activity` until the month is
 * rolled up again.
 */
export const changedMonthDays = table(
  'changed_month_days',
  { workspaceId: workspaceId(), day: date('day').notNull() },
  {
    place: { spreadBy: 'workspace_id' },
    // As with `changed_days`.
    purgedFirst: true,
    privacyRecord: null,
    label: 'days that wait for the rollups of their month',
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.day] })],
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
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.week] }),
    // Version 1.0.0 can't publish a week beside this one: it doesn't know what this one has recorded.
    check('published_weeks_by_local_day', sql`by_local_day is not null`),
  ],
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

/** Each person's activity on each local day. */
export const reportMemberDays = pgView('report_member_days', {
  ...reportColumns(),
  login: text('login').notNull(),
  ...sums(),
}).as(sql`
  select a.workspace_id, w.name as workspace, a.day, u.login,
    sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues
  from daily_activity a
  join workspaces w on w.id = a.workspace_id and w.deleted_at is null
  join users u on u.id = a.user_id
  where a.minutes + a.commits + a.closed_issues > 0
  group by a.workspace_id, w.name, a.day, u.login`)

/** Activity in each repository on each local day, with the number of people without deleted accounts. */
export const reportRepoDays = pgView('report_repo_days', {
  ...reportColumns(),
  repo: text('repo').notNull(),
  ...sums(),
  members: bigint('members', { mode: 'number' }).notNull(),
}).as(sql`
  select a.workspace_id, w.name as workspace, a.day, coalesce(r.repo, a.repo_key) as repo,
    sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues,
    count(*) filter (where u.repohost_id is not null) as members
  from daily_activity a
  join workspaces w on w.id = a.workspace_id and w.deleted_at is null
  join users u on u.id = a.user_id
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
  from workspace_hours h
  join workspaces w on w.id = h.workspace_id and w.deleted_at is null`)
