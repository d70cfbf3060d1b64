/** Reads `Accept` (RFC 9110, section 12.5.1). */
import Negotiator from 'negotiator'

const negotiator = (accept: string | undefined) => new Negotiator({ headers: { accept } })

/** With and without the character set, because a client may name it. The first one is the default. */
const kinds = ['application/json', 'text/csv'].flatMap((type) => [type, `${type}; charset=utf-8`])

/** Whether CSV is preferred to JSON. */
export const prefersCsv = (accept: string | undefined): boolean =>
  negotiator(accept).mediaType(kinds)?.startsWith('text/csv') ?? false

/** Whether a media type is requested by name, and not only by a wildcard. */
export const namesType = (accept: string | undefined, type: string): boolean =>
  negotiator(accept)
    .mediaTypes()
    .some((named) => named.toLowerCase() === type)
