import { bigint, index, pgTable, smallint, text, uuid } from 'drizzle-orm/pg-core'
import { moment } from '../../platform/database/columns.js'
import { users } from '../accounts/tables.js'

/** Customers at the billing provider, and whose they are. A user has one, unless the provider made another for them. */
export const billingCustomers = pgTable(
  'billing_customers',
  {
    id: text('id').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (t) => [index('billing_customers_of_user').on(t.userId)],
)

/** What the newest event said of each subscription. Customers may become known only later, so nothing is referenced. */
export const subscriptions = pgTable(
  'subscriptions',
  {
    id: text('id').primaryKey(),
    customerId: text('customer_id').notNull(),
    status: text('status', { enum: ['none', 'trialing', 'active', 'past_due', 'canceled'] }).notNull(),
    /** Seconds since the epoch, by the provider's clock. */
    eventCreated: bigint('event_created', { mode: 'number' }).notNull(),
    /** Orders the events of one second. */
    eventRank: smallint('event_rank').notNull(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  (t) => [index('subscriptions_of_customer').on(t.customerId)],
)

/** Notifications that took effect, so that none does twice. */
export const billingEvents = pgTable(
  'billing_events',
  {
    id: text('id').primaryKey(),
    type: text('type').notNull(),
    receivedAt: moment('received_at').notNull().defaultNow(),
  },
  (t) => [index('billing_events_by_age').on(t.receivedAt)],
)
