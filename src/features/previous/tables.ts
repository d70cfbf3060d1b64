/**
 * Tables of version 1.0.0, whose rows are UTC days. Its instances may still write them during an upgrade, and `copy.ts`
 * follows them. The next release drops the tables and this folder.
 */
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
import { moment, type PersonRule, table } from '../../platform/database/table.js'
import { sums } from '../minutes/tables.js'
import { workspaceId } from '../workspaces/tables.js'

const excluded = { excludedBecause: 'it was copied to tables that are exported' }
const copied: PersonRule = { erasure: { by: 'reassignActivity' }, export: excluded }
const copiedOfPerson: PersonRule = { erasure: 'delete', export: excluded }

/** Rows whose minutes or counts differ from the copied ones still have to be copied. */
export const previousActivity = table(
  'activity',
  {
    workspaceId: workspaceId(),
    userId: uuid('user_id').notNull(),
    day: date('day').notNull(),
    repoKey: text('repo_key').notNull(),
    minutes: integer('minutes').notNull().default(0),
    commits: integer('commits').notNull().default(0),
    closedIssues: integer('closed_issues').notNull().default(0),
    commitsUploaded: boolean('commits_uploaded'),
    closedIssuesUploaded: boolean('closed_issues_uploaded'),
    hours: smallint('hours').array(),
    timezone: text('timezone'),
    minutesBefore: integer('minutes_before').notNull().default(0),
    minutesAfter: integer('minutes_after').notNull().default(0),
    copiedMinutes: integer('copied_minutes').notNull().default(0),
    copiedCommits: integer('copied_commits').notNull().default(0),
    copiedClosedIssues: integer('copied_closed_issues').notNull().default(0),
    copiedHours: smallint('copied_hours').array(),
  },
  {
    people: { userId: copied },
    place: { spreadBy: 'workspace_id' },
    privacyRecord: 'minutes',
    label: 'activity of version 1.0.0',
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.userId, t.day, t.repoKey] }),
    index('activity_of_day').on(t.workspaceId, t.day, t.userId, t.repoKey),
    index('activity_of_repo').on(t.workspaceId, t.repoKey, t.day),
    index('activity_to_copy')
      .on(t.workspaceId, t.userId, t.day, t.repoKey)
      .where(
        sql`minutes <> copied_minutes or commits <> copied_commits or closed_issues <> copied_closed_issues`,
      ),
  ],
)

export const previousAgentMinutes = table(
  'agent_minutes',
  {
    userId: uuid('user_id').notNull(),
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    repoKey: text('repo_key').notNull(),
    repo: text('repo').notNull(),
    minutes: integer('minutes').notNull(),
    hours: smallint('hours').array(),
    timezone: text('timezone'),
    minutesBefore: integer('minutes_before').notNull().default(0),
    minutesAfter: integer('minutes_after').notNull().default(0),
    otherZones: jsonb('other_zones'),
    copiedMinutes: integer('copied_minutes').notNull().default(0),
    copiedHours: smallint('copied_hours').array(),
  },
  {
    people: { userId: copiedOfPerson },
    place: { spreadBy: 'user_id' },
    routedBy: { also: 'the patterns of workspaces that the person has joined' },
    privacyRecord: 'agent time',
    label: 'minutes of agents of version 1.0.0',
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.workspaceId, t.day, t.repoKey] }),
    index('agent_minutes_of_workspace').on(t.workspaceId),
    index('agent_minutes_by_age').on(t.day).where(sql`${t.hours} is not null`),
    index('agent_minutes_to_copy')
      .on(t.userId, t.workspaceId, t.day, t.repoKey)
      .where(sql`minutes <> copied_minutes`),
  ],
)

/** Never part of a release. Rows are deleted when they're copied. */
export const previousPersonalMinutes = table(
  'personal_minutes',
  {
    userId: uuid('user_id').notNull(),
    day: date('day').notNull(),
    repoKey: text('repo_key').notNull(),
    repo: text('repo').notNull(),
    minutes: integer('minutes').notNull(),
    marks: bit('marks', { dimensions: 1_440 }),
    timezone: text('timezone'),
    minutesBefore: integer('minutes_before').notNull().default(0),
    minutesAfter: integer('minutes_after').notNull().default(0),
    otherZones: jsonb('other_zones'),
  },
  {
    people: { userId: copiedOfPerson },
    place: { spreadBy: 'user_id' },
    routedBy: { also: 'the patterns of workspaces that the person has joined' },
    privacyRecord: 'personal minutes',
    label: 'minutes that no workspace counts, before they were copied',
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.day, t.repoKey] }),
    index('personal_minutes_by_age').on(t.day).where(sql`${t.marks} is not null`),
  ],
)

