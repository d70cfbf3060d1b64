/** Entity tags (RFC 9110, section 8.8.3) and the preconditions made of them. */
import { createHash } from 'node:crypto'

/** Of what is made anew each time, and has no version. */
export const etagOfText = (text: string): string =>
  `"${createHash('sha256').update(text).digest('base64url')}"`

const opaqueTags = (header: string): string[] => header.match(/(?:W\/)?"[^"]*"/g) ?? []

/** Whether `If-None-Match` names the tag (weak comparison) or is `*`. */
export const noneMatchNames = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || opaqueTags(header).some((tag) => tag.replace(/^W\//, '') === etag))

/** Whether `If-Match` names the tag (strong comparison) or is `*`. */
export const matchNames = (header: string, etag: string): boolean =>
  header.trim() === '*' || opaqueTags(header).includes(etag)
