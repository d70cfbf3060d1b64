import type { FastifyInstance, FastifyRequest } from 'fastify'
import { matcherOf } from '../rate-limits/exempt.js'

/** Private network addresses, which proxies call from. Callers' public addresses aren't logged. */
const PRIVATE_RANGES = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '::1',
  'fc00::/7',
  'fe80::/10',
]

/**
 * Warns once about a proxy that TRUST_PROXY doesn't list, because all callers behind it share the limits of one address.
 */
export const untrustedProxyWarning = (app: FastifyInstance): ((request: FastifyRequest) => void) => {
  const { trustProxy } = app.config
  const isPrivate = matcherOf(PRIVATE_RANGES)
  const isTrusted = matcherOf(trustProxy ?? [])
  let hasWarned = false
  return ({ headers, socket }) => {
    if (hasWarned || headers['x-forwarded-for'] === undefined) return
    const address = socket.remoteAddress?.replace(/^::ffff:(?=[0-9.]+$)/i, '')
    if (!isPrivate(address) || isTrusted(address)) return
    hasWarned = true
    app.log.warn(
      `${address} sends X-Forwarded-For, but TRUST_PROXY doesn’t list it. If your proxy has this address, set TRUST_PROXY=${[...(trustProxy ?? []), address].join(',')}. Until then, all callers behind it share the limits of one address.`,
    )
  }
}
