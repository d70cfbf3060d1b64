import { sql } from 'drizzle-orm'
import { bit, boolean, date, index, integer, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core'
import { limits } from '../../../schemas/limits.js'
import { daysAgo } from '../../platform/database/limited-delete.js'
import { moment, table } from '../../platform/database/table.js'
import { workspaceId } from '../workspaces/tables.js'

/** People who send heartbeats. */
export const heartbeatPeople = table(
  'heartbeat_people',
  {
    userId: uuid('user_id').primaryKey(),
    /** The time of the newest accepted heartbeat, as the editor gave it. */
    lastAt: moment('last_at').notNull(),
  },
  {
    people: { userId: { erasure: 'delete', export: 'profile' } },
    place: { spreadBy: 'user_id' },
    routedBy: 'their person',
    privacyRecord: 'heartbeats',
    label: 'newest heartbeat',
  },
)

/** One bit for each minute of an hour, the first minute first. */
const minutesOf = (name: string) => bit(name, { dimensions: 60 }).array()

/** UTC hours since 1970. */
const hour = () => integer('hour').notNull()

/**
 * The minutes of a UTC hour that a person's heartbeats have marked, and for which project. They're used only for
 * counting (`features/editors/timeline.ts`). They appear only in the person's own export.
 */
export const heartbeatHours = table(
  'heartbeat_hours',
  {
    userId: uuid('user_id').notNull(),
    hour: hour(),
    /** Repositories in lower case, and project names that aren't repositories. */
    projects: text('projects').array().notNull(),
    /** For each project, the minutes that have its mark: those in which its heartbeat was the earliest. */
    marks: minutesOf('marks').notNull(),
    /** For each minute with a mark, when its earliest heartbeat was, in hundredths of a second. Null: not known. */
    firstTimes: smallint('first_times').array(),
    /**
     * The local hour since 1970 in which this hour's minutes count: the one for which the first of them was recorded. Null:
     * none has counted, or version 1.0.0 has written the row.
     */
    localHour: integer('local_hour'),
    /** Columns of version 1.0.0. */
    lastMarks: minutesOf('leaves'),
    lastTimes: smallint('last_times').array(),
    /** Workspaces and the minutes counted there. */
    countedIn: uuid('counted_in').array().notNull(),
    counted: minutesOf('counted').notNull(),
    /**
     * Repositories, and project names that aren't repositories, and the minutes that have counted for them, so that no minute
     * counts for two. Those that count in no workspace count only for the person. Null: not known.
     */
    countedRepos: text('counted_repos').array(),
    countedFor: minutesOf('counted_for'),
    /** The same for the person's agents, which count separately. Null if there are none. */
    agentProjects: text('agent_projects').array(),
    agentMarks: minutesOf('agent_marks'),
    agentFirstTimes: smallint('agent_first_times').array(),
    /** Columns of version 1.0.0. */
    agentLastMarks: minutesOf('agent_leaves'),
    agentLastTimes: smallint('agent_last_times').array(),
  },
  {
    people: { userId: { erasure: 'delete', export: 'heartbeat_hours' } },
    expiry: {
      task: 'old heartbeats',
      sql: `hour < (extract(epoch from ${daysAgo(limits.heartbeat_days)}) / 3600)::int`,
    },
    place: { spreadBy: 'user_id' },
    routedBy: 'their person',
    privacyRecord: 'heartbeats',
    label: 'hours with heartbeats',
  },
  (t) => [primaryKey({ columns: [t.userId, t.hour] }), index('heartbeat_hours_by_age').on(t.hour)],
)

/** Editors' project names that aren't repositories, repositories that no workspace counts, and what their owner or the service has chosen for them. */
export const editorProjects = table(
  'editor_projects',
  {
    userId: uuid('user_id').notNull(),
    /** A name, or a repository in lower case. */
    name: text('name').notNull(),
    /** `owner/repo`. Null: the name waits for a repository, or is ignored. */
    repo: text('repo'),
    ignored: boolean('ignored').notNull().default(false),
    /** Whether the service has chosen the repository. */
    automatic: boolean('automatic').notNull().default(false),
    /** The time of the newest heartbeat, as the editor gave it. */
    lastAt: moment('last_at'),
    seenAt: moment('seen_at').notNull().defaultNow(),
  },
  {
    people: { userId: { erasure: 'delete', export: 'editor_projects' } },
    expiry: {
      task: 'old project names',
      sql: `repo is null and not ignored and seen_at < ${daysAgo(limits.heartbeat_days)}`,
    },
    place: { spreadBy: 'user_id' },
    routedBy: 'their person',
    privacyRecord: 'project names',
    label: 'project names',
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.name] }),
    index('editor_projects_by_age').on(t.seenAt).where(sql`${t.repo} is null and not ${t.ignored}`),
  ],
)

