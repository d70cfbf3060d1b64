import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const IV_BYTES = 12
const TAG_BYTES = 16

/** Encrypts cursors, for lists whose position may reveal what the caller mustn't see. */
export interface CursorSeal {
  seal(text: string): string
  /** Undefined for text that wasn't sealed under one of the secrets. */
  open(cursor: string): string | undefined
}

/** @param secrets the first one encrypts, and each can decrypt */
export const createCursorSeal = (secrets: readonly string[]): CursorSeal => {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'list cursors', 32)))
  const [first = randomBytes(32)] = keys
  const openWith = (key: Buffer, sealed: Buffer): string | undefined => {
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES))
      decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      return Buffer.concat([
        decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)),
        decipher.final(),
      ]).toString()
    } catch {
      return undefined
    }
  }
  return {
    seal: (text) => {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', first, iv)
      const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), data]).toString('base64url')
    },
    open: (cursor) => {
      const sealed = Buffer.from(cursor, 'base64url')
      for (const key of keys) {
        const text = openWith(key, sealed)
        if (text !== undefined) return text
      }
      return undefined
    },
  }
}
