import { sql } from 'drizzle-orm'
import { date, index, integer, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core'
import { table } from '../../platform/database/table.js'
import { workspaceId } from '../workspaces/tables.js'

/** A row's minutes by hour. */
export const hourColumns = () => ({
  /**
   * Minutes in each of the 24 local hours. Their sum is at most `minutes`. Null without minutes that have an hour, and
   * once the hours are past their retention period.
   */
  hours: smallint('hours').array(),
  /** The time zone in which the row's hours were last written. */
  timezone: text('timezone'),
})

/**
 * A person's own time on a local day in a repository: each minute once, whether it counts in several workspaces or in none.
 * Only the person sees it. No team query reads this table.
 */
export const ownActivity = table(
  'own_activity',
  {
    userId: uuid('user_id').notNull(),
    day: date('day').notNull(),
    /** A repository, or a project name that isn't one, in lower case. */
    repoKey: text('repo_key').notNull(),
    /** As first given. */
    repo: text('repo').notNull(),
    minutes: integer('minutes').notNull(),
    ...hourColumns(),
  },
  {
    people: { userId: { erasure: 'delete', export: 'personal_minutes' } },
    place: { spreadBy: 'user_id' },
    routedBy: { also: 'the patterns of workspaces that the person has joined' },
    privacyRecord: 'personal minutes',
    label: 'own time',
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.day, t.repoKey] }),
    index('own_activity_by_age').on(t.day).where(sql`${t.hours} is not null`),
  ],
)

/** Minutes in which a person's agents worked and the person didn't, where a workspace counts them. Only the person sees them. */
export const agentActivity = table(
  'agent_activity',
  {
    userId: uuid('user_id').notNull(),
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    repoKey: text('repo_key').notNull(),
    /** As first given. */
    repo: text('repo').notNull(),
    minutes: integer('minutes').notNull(),
    ...hourColumns(),
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
    index('agent_activity_of_workspace').on(t.workspaceId),
    index('agent_activity_by_age').on(t.day).where(sql`${t.hours} is not null`),
  ],
)
