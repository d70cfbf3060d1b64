/** Headers that every answer carries. Known dashboards may call with credentials; browsers combine no cookie with `*`. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.js'

/** The headers of the answer to a request, by its id and its `Origin`. */
export type AnswerHeaders = (requestId: string, origin: string | undefined) => Record<string, string>

const exposedHeaders = [
  'ETag',
  'X-Request-Id',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
].join(', ')

const YEAR_SECONDS = 31_536_000

export const isKnownOrigin = ({ dashboardOrigins }: Config) => {
  const known = new Set<string | undefined>(dashboardOrigins)
  return (origin: string | undefined): origin is string => known.has(origin)
}

/** For the hook below, and for answers to what never becomes a request that hooks see. */
export const answerHeaders = (config: Config): AnswerHeaders => {
  const isKnown = isKnownOrigin(config)
  const isSecure = [config.baseUrl, config.homeUrl].some((url) => url.startsWith('https:'))
  const fixed = {
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    ...(isSecure && { 'Strict-Transport-Security': `max-age=${YEAR_SECONDS}` }),
    // In lower case, because the library that compresses looks for it so.
    Vary: 'Origin, accept-encoding',
    'Access-Control-Expose-Headers': exposedHeaders,
  }
  const forStrangers = { ...fixed, 'Access-Control-Allow-Origin': '*' }
  return (requestId, origin) =>
    isKnown(origin)
      ? {
          'X-Request-Id': requestId,
          ...fixed,
          'Access-Control-Allow-Origin': origin,
          'Access-Control-Allow-Credentials': 'true',
        }
      : { 'X-Request-Id': requestId, ...forStrangers }
}

export default fp(async (app: FastifyInstance, { headersOf }: { headersOf: AnswerHeaders }) => {
  // Callbacks here and in the other hooks of every request: a promise each would cost more than their work.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headersOf(request.id, request.headers.origin))
    done()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    // What has an ETag may be kept by the caller alone, and is asked for again each time; nothing else is kept.
    if (!reply.hasHeader('Cache-Control')) {
      reply.header('Cache-Control', reply.hasHeader('ETag') ? 'private, no-cache' : 'no-store')
    }
    done(null, payload)
  })
})
