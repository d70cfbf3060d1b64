/** Entity tags (RFC 9110, section 8.8.3), also in SQL, and the preconditions that use them. */
import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { ApiError } from '../../errors.js'

/** An ETag's version and its id, which is new whenever the content is created. */
interface Version {
  id: string
  version: number
}

export const etagOf = ({ id, version }: Version): string => `"${id}-${version}"`

/** An ETag for generated content without a version. */
export const etagOfText = (text: string | Buffer): string =>
  `"${createHash('sha256').update(text).digest('base64url')}"`

const opaqueTags = (header: string): string[] => header.match(/(?:W\/)?"[^"]*"/g) ?? []

/** Whether `If-None-Match` lists the tag (weak comparison) or is `*`. */
const ifNoneMatchLists = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || opaqueTags(header).some((tag) => tag.replace(/^W\//, '') === etag))

/** Sets the response's ETag. @returns whether the caller already has this version, so that 304 is enough */
export const isUnchanged = (reply: FastifyReply, etag: string): boolean => {
  reply.header('ETag', etag)
  return ifNoneMatchLists(reply.request.headers['if-none-match'], etag)
}

/** Whether `If-Match` lists the tag (strong comparison) or is `*`. */
const ifMatchLists = (header: string, etag: string): boolean =>
  header.trim() === '*' || opaqueTags(header).includes(etag)

/** A write's preconditions: every `If-Match` and `If-None-Match` in the request. */
export interface Preconditions {
  ifMatch: string[]
  ifNoneMatch: string[]
}

/** The preconditions in a request's headers and query, which are equivalent. */
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

/** @param current the stored content. @throws {ApiError} `version_conflict` unless the preconditions hold */
export const requirePreconditions = (
  { ifMatch, ifNoneMatch }: Preconditions,
  current: Version | undefined,
): void => {
  requireEtag({ ifMatch, ifNoneMatch }, current && etagOf(current), current?.version)
}

/** The same for content whose ETag isn't based on its version. @throws {ApiError} `version_conflict` */
export const requireEtag = (
  { ifMatch, ifNoneMatch }: Preconditions,
  etag: string | undefined,
  version: number | undefined,
): void => {
  const hold =
    etag === undefined
      ? ifMatch.length === 0
      : ifMatch.every((header) => ifMatchLists(header, etag)) &&
        !ifNoneMatch.some((header) => ifNoneMatchLists(header, etag))
  if (!hold) throw new ApiError('version_conflict', { current_version: version ?? null })
}

/** SQL: the ETag that `etagOf` makes. */
export const etagSql = (id: string, version: string): string => `'"' || ${id} || '-' || ${version} || '"'`

/** SQL: an ETag for content that is made from these values. */
export const etagSqlOf = (...values: string[]): string =>
  `'"' || md5(concat_ws(' ', ${values.join(', ')})) || '"'`

/**
 * SQL: `If-None-Match` (a text parameter, empty without the header) doesn't name this tag, so the content is wanted.
 */
export const etagDiffers = (etag: string, ifNoneMatch: string): string =>
  `(strpos(${ifNoneMatch}, ${etag}) = 0 and ${ifNoneMatch} <> '*')`
