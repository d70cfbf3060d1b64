import { createHmac, timingSafeEqual } from 'node:crypto'

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
