/** Keyset pages: a cursor is where the previous page ended, as the values of its order; opaque to callers. */
import { invalid } from './errors.js'

/** RFC 3339 with milliseconds, of a day that exists. */
const isTimestamp = (part: string): boolean => {
  const date = new Date(part)
  return !Number.isNaN(date.getTime()) && date.getUTCFullYear() > 0 && date.toISOString() === part
}

const kinds = {
  text: (part: string) => !part.includes('\0') && part.isWellFormed(),
  uuid: (part: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(part),
  timestamp: isTimestamp,
}
type Kind = keyof typeof kinds

/** @throws {ApiError} `validation_failed` for what is not a cursor made of these kinds. */
export const decodeCursor = (cursor: string | undefined, expected: readonly Kind[]): string[] | undefined => {
  if (cursor === undefined) return undefined
  const position = parse(cursor)
  const fits =
    Array.isArray(position) &&
    position.length === expected.length &&
    expected.every((kind, index) => typeof position[index] === 'string' && kinds[kind](position[index]))
  if (!fits) throw invalid('/query/cursor', 'must be a `next_cursor` of this list')
  return position
}

/** For a route's `config.validate`. */
export const validCursor =
  (expected: readonly Kind[]) =>
  ({ query }: { query: unknown }): void => {
    decodeCursor((query as { cursor?: string }).cursor, expected)
  }

const parse = (cursor: string): unknown => {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}

export const toCursor = (position: readonly string[]): string =>
  Buffer.from(JSON.stringify(position)).toString('base64url')

/** Takes one row more than the page holds, cuts it off again, and names the place where the next page begins. */
export const toPage = <Row>(rows: Row[], limit: number, positionOf: (row: Row) => readonly string[]) => {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, next_cursor: rows.length > limit && last ? toCursor(positionOf(last)) : null }
}
