import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { BillingEvent, BillingUrl, CheckoutBody, Received, WebhookHeaders } from '../../../schemas/billing.js'
import { NoBody, ref } from '../../../schemas/common.js'
import { anyCaller } from '../../platform/access/access.js'
import { recordBillingEvent } from './billing-event.js'
import { createBillingSessions } from './billing-sessions.js'
import { billingSignature } from './billing-signature.js'

export const billingRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const billingSessions = createBillingSessions(app.config, app.database, app.clients.billing)

  app.route({
    method: 'POST',
    url: '/checkout',
    config: { access: anyCaller, errors: ['billing_not_configured', 'upstream_failed', 'upstream_timeout'] },
    schema: {
      operationId: 'startCheckout',
      tags: ['billing'],
      summary: 'Start a subscription',
      description:
        'Returns a page of the billing provider where the caller subscribes. A caller who is already `trialing`, `active` or `past_due` gets the page of `POST /api/billing/portal` instead, so that no one pays twice.',
      body: CheckoutBody,
      response: { 200: ref(BillingUrl) },
    },
    handler: async (request) => ({
      url: await billingSessions.startCheckout(request.caller.userId, request.body.interval, request.trace),
    }),
  })

  app.route({
    method: 'POST',
    url: '/portal',
    config: {
      access: anyCaller,
      errors: ['no_subscription', 'billing_not_configured', 'upstream_failed', 'upstream_timeout'],
    },
    schema: {
      operationId: 'openBillingPortal',
      tags: ['billing'],
      summary: 'Open the billing portal',
      description: 'Returns a page of the billing provider where the caller manages the subscription.',
      body: NoBody,
      response: { 200: ref(BillingUrl) },
    },
    handler: async (request) => ({
      url: await billingSessions.openPortal(request.caller.userId, request.trace),
    }),
  })
}

export const billingWebhookRoutes: FastifyPluginAsyncTypebox = async (app) => {
  // The signature covers the bytes (features/billing/billing-signature.ts), whatever the content type is.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => bytes)

  app.route({
    method: 'POST',
    url: '/webhook',
    config: { access: billingSignature, limit: 'none' },
    schema: {
      operationId: 'receiveBillingEvent',
      tags: ['billing'],
      summary: 'Receive a billing notification',
      description:
        'For the billing provider only. `customer.subscription.created`, `.updated` and `.deleted` set the subscription’s status. `checkout.session.completed` links a customer to a user. Other kinds have no effect. Each event takes effect once, and an older event never overwrites a newer state.',
      headers: WebhookHeaders,
      body: ref(BillingEvent),
      response: { 200: Received },
    },
    handler: async (request) => {
      const outcome = await recordBillingEvent(app.database, request.body).catch((error) => {
        app.meter.count('team_settings_webhooks_total', { outcome: 'failed' })
        throw error
      })
      app.meter.count('team_settings_webhooks_total', { outcome })
      return { received: true } as const
    },
  })
}
