import { randomUUID } from 'node:crypto'
import { ApiError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { changeWorkspace, type WorkspaceCall } from '../workspaces/index.js'
import { deleteWebhook, rotateWebhook } from './queries/webhooks.js'
import { newSecretOf } from './webhooks/signature.js'

/**
 * Creates the webhook of a workspace, or gives it a new secret.
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
