import type { BillingEvent } from '../../../schemas/billing.js'
import type { Database } from '../../platform/database/client.js'
import { readBillingEvent } from './billing-event.js'
import { applyChange, insertBillingEvent, linkCustomer } from './queries.js'

/**
 * Takes a notification in, whose signature was checked: once, however often and in whatever order they come.
 * @returns whether it was known already, or of a kind that says nothing to us
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
