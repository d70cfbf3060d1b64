import type { FastifyRequest } from 'fastify'

/** Whether the call comes from a dashboard or the service's own pages, judged by headers that no page can forge. */
export const isFromTrustedOrigin = ({ headers, server }: FastifyRequest): boolean =>
  headers.origin === undefined
    ? headers['sec-fetch-site'] === 'same-origin'
    : server.config.trustedOrigins.includes(headers.origin)
