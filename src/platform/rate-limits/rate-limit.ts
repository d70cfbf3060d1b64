/**
 * Limits requests per minute for each caller, or for each address if there's no session. The limit is lower where
 * guessing would pay off.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.js'

interface HostTokenCharge {
  /** Call it once the host has answered. Only a rejected token stays charged. */
  settle(outcome: 'granted' | 'rejected' | 'failed'): Promise<void>
}

/**
 * Call it before a caller's token is sent to the repository host. The time until the charge is settled is the
 * host's, and doesn't count as the caller's.
 * @throws {ApiError} `rate_limited` if the host has rejected too many of the caller's tokens
 */
export const chargeHostToken = async (request: FastifyRequest): Promise<HostTokenCharge> => {
  const charge = await request.server.rateLimits.admit(request, 'refused_host_tokens')
  request.work?.pause()
  return {
    settle: async (outcome) => {
      request.work?.resume()
      if (outcome !== 'rejected') await charge.refund()
    },
  }
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