/** How many of a person's waiting names were dropped to make room for others. */
export const droppedNames = table(
  'dropped_names',
  {
    userId: uuid('user_id').primaryKey(),
    names: integer('names').notNull(),
    droppedAt: moment('dropped_at').notNull().defaultNow(),
  },
  {
    people: { userId: { erasure: 'delete', export: 'dropped_names' } },
    expiry: {
      task: 'old counts of dropped names',
      sql: `dropped_at < ${daysAgo(limits.heartbeat_days)}`,
    },
    place: { spreadBy: 'user_id' },
    routedBy: 'their person',
    privacyRecord: 'project names',
    label: 'counts of dropped names',
  },
  (t) => [index('dropped_names_by_age').on(t.droppedAt)],
)

/** The latest import of each person. */
export const imports = table(
  'imports',
  {
    userId: uuid('user_id').primaryKey(),
    id: uuid('id').notNull(),
    state: text('state', { enum: ['running', 'done', 'cancelled', 'failed'] }).notNull(),
    /** Why it failed. Null: it didn't. */
    reason: text('reason'),
    heartbeats: integer('heartbeats').notNull(),
    /** Heartbeats that don't count: without a readable time, too far ahead, without a project, and switched off by the person. */
    skippedTime: integer('skipped_time').notNull().default(0),
    skippedFuture: integer('skipped_future').notNull().default(0),
    skippedProject: integer('skipped_project').notNull().default(0),
    skippedRecordingOff: integer('skipped_recording_off').notNull().default(0),
    days: integer('days').notNull(),
    daysDone: integer('days_done').notNull().default(0),
    /** Minutes added across all workspaces. */
    minutes: integer('minutes').notNull().default(0),
    /** Minutes added for the person only. */
    ownMinutes: integer('own_minutes').notNull().default(0),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  {
    people: { userId: { erasure: 'delete', export: 'imports' } },
    expiry: {
      task: 'old imports',
      sql: `state <> 'running' and updated_at < ${daysAgo(limits.heartbeat_days)}`,
    },
    place: { spreadBy: 'user_id' },
    routedBy: 'their person',
    privacyRecord: 'imports',
  },
  (t) => [
    index('imports_running').on(t.createdAt).where(sql`${t.state} = 'running'`),
    index('imports_by_age').on(t.updatedAt),
  ],
)

/** Days of a running import, deleted when it ends. */
export const importDays = table(
  'import_days',
  {
    userId: uuid('user_id').notNull(),
    day: date('day').notNull(),
    projects: text('projects').array().notNull(),
    /** For each project, its minutes of the day, the first minute first. */
    marks: bit('marks', { dimensions: 1_440 }).array().notNull(),
    /** The same for the person's agents. Null if there are none. */
    agentProjects: text('agent_projects').array(),
    agentMarks: bit('agent_marks', { dimensions: 1_440 }).array(),
    /** For each project, its heartbeats in each of the 24 hours. Null: an earlier version stored the day. */
    heartbeats: integer('heartbeats').array(),
    agentHeartbeats: integer('agent_heartbeats').array(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  {
    people: { userId: { erasure: 'delete', export: 'import_days' } },
    expiry: { task: 'old import days', sql: `created_at < ${daysAgo(limits.heartbeat_days)}` },
    place: { spreadBy: 'user_id' },
    routedBy: 'their person',
    privacyRecord: 'imports',
    label: 'days that are being imported',
  },
  (t) => [primaryKey({ columns: [t.userId, t.day] }), index('import_days_by_age').on(t.createdAt)],
)

/** Minutes that imports have found, so that a later import of the same day counts only additional minutes. */
export const importedMinutes = table(
  'imported_minutes',
  {
    userId: uuid('user_id').notNull(),
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    repoKey: text('repo_key').notNull(),
    minutes: integer('minutes').notNull(),
  },
  {
    people: { userId: { erasure: 'delete', export: 'imported_minutes' } },
    place: { spreadBy: 'user_id' },
    routedBy: { also: 'the patterns of workspaces that the person has joined' },
    privacyRecord: 'imports',
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.workspaceId, t.day, t.repoKey] }),
    index('imported_minutes_of_workspace').on(t.workspaceId),
  ],
)
