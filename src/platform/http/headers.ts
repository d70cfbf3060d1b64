/**
 * The headers of every response. Only known dashboards may call with credentials, for which browsers don't accept `*`.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config.js'

/** The headers of the response to a request, by the request's id and `Origin`. */
export type BuildResponseHeaders = (requestId: string, origin: string | undefined) => Record<string, string>

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

/** Also used for the HTTP parser's responses, which don't go through hooks. */
export const responseHeaders = (config: Config): BuildResponseHeaders => {
  const isKnown = isKnownOrigin(config)
  const isSecure = [config.baseUrl, config.homeUrl].some((url) => url.startsWith('https:'))
  const fixed = {
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    ...(isSecure && { 'Strict-Transport-Security': `max-age=${YEAR_SECONDS}` }),
    // In lower case, as the compression library expects it.
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

/** Pages of every origin may read responses of the API (see CORS), but not the service's own pages and files. */
const resourcePolicyOf = (url: string) => (/^\/api\/(?!docs\b)/.test(url) ? 'cross-origin' : 'same-origin')

export const setHeaders = (
  headersOf: BuildResponseHeaders,
  request: FastifyRequest,
  reply: FastifyReply,
): void => {
  reply.headers(headersOf(request.id, request.headers.origin))
  reply.header('Cross-Origin-Resource-Policy', resourcePolicyOf(request.url))
}

/** Only the caller may cache a response, only with an ETag, and must revalidate it every time. */
export const setCacheControl = (reply: FastifyReply): void => {
  if (!reply.hasHeader('Cache-Control'))
    reply.header('Cache-Control', reply.hasHeader('ETag') ? 'private, no-cache' : 'no-store')
}
