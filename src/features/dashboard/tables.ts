import { boolean, date, index, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { limits } from '../../../schemas/limits.js'
import { dayRanges, table } from '../../platform/database/table.js'
import { workspaceId } from '../workspaces/tables.js'

/**
 * The access log: all views of a viewer on a UTC day with the same filter. There's no row for each viewed person,
 * because the activity shows who they were.
 */
export const dashboardViews = table(
  'dashboard_views',
  {
    workspaceId: workspaceId(),
    day: date('day').notNull(),
    viewerId: uuid('viewer_id').notNull(),
    /** The viewed person. The nil UUID means all members. */
    memberId: uuid('member_id').notNull(),
    /** In lower case. Empty without a filter. */
    repoKey: text('repo_key').notNull(),
    /** The first and last day of all views. */
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
