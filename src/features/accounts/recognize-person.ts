import { ApiError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import type { HostUser, StatedAddresses } from '../../platform/hosts/kind.js'
import type { AddressKey } from './address-keys.js'
import { replaceAddresses } from './queries/addresses.js'
import { type User, upsertUser } from './queries/users.js'

/**
 * The account of a person whom the repository host has identified. It is created, or gets the host's present name.
 * @throws {ApiError} `account_disabled`
 */
export const recognizePerson = (
  database: Database,
  addressKeys: AddressKey[],
  { addresses, ...person }: HostUser & { addresses: StatedAddresses | undefined },
): Promise<User> =>
  // Two people may claim the same login at the same moment.
  database.transaction(
    async (tx) => {
      const user = await upsertUser(tx, person)
      if (user.disabledAt !== null) throw new ApiError('account_disabled')
      if (addresses) await replaceAddresses(tx, addressKeys, user.id, addresses)
      return user
    },
    { rowsCanConflict: true },
  )
