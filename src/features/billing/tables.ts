import { bigint, index, smallint, text } from 'drizzle-orm/pg-core'
import { daysAgo } from '../../platform/database/limited-delete.js'
import { moment, table } from '../../platform/database/table.js'
import { person } from '../accounts/tables.js'

/**
 * Customers at the billing provider, and the users they belong to. A user has one, unless the provider created another.
 */
export const billingCustomers = table(
  'billing_customers',
  {
    id: text('id').primaryKey(),
    userId: person('user_id'),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  {
    people: { userId: { erasure: 'delete', export: 'billing' } },
    place: 'every node',
    privacyRecord: 'billing',
  },
  (t) => [index('billing_customers_of_user').on(t.userId)],
)

/** The latest state of each subscription. There's no foreign key, because the customer may become known later. */
export const subscriptions = table(
  'subscriptions',
  {
    id: text('id').primaryKey(),
    customerId: text('customer_id').notNull(),
    status: text('status', { enum: ['none', 'trialing', 'active', 'past_due', 'canceled'] }).notNull(),
    /** Seconds since the epoch, by the provider's clock. */
    eventCreated: bigint('event_created', { mode: 'number' }).notNull(),
    /** Orders events within a second. */
    eventRank: smallint('event_rank').notNull(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  { place: 'coordinator', privacyRecord: 'billing' },
  (t) => [index('subscriptions_of_customer').on(t.customerId)],
)

/** Processed notifications, so that duplicates have no effect. */
export const billingEvents = table(
  'billing_events',
  {
    id: text('id').primaryKey(),
    type: text('type').notNull(),
    receivedAt: moment('received_at').notNull().defaultNow(),
  },
  {
    // The provider retries an event for days, not months. Older events are ignored anyway, because of their order.
    expiry: { task: 'old billing events', sql: `received_at < ${daysAgo(90)}` },
    place: 'coordinator',
    privacyRecord: null,
  },
  (t) => [index('billing_events_by_age').on(t.receivedAt)],
)
