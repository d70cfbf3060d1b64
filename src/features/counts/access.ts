import type { Access } from '../../platform/access/access.js'

/** The repository host's proof that it knows the webhook secret; `routes/deliveries.ts` checks it. */
export const webhookSecret: Access = {
  callers: 'the repository host, with the webhook secret',
  credential: 'webhookSecret',
  usesSession: false,
  errors: ['signature_invalid', 'webhook_not_found', 'webhooks_not_configured', 'rate_limited'],
}
