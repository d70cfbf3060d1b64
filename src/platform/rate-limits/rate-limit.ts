/**
 * Limits requests per minute and caller, or address without a session. The limit is lower where guessing would pay off.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.js'
import { chargeRejections } from './admit.js'

const rejectsToken = (error: unknown) =>
  error instanceof ApiError && ['repohost_token_invalid', 'repo_access_denied'].includes(error.code)

/**
 * Shows a caller's token to the repository host, unless the host has rejected too many of theirs. The host's time doesn't
 * count as the caller's.
 * @throws {ApiError} `rate_limited`
 */
export const showHostToken = <T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> => {
  const ask = () => chargeRejections(request, 'refused_host_tokens', rejectsToken, work)
  return request.work ? request.work.elsewhere(ask) : ask()
}

/** @throws {ApiError} `rate_limited` */
export const limitRate = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
  const { server: app, routeOptions } = request
  const limit = routeOptions.config?.limit
  if (limit === 'none') return
  // Sent without RateLimit headers, because browsers cache these responses.
  if (limit === 'pages') {
    await app.rateLimits.admit(request, 'pages')
    return
  }
  await app.rateLimits.admit(request, 'caller', { reply })
  if (limit === 'refused_host_tokens') {
    if (!(request.session instanceof ApiError)) await app.rateLimits.admit(request, limit, { amount: 0 })
  } else if (limit) await app.rateLimits.admit(request, limit, { reply })
}
