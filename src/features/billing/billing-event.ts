import type { BillingEvent, SubscriptionStatus } from '../../../schemas/billing.js'
import { own } from '../../../schemas/own.js'
import type { Database } from '../../platform/database/client.js'
import { isUuid } from '../../platform/http/formats.js'
import { applyChange, insertBillingEvent, linkCustomer, type SubscriptionChange } from './queries.js'

/** A relevant notification's content. */
export interface BillingUpdate {
  change?: SubscriptionChange
  /** The customer's user, if the notification names one. */
  link?: { customerId: string; userId: string }
}

const ranks: Record<string, number> = {
  'customer.subscription.created': 1,
  'customer.subscription.updated': 2,
  'customer.subscription.deleted': 3,
}

/** Maps the provider's statuses (docs.stripe.com/api/subscriptions/object) to ours. */
const statuses: Record<string, SubscriptionStatus> = {
  incomplete: 'none',
  incomplete_expired: 'canceled',
  trialing: 'trialing',
  active: 'active',
  past_due: 'past_due',
  unpaid: 'past_due',
  paused: 'past_due',
  canceled: 'canceled',
}

const idOf = (value: unknown): string | undefined => {
  const id = typeof value === 'object' && value !== null ? (value as { id?: unknown }).id : value
  return typeof id === 'string' && /^[A-Za-z0-9_-]{1,255}$/.test(id) ? id : undefined
}

const userIdOf = (value: unknown): string | undefined =>
  typeof value === 'string' && isUuid(value) ? value : undefined

/** @returns undefined for a kind or status that doesn't matter here. */
export const readBillingEvent = ({ type, created, data }: BillingEvent): BillingUpdate | undefined => {
  const object = (data?.object ?? {}) as Record<string, unknown>
  const customerId = idOf(object.customer)
  if (customerId === undefined) return undefined
  const linkTo = (userId: string | undefined) => userId && { link: { customerId, userId } }

  if (type === 'checkout.session.completed') {
    return linkTo(userIdOf(object.client_reference_id)) || undefined
  }
  const rank = own(ranks, type)
  const subscriptionId = idOf(object.id)
  if (rank === undefined || subscriptionId === undefined || created === undefined) return undefined
  const named = String(object.status)
  const deleted = type === 'customer.subscription.deleted'
  const status = deleted ? 'canceled' : own(statuses, named)
  if (status === undefined) return undefined
  const metadata = (object.metadata ?? {}) as { user_id?: unknown }
  return {
    change: { subscriptionId, customerId, status, created, rank },
    ...linkTo(userIdOf(metadata.user_id)),
  }
}

/**
 * Processes a notification whose signature was checked. Duplicates have no effect, and the order doesn't matter.
 * @returns whether it was a duplicate, or of an irrelevant kind
 */
export const recordBillingEvent = async (
  database: Database,
  event: BillingEvent,
): Promise<'applied' | 'duplicate' | 'without_effect'> => {
  const news = readBillingEvent(event)
  if (!news) return 'without_effect'
  return database.transaction(async (tx) => {
    if (!(await insertBillingEvent(tx, event.id, event.type))) return 'duplicate'
    if (news.link) await linkCustomer(tx, news.link.customerId, news.link.userId)
    if (news.change) await applyChange(tx, news.change)
    return 'applied'
  })
}
