/** The content of responses: `Accept` (RFC 9110, section 12.5.1), downloads, and stored JSON text. */
import type { FastifyReply } from 'fastify'
import Negotiator from 'negotiator'

/** Browsers send up to 200 characters. Thousands of media types take a tenth of a second to compare. */
const ACCEPT_LENGTH = 1_000

/** Longer headers are ignored. */
const negotiator = (accept: string | undefined) =>
  new Negotiator({ headers: { accept: (accept?.length ?? 0) > ACCEPT_LENGTH ? undefined : accept } })

/** With and without the character set, because clients may include it. The first one is the default. */
const kinds = ['application/json', 'text/csv'].flatMap((type) => [type, `${type}; charset=utf-8`])

/** Whether CSV is preferred to JSON. */
export const prefersCsv = (accept: string | undefined): boolean =>
  negotiator(accept).mediaType(kinds)?.startsWith('text/csv') ?? false

/** Whether a media type is requested by name, not just by a wildcard. */
export const namesType = (accept: string | undefined, type: string): boolean =>
  negotiator(accept)
    .mediaTypes()
    .some((named) => named.toLowerCase() === type)

/**
 * The `Content-Disposition` of a download (RFC 6266), with a plain ASCII name for every client, and the full name
 * for clients that support it.
 */
export const attachmentOf = (name: string, ending: string): string => {
  const plain = toSlug(name.normalize('NFKD').replace(/\p{M}/gu, ''), /[^A-Za-z0-9._]+/g)
  const full = toSlug(name, /[^\p{L}\p{M}\p{N}._]+/gu)
  const disposition = `attachment; filename="${plain || 'file'}${ending}"`
  return full === plain
    ? disposition
    : `${disposition}; filename*=UTF-8''${encodeURIComponent(full + ending)}`
}

/** Replaces separators with dashes, and removes dashes and dots at both ends, so that no file is hidden. */
const toSlug = (name: string, separators: RegExp): string =>
  name.replace(separators, '-').replace(/^[-.]+|[-.]+$/g, '')

/** `{...before, settings, ...after}` for `settings` that are JSON text. Neither `before` nor `after` may be empty. */
export const withSettingsText = (before: object, settings: string, after: object): string =>
  `${JSON.stringify(before).slice(0, -1)},"settings":${settings},${JSON.stringify(after).slice(1)}`

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends bytes as they are. Replies of typed routes would only take what their schemas describe. */
export const sendBytes = (reply: FastifyReply, type: string, bytes: Buffer | undefined) =>
  reply.type(type).send(bytes)

/** Sends JSON text, bypassing the route's serializer. */
export const sendJsonText = (reply: FastifyReply, text: string) => reply.type(JSON_TYPE).send(text)