/** Version 1.0.0 marks what it changes, and rolls it up into the tables below. */
export const previousStaleDays = table(
  'stale_days',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    id: uuid('id').notNull().defaultRandom(),
    at: moment('at').notNull().defaultNow(),
  },
  {
    place: { spreadBy: 'workspace_id' },
    purgedFirst: true,
    privacyRecord: null,
    label: 'marks of version 1.0.0',
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.day, t.id] })],
)

const rolledUp = { place: { spreadBy: 'workspace_id' }, privacyRecord: 'minutes' } as const
const month = () => date('month').notNull()

export const previousDays = table(
  'activity_days',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    ...sums(),
    activeMembers: integer('active_members').notNull(),
    peopleWithHours: integer('hour_people'),
    byLocalDay: boolean('by_local_day'),
    hourCrews: jsonb('hour_crews'),
    byRepo: boolean('by_repo'),
  },
  { ...rolledUp, label: 'days of version 1.0.0' },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.day] }),
    index('activity_days_not_by_repo').on(t.workspaceId, t.day).where(sql`by_repo is null`),
  ],
)

export const previousMemberDays = table(
  'activity_member_days',
  { workspaceId: workspaceId(), day: date('day').notNull(), userId: uuid('user_id').notNull(), ...sums() },
  { ...rolledUp, people: { userId: copied }, label: 'days of people of version 1.0.0' },
  (t) => [primaryKey({ columns: [t.workspaceId, t.day, t.userId] })],
)

export const previousMemberMonths = table(
  'activity_member_months',
  {
    workspaceId: workspaceId(),
    month: month(),
    userId: uuid('user_id').notNull(),
    ...sums(),
    activeDayBits: integer('active_day_bits').notNull(),
  },
  { ...rolledUp, people: { userId: copied }, label: 'months of people of version 1.0.0' },
  (t) => [primaryKey({ columns: [t.workspaceId, t.month, t.userId] })],
)

export const previousRepoDays = table(
  'activity_repo_days',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    repoKey: text('repo_key').notNull(),
    ...sums(),
    activeMembers: integer('active_members'),
    peopleWithHours: integer('hour_people'),
    localHours: integer('local_hours').array(),
    timezones: text('timezones').array(),
    hours: integer('hours').array(),
    crewSizes: integer('crew_sizes').array(),
    crews: uuid('crews').array(),
  },
  {
    ...rolledUp,
    people: {
      crews: {
        erasure: { keptBecause: 'nothing reads it, and the next release drops it' },
        export: { excludedBecause: 'it was made from the activity' },
      },
    },
    label: 'days of repositories of version 1.0.0',
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.day, t.repoKey] }),
    index('activity_repo_days_with_hours').on(t.day).where(sql`timezones is not null`),
  ],
)

export const previousRepoMonths = table(
  'activity_repo_months',
  { workspaceId: workspaceId(), month: month(), repoKey: text('repo_key').notNull(), ...sums() },
  { ...rolledUp, label: 'months of repositories of version 1.0.0' },
  (t) => [primaryKey({ columns: [t.workspaceId, t.month, t.repoKey] })],
)

export const previousRepoPeople = table(
  'activity_repo_people',
  {
    workspaceId: workspaceId(),
    month: month(),
    repoKey: text('repo_key').notNull(),
    userId: uuid('user_id').notNull(),
    dayBits: integer('day_bits').notNull(),
    activeDayBits: integer('active_day_bits'),
    minutes: bigint('minutes', { mode: 'number' }),
    commits: bigint('commits', { mode: 'number' }),
    closedIssues: bigint('closed_issues', { mode: 'number' }),
    weekMinutes: integer('week_minutes').array(),
  },
  { ...rolledUp, people: { userId: copied }, label: 'months of people in repositories of version 1.0.0' },
  (t) => [primaryKey({ columns: [t.workspaceId, t.month, t.repoKey, t.userId] })],
)

export const previousHours = table(
  'activity_hours',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    weekday: smallint('weekday').notNull(),
    hour: smallint('hour').notNull(),
    minutes: bigint('minutes', { mode: 'number' }).notNull(),
  },
  { ...rolledUp, label: 'hours of version 1.0.0' },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.day, t.weekday, t.hour] }),
    index('activity_hours_by_age').on(t.day),
  ],
)
