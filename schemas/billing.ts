import { type Static, Type } from '@sinclair/typebox'
import { Named, Resource, StringEnum } from './common.js'

export const SubscriptionStatus = StringEnum(['none', 'trialing', 'active', 'past_due', 'canceled'], {
  description: 'The stored subscription’s status.',
  examples: ['none'],
})
export type SubscriptionStatus = Static<typeof SubscriptionStatus>

export const BillingInterval = StringEnum(['month', 'year'], {
  description: 'The billing interval. Default: every month, or what the installation offers.',
  examples: ['month'],
})
export type BillingInterval = Static<typeof BillingInterval>

export const CheckoutBody = Named('CheckoutBody', { interval: Type.Optional(BillingInterval) })

export const BillingUrl = Resource('BillingUrl', {
  url: Type.String({
    description: 'The billing provider’s page to send the browser to. It is valid for a short time.',
    examples: ['https://billing.example.com/pay/cs_1'],
  }),
})

/** The only open body: the provider adds properties without notice. */
export const BillingEvent = Resource(
  'BillingEvent',
  {
    id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,255}$', examples: ['evt_1'] }),
    type: Type.String({ minLength: 1, maxLength: 255, examples: ['customer.subscription.updated'] }),
    created: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 253_402_300_799,
        description: 'Seconds since the epoch. They order a subscription’s events.',
        examples: [1_795_000_000],
      }),
    ),
    data: Type.Optional(
      Type.Object({ object: Type.Optional(Type.Object({}, { additionalProperties: true })) }),
    ),
  },
  {
    additionalProperties: true,
    description: "A notification in the provider's own format. Unlisted properties are ignored.",
    examples: [
      {
        id: 'evt_1',
        type: 'customer.subscription.updated',
        created: 1_795_000_000,
        data: { object: { id: 'sub_1', customer: 'cus_1', status: 'active' } },
      },
    ],
  },
)
export type BillingEvent = Static<typeof BillingEvent>

export const Received = Named('Received', { received: Type.Literal(true) })

export const WebhookHeaders = Type.Object({
  'billing-signature': Type.Optional(
    Type.String({
      description:
        '`t=<seconds>,v1=<hex>`, where `v1` is the HMAC-SHA256 of `<seconds>.<raw body>`. There can be several `v1`. The time can be at most 5 minutes old or ahead. `Stripe-Signature` is accepted as well.',
      examples: ['t=1795000000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd'],
    }),
  ),
})
