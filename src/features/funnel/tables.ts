import { date, index, integer, primaryKey, text } from 'drizzle-orm/pg-core'
import { moment, table } from '../../platform/database/table.js'
import { person } from '../accounts/tables.js'

const funnelColumns = () => ({
  userId: person('user_id'),
  event: text('event').notNull(),
  source: text('source').notNull(),
  firstAt: moment('first_at').notNull().defaultNow(),
  events: integer('events').notNull().default(1),
})

/** All-time funnel events: when a user first had each, and how often. */
export const funnelUsers = table(
  'funnel_users',
  funnelColumns(),
  {
    people: { userId: { erasure: 'delete', export: 'funnel' } },
    place: { spreadBy: 'user_id' },
    routedBy: 'their person',
    privacyRecord: 'funnel events',
    label: 'funnel events',
  },
  (t) => [primaryKey({ columns: [t.userId, t.event, t.source] })],
)

/** Funnel events per UTC day, for ranges. */
export const funnelDays = table(
  'funnel_days',
  { ...funnelColumns(), day: date('day', { mode: 'string' }).notNull() },
  {
    people: { userId: { erasure: 'delete', export: 'funnel_days' } },
    place: { spreadBy: 'user_id' },
    routedBy: 'their person',
    privacyRecord: 'funnel events',
    label: 'funnel events by day',
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.event, t.source, t.day] }),
    index('funnel_days_by_day').on(t.day),
  ],
)
