import type { BillingEvent } from '../../../schemas/billing.js'
import type { Database } from '../../platform/database/client.js'
import { readBillingEvent } from './billing-event.js'
import { applyChange, insertBillingEvent, linkCustomer } from './queries.js'

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
