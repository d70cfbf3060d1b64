import { asc, eq, inArray, sql } from 'drizzle-orm'
import type { SubscriptionStatus } from '../../../schemas/billing.js'
import type { Db } from '../../platform/database/client.js'
import { statement, textOf } from '../../platform/database/statement.js'
import { billingCustomers, billingEvents, subscriptions } from './tables.js'

/** The change to one subscription in a notification. */
export interface SubscriptionChange {
  subscriptionId: string
  customerId: string
  status: SubscriptionStatus
  /** Seconds since the epoch. */
  created: number
  /** Breaks ties within a second: deleted beats updated, which beats created. */
  rank: number
}

/** The user's customer at the billing provider, or the first of several. */
export const readCustomer = async (db: Db, userId: string): Promise<string | undefined> => {
  const [customer] = await db
    .select({ id: billingCustomers.id })
    .from(billingCustomers)
    .where(eq(billingCustomers.userId, userId))
    .orderBy(asc(billingCustomers.createdAt), asc(billingCustomers.id))
    .limit(1)
  return customer?.id
}

const LINK_CUSTOMER = statement(
  'link billing customer',
  {},
  `
  insert into billing_customers (id, user_id, created_at)
  select $1::text, id, now() from users where id = $2::uuid and repohost_id is not null
  on conflict do nothing`,
)

/** Links a billing customer to a user. Does nothing if it's already linked, or the user doesn't exist. */
export const linkCustomer = async (db: Db, customerId: string, userId: string): Promise<void> => {
  await db.rows(LINK_CUSTOMER, [customerId, userId])
}

/** Deletes the user's customers and their subscriptions. */
export const unlinkCustomers = async (tx: Db, userId: string): Promise<void> => {
  const customers = await tx
    .delete(billingCustomers)
    .where(eq(billingCustomers.userId, userId))
    .returning({ id: billingCustomers.id })
  if (customers.length === 0) return
  const ids = customers.map(({ id }) => id)
  await tx.delete(subscriptions).where(inArray(subscriptions.customerId, ids))
}

const READ_STATUS = statement(
  'read subscription status',
  { status: textOf<SubscriptionStatus>() },
  `
  select s.status from billing_customers c join subscriptions s on s.customer_id = c.id
  where c.user_id = $1::uuid
  order by array_position(array['active', 'trialing', 'past_due', 'canceled', 'none'], s.status)
  limit 1`,
)

/** With several subscriptions, the status that grants the most. */
export const readSubscriptionStatus = async (db: Db, userId: string): Promise<SubscriptionStatus> => {
  const [subscription] = await db.rows(READ_STATUS, [userId])
  return subscription?.status ?? 'none'
}

/** @returns false if the event is already stored. Waits if another transaction is storing it. */
export const insertBillingEvent = async (tx: Db, id: string, type: string): Promise<boolean> => {
  const inserted = await tx
    .insert(billingEvents)
    .values({ id, type })
    .onConflictDoNothing()
    .returning({ id: billingEvents.id })
  return inserted.length > 0
}

/** Applies a change unless a newer one is stored. If two have the same time, the one received later wins. */
export const applyChange = async (
  tx: Db,
  { subscriptionId, customerId, status, created, rank }: SubscriptionChange,
): Promise<void> => {
  const state = { customerId, status, eventCreated: created, eventRank: rank }
  await tx
    .insert(subscriptions)
    .values({ id: subscriptionId, ...state })
    .onConflictDoUpdate({
      target: subscriptions.id,
      // The time in the row to insert, because a cluster doesn't allow functions here.
      set: { ...state, updatedAt: sql`excluded.updated_at` },
      setWhere: sql`(${subscriptions.eventCreated}, ${subscriptions.eventRank}) <= (${created}, ${rank})`,
    })
}
