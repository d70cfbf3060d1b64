/** Keyset pagination. A cursor is opaque to callers. It contains the last row's sort values. */
import { limits } from '../../../schemas/limits.js'
import { validationError } from '../../errors.js'
import type { CursorSeal } from './cursor-seal.js'
import { isUuid } from './formats.js'

/** RFC 3339 with milliseconds, on a day that exists. */
const isTimestamp = (part: string): boolean => {
  const date = new Date(part)
  return !Number.isNaN(date.getTime()) && date.getUTCFullYear() > 0 && date.toISOString() === part
}

const kinds = {
  text: (part: string) => !part.includes('\0') && part.isWellFormed(),
  uuid: isUuid,
  timestamp: isTimestamp,
  day: (part: string) => isTimestamp(`${part}T00:00:00.000Z`),
}
type Kind = keyof typeof kinds

interface PageQuery {
  limit?: number
  cursor?: string
}

const plain: CursorSeal = {
  seal: (text) => Buffer.from(text).toString('base64url'),
  open: (cursor) => Buffer.from(cursor, 'base64url').toString(),
}

/** @param position the kinds of values in this list's cursors */
export const paginate = (...position: Kind[]) => paginateSealed(plain, ...position)

/** The same for a list whose cursors may contain names that the caller mustn't see. */
export const paginateSealed = (seal: CursorSeal, ...position: Kind[]) => {
  /** @throws {ApiError} `validation_failed` for a cursor from another list */
  const begin = ({ limit = limits.page_size_default, cursor }: PageQuery) => ({
    limit,
    after: cursor === undefined ? undefined : decodeCursor(seal.open(cursor), position),
  })
  /**
   * Reads a page that may have fewer rows than its limit although more follow.
   * @param list also says where the page ends, unless that is its last row
   */
  const readBounded = async <Row>(
    query: PageQuery,
    list: (
      after: string[] | undefined,
      limit: number,
    ) => Promise<{ rows: Row[]; more: boolean; end?: Row | undefined }>,
    positionOf: (row: Row) => readonly string[],
  ) => {
    const { limit, after } = begin(query)
    const { rows, more, end = rows.at(-1) } = await list(after, limit)
    return { rows, next_cursor: more && end ? seal.seal(JSON.stringify(positionOf(end))) : null }
  }
  return {
    /** For a route's `config.validate`. */
    validate: ({ query }: { query: unknown }): void => {
      begin(query as PageQuery)
    },
    readBounded,
    /** Reads a page by asking for one row more than it holds, which tells whether more follow. */
    read: <Row>(
      query: PageQuery,
      list: (after: string[] | undefined, rows: number) => Promise<Row[]>,
      positionOf: (row: Row) => readonly string[],
    ) =>
      readBounded(
        query,
        async (after, limit) => {
          const found = await list(after, limit + 1)
          return { rows: found.slice(0, limit), more: found.length > limit }
        },
        positionOf,
      ),
  }
}

const decodeCursor = (cursor: string | undefined, expected: readonly Kind[]): string[] => {
  const position = parse(cursor)
  const fits =
    Array.isArray(position) &&
    position.length === expected.length &&
    expected.every((kind, index) => typeof position[index] === 'string' && kinds[kind](position[index]))
  if (!fits) throw validationError('/query/cursor', 'must be a `next_cursor` from this list')
  return position
}

const parse = (text: string | undefined): unknown => {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
