import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { BillingEvent, BillingUrl, CheckoutBody, Received, WebhookHeaders } from '../../schemas/billing.js'
import { NoBody, ref } from '../../schemas/common.js'
import { isSignedBy } from '../domain/billing-signature.js'
import { ApiError } from '../errors.js'
import { createBillingSessions } from '../operations/billing-sessions.js'
import { recordBillingEvent } from '../operations/record-billing-event.js'
import { callerOf } from '../plugins/session.js'
import { anyCaller, billingSignature } from '../policies/access.js'

export const billingRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const billingSessions = createBillingSessions(app.config, app.database, app.clients.billing)

  app.route({
    method: 'POST',
    url: '/checkout',
    config: { access: anyCaller, errors: ['billing_not_configured', 'upstream_failed', 'upstream_timeout'] },
    schema: {
      operationId: 'startCheckout',
      tags: ['billing'],
      summary: 'A page where the caller subscribes',
      description:
        'Who is `trialing`, `active` or `past_due` already gets the page of `POST /billing/portal` instead, so that nobody pays twice.',
      body: CheckoutBody,
      response: { 200: ref(BillingUrl) },
    },
    handler: async (request) => ({
      url: await billingSessions.startCheckout(callerOf(request).userId, request.body.interval),
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
      summary: 'A page where the caller manages the subscription',
      body: NoBody,
      response: { 200: ref(BillingUrl) },
    },
    handler: async (request) => ({ url: await billingSessions.openPortal(callerOf(request).userId) }),
  })
}

export const billingWebhookRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const secret = app.config.billing.webhookSecret

  /** What is rightly signed is never limited: the provider sends as much as there is. */
  const refuse = async (request: FastifyRequest): Promise<never> => {
    await app.rateLimits.countWrongSignature(request)
    throw new ApiError('signature_invalid')
  }

  // The signature is over the bytes as they came, so they are checked before anybody interprets them, and whatever
  // the provider calls their type.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    const header = signatureOf(request.headers)
    if (!secret || header === undefined || !isSignedBy(secret, header, bytes, Date.now() / 1_000)) {
      return refuse(request)
    }
    try {
      return JSON.parse(bytes.toString('utf8'))
    } catch {
      throw new ApiError('invalid_json')
    }
  })

  app.route({
    method: 'POST',
    url: '/webhook',
    config: {
      access: billingSignature,
      limit: 'none',
      errors: ['signature_invalid', 'billing_not_configured', 'rate_limited'],
    },
    schema: {
      operationId: 'receiveBillingEvent',
      tags: ['billing'],
      summary: 'Where the billing provider reports on subscriptions',
      description:
        'For the provider alone. `customer.subscription.created`, `.updated` and `.deleted` set the status of the subscription, and `checkout.session.completed` tells whose a customer is; other kinds have no effect. Each event takes effect once, and an older one never overwrites a newer state.',
      headers: WebhookHeaders,
      body: ref(BillingEvent),
      response: { 200: Received },
    },
    onRequest: async (request) => {
      if (!secret) throw new ApiError('billing_not_configured')
      const { headers } = request
      const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
      if (!hasBody || signatureOf(headers) === undefined) return refuse(request)
    },
    handler: async (request) => {
      await recordBillingEvent(app.database, request.body)
      return { received: true } as const
    },
  })
}

type Headers = Record<string, string | string[] | undefined>

const signatureOf = (headers: Headers): string | undefined => {
  const header = headers['billing-signature'] ?? headers['stripe-signature']
  return typeof header === 'string' && header !== '' ? header : undefined
}
