import type { Profile } from '../../../schemas/profile.js'
import type { Config } from '../../config.js'
import type { Database } from '../../platform/database/client.js'
import { readCaller } from '../accounts/index.js'
import { planOf, readSubscriptionStatus } from '../billing/index.js'
import { readLastHeartbeat } from '../editors/index.js'

/** @throws {ApiError} `token_invalid` when there is no such user */
export const readProfile = async (
  { read }: Database,
  { billing }: Config,
  userId: string,
): Promise<Profile> => {
  const [user, status, heartbeats] = await Promise.all([
    readCaller(read, userId),
    readSubscriptionStatus(read, userId),
    readLastHeartbeat(read, userId),
  ])
  const { id, login, avatarUrl, timezone, timezoneChosen } = user
  return {
    id,
    login,
    avatar_url: avatarUrl,
    plan: planOf(status, billing),
    status,
    timezone,
    timezone_chosen: timezoneChosen,
    heartbeats,
  }
}
