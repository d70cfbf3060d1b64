import type { BillingEvent } from '../../schemas/billing.js'
import type { Database } from '../db/client.js'
import { readBillingEvent } from '../domain/billing-event.js'
import { applyChange, insertBillingEvent, linkCustomer } from '../queries/billing.js'

/** Takes a notification in, whose signature was checked: once, however often and in whatever order they come. */
export const recordBillingEvent = async (database: Database, event: BillingEvent): Promise<void> => {
  const news = readBillingEvent(event)
  if (!news) return
  await database.transaction(async (tx) => {
    if (!(await insertBillingEvent(tx, event.id, event.type))) return
    if (news.link) await linkCustomer(tx, news.link.customerId, news.link.userId)
    if (news.change) await applyChange(tx, news.change)
  })
}
