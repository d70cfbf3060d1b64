/** Entity tags (RFC 9110, section 8.8.3) and the preconditions made of them. */
import { createHash } from 'node:crypto'

/** Of what is stored: an id that is new with every beginning, and a version. */
export const etagOf = ({ id, version }: { id: string; version: number }): string => `"${id}-${version}"`

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

/** What a write asks of what is there: all of the `If-Match` and `If-None-Match` that came, whichever way. */
export interface Preconditions {
  ifMatch: string[]
  ifNoneMatch: string[]
}

/** Those of a request's headers and of its query, which say the same. */
export const preconditionsOf = (
  headers: { 'if-match'?: string; 'if-none-match'?: string },
  query: { if_match?: string; if_none_match?: string },
): Preconditions => {
  const given = (...values: (string | undefined)[]) => values.filter((value) => value !== undefined)
  return {
    ifMatch: given(headers['if-match'], query.if_match),
    ifNoneMatch: given(headers['if-none-match'], query.if_none_match),
  }
}

/** Whether they hold for what has this tag; undefined: nothing is there. */
export const preconditionsHold = (
  { ifMatch, ifNoneMatch }: Preconditions,
  etag: string | undefined,
): boolean =>
  etag === undefined
    ? ifMatch.length === 0
    : ifMatch.every((header) => matchNames(header, etag)) &&
      !ifNoneMatch.some((header) => noneMatchNames(header, etag))
