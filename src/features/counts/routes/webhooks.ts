import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NoBody, Ok, ref, WorkspaceParams } from '../../../../schemas/common.js'
import { limits } from '../../../../schemas/limits.js'
import { CreatedWebhook, Webhook, WebhookList } from '../../../../schemas/webhooks.js'
import { ApiError } from '../../../errors.js'
import { adminOf } from '../../workspaces/index.js'
import { createWebhook, describeWebhook, removeWebhook } from '../webhook.js'

const adminAccess = adminOf('params.id')

export const webhookRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { config, database } = app
  const urlOf = (id: string) => `${config.baseUrl}/api/repohost/webhook/${id}`
  const url = '/workspaces/:id/webhook'
  const list = async (workspaceId: string) => {
    const webhook = await describeWebhook(app.db, config.privacy, workspaceId)
    if (!webhook) return []
    const { id, ...rest } = webhook
    return [{ url: urlOf(id), ...rest }]
  }

  app.route({
    method: 'GET',
    url,
    config: { access: adminAccess, errors: ['webhook_not_found'] },
    schema: {
      operationId: 'getWebhook',
      tags: ['activity'],
      summary: 'Read the webhook',
      description: `Includes the last ${limits.webhook_deliveries_listed} correctly signed deliveries.`,
      params: WorkspaceParams,
      response: { 200: ref(Webhook) },
    },
    handler: async (request) => {
      const { workspaceId } = request.granted(adminAccess)
      const [webhook] = await list(workspaceId)
      if (!webhook) throw new ApiError('webhook_not_found')
      return webhook
    },
  })

  app.route({
    method: 'GET',
    url: '/workspaces/:id/webhooks',
    config: { access: adminAccess },
    schema: {
      operationId: 'listWebhooks',
      tags: ['activity'],
      summary: 'List the webhooks',
      description: 'The workspace’s webhook with its last deliveries, or an empty list.',
      params: WorkspaceParams,
      response: { 200: WebhookList },
    },
    handler: async (request) => ({ webhooks: await list(request.granted(adminAccess).workspaceId) }),
  })

  app.route({
    method: 'POST',
    url,
    config: { access: adminAccess, errors: ['webhooks_not_configured'] },
    schema: {
      operationId: 'createWebhook',
      tags: ['activity'],
      summary: 'Create the webhook, or rotate its secret',
      description: `Through the webhook, the repository host reports commits and closed issues. Enter \`url\` and \`secret\` there. If the workspace has a webhook, it gets a new secret under the same \`url\`, and the old secret keeps working for ${limits.webhook_secret_hours} hours. Only the last ${limits.webhook_former_secrets} old secrets work.`,
      params: WorkspaceParams,
      body: NoBody,
      response: { 201: CreatedWebhook },
    },
    handler: async (request, reply) => {
      const membership = request.granted(adminAccess)
      const { id, secret } = await createWebhook(database, config.webhookKeys, membership)
      return reply.code(201).send({ url: urlOf(id), secret })
    },
  })

  app.route({
    method: 'DELETE',
    url,
    config: { access: adminAccess, errors: ['webhook_not_found'] },
    schema: {
      operationId: 'deleteWebhook',
      tags: ['activity'],
      summary: 'Delete the webhook',
      description: 'The counts that it reported stay.',
      params: WorkspaceParams,
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      const membership = request.granted(adminAccess)
      await removeWebhook(database, membership)
      return { ok: true } as const
    },
  })
}
