import type { CreatedAccessKey, CreateKeyBody } from '../../../schemas/keys.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { createSecret, hashOfSecret } from './access-keys.js'
import { countKeys, insertKey, type KeyOwner } from './queries/access-keys.js'

/** Creates a key of a locked owner. @throws {ApiError} `key_limit` */
export const issueKey = async (
  tx: Db,
  owner: KeyOwner,
  createdBy: { id: string; login: string },
  { name, scopes, expires_in_days: days = limits.key_days_default }: CreateKeyBody,
): Promise<CreatedAccessKey> => {
  if ((await countKeys(tx, owner)) >= limits.keys_per_owner) throw new ApiError('key_limit')
  const secret = createSecret(scopes)
  const hash = hashOfSecret(secret)
  const key = await insertKey(tx, { owner, createdBy, name: name.trim(), scopes, days, hash })
  return { ...key, secret }
}
