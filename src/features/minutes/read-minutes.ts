/**
 * A user's own minutes by UTC day, as JSON text in pieces: a year can have hundreds of thousands of rows. Rows are local
 * days, so their hours are mapped back.
 */
import type { Database } from '../../platform/database/client.js'
import { jsonPieces, PIECE_LENGTH } from '../../platform/http/streaming.js'
import { groupBy } from '../../platform/process/maps.js'
import { addDays, listDays, type Range } from '../../platform/time/days.js'
import { toUtcDays } from '../../platform/time/local-hours.js'
import { countOwnMinutes, listOwnMinutes, listOwnWorkspaces } from './queries/own-minutes.js'

/** How many rows are read at once, unless one day has more. */
const ROWS_PER_READ = 1_000

/** A workspace's repositories with minutes on a UTC day. */
interface WorkspaceDay {
  repos: Map<string, { repo: string; minutes: number }>
}

type Workspaces = Awaited<ReturnType<typeof listOwnWorkspaces>>

/** A `WorkspaceMinutes`, most minutes first. */
const toWorkspaceMinutes = ({ id, name }: Workspaces[number], day: WorkspaceDay | undefined) => {
  const repos = [...(day?.repos ?? [])]
    .sort(([aKey, a], [bKey, b]) => b.minutes - a.minutes || (aKey < bKey ? -1 : 1))
    .map(([, one]) => one)
  const minutes = repos.reduce((sum, one) => sum + one.minutes, 0)
  return { workspace_id: id, name, minutes, repos }
}

/** Reads the UTC days of a range. @returns the workspaces of each day that has minutes */
const readUtcDays = async (
  database: Database,
  userId: string,
  { from, to }: { from: string; to: string },
): Promise<Map<string, Map<string, WorkspaceDay>>> => {
  const days = new Map<string, Map<string, WorkspaceDay>>()
  const rows = await listOwnMinutes(database.read, userId, addDays(from, -1), addDays(to, 1))
  for (const { workspaceId, day, repoKey, repo, timezone, ...row } of rows)
    for (const [utcDay, minutes] of toUtcDays(timezone, day, row)) {
      if (utcDay < from || utcDay > to) continue
      const workspaces = days.get(utcDay) ?? new Map<string, WorkspaceDay>()
      days.set(utcDay, workspaces)
      const workspace = workspaces.get(workspaceId) ?? { repos: new Map() }
      workspaces.set(workspaceId, workspace)
      const sum = workspace.repos.get(repoKey) ?? { repo, minutes: 0 }
      workspace.repos.set(repoKey, { repo, minutes: sum.minutes + minutes })
    }
  return days
}

/** A `MinutesOfDay`: all workspaces of the user. */
export async function* readMinutesOfDay(
  database: Database,
  userId: string,
  day: string,
): AsyncGenerator<string> {
  const [workspaces, days] = await Promise.all([
    listOwnWorkspaces(database.read, userId),
    readUtcDays(database, userId, { from: day, to: day }),
  ])
  const all = workspaces.map((one) => JSON.stringify(toWorkspaceMinutes(one, days.get(day)?.get(one.id))))
  yield* jsonPieces(`{"day":"${day}"`, [['workspaces', [all]]])
}

/** A `MinutesOfRange`: the workspaces that have minutes on a day. */
export async function* readMinutesOfRange(
  database: Database,
  userId: string,
  range: Range,
): AsyncGenerator<string> {
  const [workspaces, counts] = await Promise.all([
    listOwnWorkspaces(database.read, userId),
    countOwnMinutes(database.read, userId, addDays(range.from, -1), addDays(range.to, 1)),
  ])
  let text = `{"range":${JSON.stringify(range)},"days":[`
  for (const part of partsOf(
    range,
    groupBy(counts, ({ day }) => day),
  )) {
    const days = await readUtcDays(database, userId, part)
    for (const day of listDays(part.from, part.to)) {
      const ofDay = days.get(day)
      const own = workspaces.flatMap((one) => {
        const found = ofDay?.get(one.id)
        return found ? [JSON.stringify(toWorkspaceMinutes(one, found))] : []
      })
      text += `${day === range.from ? '' : ','}{"day":"${day}","workspaces":[${own.join()}]}`
      if (text.length < PIECE_LENGTH) continue
      yield text
      text = ''
    }
  }
  yield `${text}]}`
}

/** The range in parts, each with as many days as fit in one read. */
const partsOf = ({ from, to }: Range, counts: ReadonlyMap<string, { rows: number }[]>) => {
  const parts: { from: string; to: string; rows: number }[] = []
  for (const day of listDays(from, to)) {
    const rows = counts.get(day)?.[0]?.rows ?? 0
    const part = parts.at(-1)
    if (part && (part.rows === 0 || part.rows + rows <= ROWS_PER_READ)) {
      part.to = day
      part.rows += rows
    } else parts.push({ from: day, to: day, rows })
  }
  return parts
}
