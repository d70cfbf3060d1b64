import type { FastifyRequest } from 'fastify'

/** Whether a page of a dashboard, or of the service itself, makes this call, by headers that no page can forge. */
export const isFromTrustedOrigin = ({ headers, server }: FastifyRequest): boolean =>
  headers.origin === undefined
    ? headers['sec-fetch-site'] === 'same-origin'
    : server.config.trustedOrigins.includes(headers.origin)
