/** Recognizes people by an HMAC of their e-mail addresses, which the service doesn't store. */
import { createHmac, hkdfSync } from 'node:crypto'

export interface AddressKey {
  /** Case doesn't matter. */
  hmacOf(address: string): string
}

/** One key per signing secret, in the same order. New rows use the first. Backups contain none of them. */
export const addressKeysOf = (secrets: string[]): AddressKey[] =>
  secrets.map((secret) => {
    const key = Buffer.from(hkdfSync('sha256', secret, '', 'addresses', 32))
    return { hmacOf: (address) => createHmac('sha256', key).update(address.toLowerCase()).digest('hex') }
  })
