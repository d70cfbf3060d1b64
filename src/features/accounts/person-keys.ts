/** Recognizes people who deleted their account, by an HMAC of their repository-host id. */
import { createHmac, hkdfSync } from 'node:crypto'

export interface PersonKey {
  /** Tells keys apart and reveals nothing of the secret. */
  id: string
  /** Differs between workspaces, so that one person's rows in two workspaces can't be linked. */
  personOf(workspaceId: string, repohostId: number): string
}

/** One key per signing secret, in the same order. New rows use the first. */
export const personKeysOf = (secrets: string[]): PersonKey[] =>
  secrets.map((secret) => {
    const key = Buffer.from(hkdfSync('sha256', secret, '', 'removed people', 32))
    const hmac = (text: string) => createHmac('sha256', key).update(text).digest('hex')
    return {
      id: hmac('key id').slice(0, 16),
      personOf: (workspaceId, repohostId) => hmac(`${workspaceId} ${repohostId}`),
    }
  })
