/** Finds access keys by the hash of their secret, and remembers them briefly. */
import { createHash, randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { CreatedAccessKey, CreateKeyBody, Scope } from '../../../schemas/keys.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { KeyInUse } from '../../platform/access/caller.js'
import type { Database, Db } from '../../platform/database/client.js'
import { createCache } from '../../platform/process/maps.js'
import { countKeys, findKey, insertKey, type KeyOwner, markUsed } from './queries.js'

export const hashOfSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** WakaTime tools accept only the prefix `waka_`. */
export const createSecret = (scopes: readonly Scope[]): string =>
  `${scopes.includes('activity:write') ? 'waka' : 'svc'}_${randomUUID()}`

/** A revocation takes effect on every instance after this time. */
const FRESH_MS = 3_000
const MAX_CACHED_KEYS = 10_000

/** Finds keys, with at most one query for a key in `FRESH_MS`. */
export class AccessKeys {
  /** By hash. Entries that are no longer fresh show that the key isn't a guess. */
  private readonly known = createCache<string, { key: KeyInUse; freshUntil: number }>(MAX_CACHED_KEYS)
  private readonly lookups = new Map<string, Promise<KeyInUse | ApiError>>()

  constructor(private readonly database: Pick<Database, 'hot' | 'write'>) {}

  /** @returns the key, or why the secret doesn't work. @throws {ApiError} `rate_limited` */
  async find(request: FastifyRequest, secret: string): Promise<KeyInUse | ApiError> {
    const hash = hashOfSecret(secret)
    const known = this.known.get(hash)
    if (known && performance.now() < known.freshUntil) return known.key
    if (known) return this.ask(hash)
    // An unknown secret may be a guess.
    const charge = await request.server.rateLimits.admit(request, 'refused_keys')
    let isRejected = false
    try {
      const found = await this.ask(hash)
      isRejected = found instanceof ApiError
      return found
    } finally {
      // A database failure is refunded too, because it says nothing about the secret.
      if (!isRejected) await charge.refund()
    }
  }

  /** Drops keys from the cache at once, because their rights on this instance have ended. */
  forget(isEnded: (key: KeyInUse) => boolean): void {
    // A lookup in progress may have read the key before it ended.
    this.lookups.clear()
    for (const [hash, { key }] of this.known) if (isEnded(key)) this.known.delete(hash)
  }

  /** Simultaneous requests share one query. */
  private ask(hash: string): Promise<KeyInUse | ApiError> {
    const pending = this.lookups.get(hash)
    if (pending) return pending
    const lookup = this.lookUp(hash, performance.now() + FRESH_MS, () => this.lookups.get(hash) === lookup)
    this.lookups.set(hash, lookup)
    const end = () => {
      if (this.lookups.get(hash) === lookup) this.lookups.delete(hash)
    }
    lookup.then(end, end)
    return lookup
  }

  private async lookUp(
    hash: string,
    freshUntil: number,
    isCurrent: () => boolean,
  ): Promise<KeyInUse | ApiError> {
    const found = await findKey(this.database.hot, hash)
    if (found?.state !== 'active') {
      if (isCurrent()) this.known.delete(hash)
      return new ApiError(found ? `token_${found.state}` : 'token_invalid')
    }
    const { key, isUsedToday } = found
    // The request continues even if the database is read-only.
    if (!isUsedToday) await markUsed(this.database.write, key.keyId).catch(() => {})
    if (isCurrent()) this.known.set(hash, { key, freshUntil })
    return key
  }
}

/** Creates a key for a locked owner. @throws {ApiError} `key_limit` */
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
