import type { FastifyRequest } from 'fastify'
import type { SubscriptionStatus } from '../../schemas/billing.js'
import { ApiError } from '../errors.js'
import { callerOf } from '../plugins/session.js'
import { readSubscriptionStatus } from '../queries/billing.js'

export const givesPro = (status: SubscriptionStatus): boolean =>
  ['trialing', 'active', 'past_due'].includes(status)

/** The effective plan. While billing is dormant everybody has Pro, whatever they pay. */
export const planOf = (status: SubscriptionStatus, { dormant }: { dormant: boolean }): 'free' | 'pro' =>
  dormant || givesPro(status) ? 'pro' : 'free'

/**
 * The Pro gate of a scope. It reads the status on every request, so that a lapse or a renewal holds at once.
 * @throws {ApiError} `pro_required`
 */
export const requirePro = async (request: FastifyRequest): Promise<void> => {
  const { config, db } = request.server
  if (config.billing.dormant) return
  const status = await readSubscriptionStatus(db, callerOf(request).userId)
  if (planOf(status, config.billing) !== 'pro') throw new ApiError('pro_required')
}
