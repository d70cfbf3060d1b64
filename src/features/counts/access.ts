import type { Access } from '../../platform/access/access.js'

/** The proof of the repository host that it knows the secret of the webhook; `routes/deliveries.ts` checks it. */
export const webhookSecret: Access = {
  callers: 'the repository host, with the secret of the webhook',
  credential: 'webhookSecret',
  usesSession: false,
  errors: ['signature_invalid', 'webhook_not_found', 'webhooks_not_configured', 'rate_limited'],
}
