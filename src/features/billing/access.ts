import type { Access } from '../../platform/access/access.js'

/** The billing provider's signature over the raw body; `billing-signature.ts` checks it. */
export const billingSignature: Access = {
  callers: 'the billing provider',
  credential: 'signature',
  usesSession: false,
  errors: ['signature_invalid', 'billing_not_configured', 'rate_limited'],
}
