import type { VerifyResult } from '../../../schemas/auth.js'
import { ApiError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import type { AddressKey } from './address-keys.js'
import { replaceAddresses } from './queries/addresses.js'
import { type User, upsertUser } from './queries/users.js'
import type { RepohostUser } from './repohost.js'

interface SignInContext {
  database: Database
  addressKeys: AddressKey[]
  tokens: { issue(user: User): string }
  milestones: { reached(userId: string, event: 'signed_in'): void }
  /** Memberships that follow the host are updated before the response. */
  follow(user: User): Promise<void>
}

/**
 * Creates a session for the person to whom a token belongs, according to the repository host.
 * @throws {ApiError} `repohost_token_invalid` for tokens of an OAuth app that isn't on the allow-list,
 * `account_disabled`
 */
export const signIn = async (
  { database, addressKeys, tokens, milestones, follow }: SignInContext,
  repohostUser: RepohostUser,
  allowedClientIds: string[] | undefined,
): Promise<VerifyResult> => {
  const { clientId, addresses } = repohostUser
  if (allowedClientIds && clientId !== undefined && !allowedClientIds.includes(clientId)) {
    throw new ApiError('repohost_token_invalid', {
      detail: 'Tokens of this OAuth app aren’t accepted here.',
    })
  }
  // Two people may claim the same login at the same moment.
  const user = await database.transaction(
    async (tx) => {
      const user = await upsertUser(tx, repohostUser)
      if (user.disabledAt !== null) throw new ApiError('account_disabled')
      if (addresses) await replaceAddresses(tx, addressKeys, user.id, addresses)
      return user
    },
    { rowsCanConflict: true },
  )
  milestones.reached(user.id, 'signed_in')
  await follow(user)
  return { token: tokens.issue(user), login: user.login, avatar_url: user.avatarUrl }
}
