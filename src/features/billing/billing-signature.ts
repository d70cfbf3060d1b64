/**
 * Enforces the access `billingSignature`: the body of such a route is the billing provider's notification, or nothing.
 * The signature covers the original bytes, so the route's scope mustn't parse them. Already parsed bodies are rejected.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '../../errors.js'
import type { Access } from '../../platform/access/access.js'

/** The billing provider's signature over the raw body. */
export const billingSignature: Access = {
  callers: 'the billing provider',
  credential: 'signature',
  usesSession: false,
  errors: ['signature_invalid', 'billing_not_configured', 'rate_limited'],
}

export default fp(
  async (app) => {
    const secret = app.config.billing.webhookSecret

    /** Requests with a valid signature are never limited. */
    const reject = async (request: FastifyRequest): Promise<never> => {
      app.meter.count('team_settings_webhooks_total', { outcome: 'refused' })
      await app.admit(request, 'wrong_signatures')
      throw new ApiError('signature_invalid')
    }

    const isSigned = ({ routeOptions }: FastifyRequest) => routeOptions.config.access === billingSignature

    const checkHeaders = async (request: FastifyRequest) => {
      if (!secret) throw new ApiError('billing_not_configured')
      const { headers } = request
      const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
      if (!hasBody || signatureOf(headers) === undefined) await reject(request)
    }
    app.addHook('onRequest', (request, _reply, done) => {
      if (!isSigned(request)) return done()
      checkHeaders(request).then(() => done(), done)
    })

    const openBody = async (request: FastifyRequest) => {
      const { body, headers } = request
      const signature = signatureOf(headers)
      const isGenuine =
        secret !== undefined &&
        signature !== undefined &&
        Buffer.isBuffer(body) &&
        isSignedBy(secret, signature, body, Date.now() / 1_000)
      if (!isGenuine) return reject(request)
      try {
        request.body = JSON.parse(body.toString('utf8'))
      } catch {
        throw new ApiError('invalid_json')
      }
    }
    app.addHook('preValidation', (request, _reply, done) => {
      if (!isSigned(request)) return done()
      openBody(request).then(() => done(), done)
    })
  },
  { name: 'billing-signature', dependencies: ['admit'] },
)

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
