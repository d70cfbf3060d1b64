import { randomUUID } from 'node:crypto'
import type { Webhook } from '../../../schemas/webhooks.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { toTimestamp } from '../../platform/time/clock.js'
import { firstNamedDay, type PrivacyRules } from '../privacy/index.js'
import { changeWorkspace, readWorkspaceSummary, type WorkspaceCall } from '../workspaces/index.js'
import { deleteWebhook, listDeliveries, readWebhook, rotateWebhook } from './queries/webhooks.js'
import { newSecretOf } from './webhooks/signature.js'

/** The workspace's webhook. Undefined if there is none. */
export const describeWebhook = async (
  db: Db,
  privacy: PrivacyRules,
  workspaceId: string,
): Promise<(Omit<Webhook, 'url'> & { id: string }) | undefined> => {
  const webhook = await readWebhook(db, workspaceId)
  if (!webhook) return undefined
  // Deliveries to a webhook that was deleted aren't listed.
  const [workspace, rows] = await Promise.all([
    readWorkspaceSummary(db, workspaceId),
    listDeliveries(db, workspaceId, webhook.createdAt),
  ])
  const named = workspace ? firstNamedDay(privacy.floor, workspace.privacy) : null
  const deliveries = rows.map(({ at, event, status, ...detail }) =>
    named !== null && at.slice(0, 10) >= named ? { at, event, status, ...detail } : { at, event, status },
  )
  return { id: webhook.id, created_at: toTimestamp(webhook.createdAt), deliveries }
}

/**
 * Creates a workspace's webhook, or gives it a new secret.
 * @throws {ApiError} `webhooks_not_configured`
 */
export const createWebhook = (
  database: Database,
  keys: string[],
  call: WorkspaceCall,
): Promise<{ id: string; secret: string }> =>
  changeWorkspace(database, call, 'admin', async ({ tx, caller, record }) => {
    const { id, generation } = await rotateWebhook(tx, call.workspaceId, randomUUID(), caller.id)
    const secret = newSecretOf(keys, id, generation)
    if (secret === undefined) throw new ApiError('webhooks_not_configured')
    await record(generation === 1 ? 'webhook.created' : 'webhook.secret_rotated')
    return { id, secret }
  })

/** @throws {ApiError} `webhook_not_found` */
export const removeWebhook = (database: Database, call: WorkspaceCall): Promise<void> =>
  changeWorkspace(database, call, 'admin', async ({ tx, record }) => {
    if (!(await deleteWebhook(tx, call.workspaceId))) throw new ApiError('webhook_not_found')
    await record('webhook.deleted')
  })
