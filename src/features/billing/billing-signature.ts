/**
 * Enforces the access `billingSignature`: the body of such a route is the billing provider's notification, or nothing.
 * The signature covers the original bytes, so the route's scope mustn't parse them. Already parsed bodies are rejected.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.js'
import type { Access } from '../../platform/access/access.js'
import { canHaveBody } from '../../platform/http/errors.js'

/** Requests with a valid signature are never limited. */
const signatureFault = async (request: FastifyRequest): Promise<ApiError> => {
  const { server } = request
  server.meter.count('team_settings_webhooks_total', { outcome: 'refused' })
  await server.rateLimits.admit(request, 'wrong_signatures')
  return new ApiError('signature_invalid')
}

/** Reads the body once its signature has been verified. */
const openBody = async (request: FastifyRequest): Promise<void> => {
  const { body, headers, server } = request
  const secret = server.config.billing.webhookSecret
  const signature = signatureOf(headers)
  const isGenuine =
    secret !== undefined &&
    signature !== undefined &&
    Buffer.isBuffer(body) &&
    isSignedBy(secret, signature, body, Date.now() / 1_000)
  if (!isGenuine) throw await signatureFault(request)
  try {
    request.body = JSON.parse(body.toString('utf8'))
  } catch {
    throw new ApiError('invalid_json')
  }
}

/** The billing provider's signature over the raw body. */
export const billingSignature: Access = {
  callers: 'the billing provider',
  credential: 'signature',
  usesSession: false,
  errors: ['signature_invalid', 'billing_not_configured', 'rate_limited'],
  admit: async (request) => {
    if (!request.server.config.billing.webhookSecret) return new ApiError('billing_not_configured')
    const isSigned = canHaveBody(request.raw) && signatureOf(request.headers) !== undefined
    return isSigned ? undefined : signatureFault(request)
  },
  openBody,
}

const signatureOf = (headers: FastifyRequest['headers']): string | undefined => {
  const header = headers['billing-signature'] ?? headers['stripe-signature']
  return typeof header === 'string' && header !== '' ? header : undefined
}

const TOLERANCE_SECONDS = 300

/**
 * Stripe's scheme (docs.stripe.com/webhooks#verify-manually): `t=<seconds>,v1=<hex>[,v1=…]`, each `v1` an HMAC-SHA256
 * of `<t>.<payload>`. There are several while the provider rotates its secret. Other schemes (`v0`) are ignored.
 * @param now seconds since the epoch; times too far in the future are rejected like those too far in the past
 */
export const isSignedBy = (secret: string, header: string, payload: Buffer, now: number): boolean => {
  const parts = header.split(',').map((part) => part.trim().split('='))
  const valuesOf = (name: string) => parts.flatMap(([key, value = '']) => (key === name ? [value] : []))
  const [time = '', ...furtherTimes] = valuesOf('t')
  if (furtherTimes.length > 0 || !/^[0-9]{1,12}$/.test(time)) return false
  if (Math.abs(now - Number(time)) > TOLERANCE_SECONDS) return false
  const expected = createHmac('sha256', secret).update(`${time}.`).update(payload).digest()
  return valuesOf('v1').some(
    (signature) =>
      /^[0-9a-f]{64}$/.test(signature) && timingSafeEqual(Buffer.from(signature, 'hex'), expected),
  )
}
