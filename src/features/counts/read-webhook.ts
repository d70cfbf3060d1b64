import type { Webhook } from '../../../schemas/webhooks.js'
import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { toTimestamp } from '../../platform/time/timestamps.js'
import { firstNamedDay, type PrivacyRules, readPrivacy } from '../workspaces/index.js'
import { listDeliveries, readWebhook } from './queries/webhooks.js'

/** @throws {ApiError} `webhook_not_found` */
export const describeWebhook = async (
  db: Db,
  { floor }: PrivacyRules,
  workspaceId: string,
): Promise<Omit<Webhook, 'url'> & { id: string }> => {
  const webhook = await readWebhook(db, workspaceId)
  if (!webhook) throw new ApiError('webhook_not_found')
  // Deliveries to a webhook that was deleted aren't listed.
  const [privacy, rows] = await Promise.all([
    readPrivacy(db, workspaceId),
    listDeliveries(db, workspaceId, webhook.createdAt),
  ])
  const named = firstNamedDay(floor, privacy)
  const deliveries = rows.map(({ at, event, status, ...detail }) =>
    named !== null && at.slice(0, 10) >= named ? { at, event, status, ...detail } : { at, event, status },
  )
  return { id: webhook.id, created_at: toTimestamp(webhook.createdAt), deliveries }
}
