import type { SubscriptionStatus } from '../../../schemas/billing.js'
import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { readSubscriptionStatus } from './queries.js'

export const includesPro = (status: SubscriptionStatus): boolean =>
  ['trialing', 'active', 'past_due'].includes(status)

/** The effective plan. While billing is dormant, everyone has Pro. */
export const planOf = (status: SubscriptionStatus, { dormant }: { dormant: boolean }): 'free' | 'pro' =>
  dormant || includesPro(status) ? 'pro' : 'free'

/**
 * The Pro gate. It reads the status every time, so that lapses and renewals take effect at once.
 * @throws {ApiError} `pro_required`
 */
export const requirePro = async (db: Db, billing: { dormant: boolean }, userId: string): Promise<void> => {
  if (billing.dormant) return
  const status = await readSubscriptionStatus(db, userId)
  if (planOf(status, billing) !== 'pro') throw new ApiError('pro_required')
}
