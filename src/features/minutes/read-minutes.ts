/** A user's own minutes as JSON text, in pieces: a year can have hundreds of thousands of rows. */
import type { Database } from '../../platform/database/client.js'
import { jsonPieces, PIECE_LENGTH } from '../../platform/http/streaming.js'
import { addDays, listDays, type Range } from '../../platform/time/days.js'
import { countOwnMinutes, listOwnMinutes, listOwnMinutesOfAllWorkspaces } from './queries/own-minutes.js'

/** How many rows are read at once, unless one day has more. */
const ROWS_PER_READ = 10_000

/** A `MinutesOfDay`: all workspaces of the user. */
export async function* readMinutesOfDay(
  database: Database,
  userId: string,
  day: string,
): AsyncGenerator<string> {
  const rows = await listOwnMinutesOfAllWorkspaces(database.read, userId, day)
  yield* jsonPieces(`{"day":"${day}"`, [['workspaces', [rows.map(({ workspace }) => workspace)]]])
}

/** A `MinutesOfRange`: the workspaces that have minutes on a day. */
export async function* readMinutesOfRange(
  database: Database,
  userId: string,
  range: Range,
): AsyncGenerator<string> {
  let text = `{"range":${JSON.stringify(range)},"days":[`
  const counts = await countOwnMinutes(database.read, userId, range.from, range.to)
  for (const { from, to, rows } of partsOf(range, counts)) {
    const workspaces = rows === 0 ? [] : await listOwnMinutes(database.read, userId, from, to)
    let next = 0
    for (const day of listDays(from, to)) {
      text += `${day === range.from ? '' : ','}{"day":"${day}","workspaces":[`
      for (let separator = ''; workspaces[next]?.day === day; next++, separator = ',') {
        text += separator + workspaces[next]?.workspace
        if (text.length < PIECE_LENGTH) continue
        yield text
        text = ''
      }
      text += ']}'
    }
  }
  yield `${text}]}`
}

/** The range in parts, each with as many days as fit in one read. */
const partsOf = ({ from, to }: Range, counts: { day: string; rows: number }[]) => {
  const parts = [{ from, to, rows: 0 }]
  for (const { day, rows } of counts) {
    const part = parts.at(-1)
    if (!part) continue
    if (part.rows > 0 && part.rows + rows > ROWS_PER_READ) {
      part.to = addDays(day, -1)
      parts.push({ from: day, to, rows })
    } else part.rows += rows
  }
  return parts
}
