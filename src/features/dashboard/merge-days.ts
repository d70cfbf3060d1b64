/** Merges the numbers of published weeks with those of recorded days. */
import type { Dashboard } from '../../../schemas/dashboard.js'
import { limits } from '../../../schemas/limits.js'
import { Heatmap } from '../minutes/index.js'
import type { Hours } from './read-heatmap.js'
import { addUp, larger } from './sums.js'

export type RepoRow = Dashboard['repos'][number]

const keyOf = ({ repo }: RepoRow): string => repo?.toLowerCase() ?? ''

/** Most minutes first. */
const compareRepos = (one: RepoRow, other: RepoRow): number =>
  (other.active_minutes ?? 0) - (one.active_minutes ?? 0) || (keyOf(one) < keyOf(other) ? -1 : 1)

/** One row each. The last row adds up everything without a name and beyond the limit. */
export const mergeRepos = (rows: RepoRow[]): RepoRow[] => {
  const unnamed = rows.filter(({ repo }) => repo === null)
  const partsOf = new Map<string, RepoRow[]>()
  for (const row of rows) {
    if (row.repo !== null) partsOf.set(keyOf(row), [...(partsOf.get(keyOf(row)) ?? []), row])
  }
  const named = Array.from(
    partsOf.values(),
    (parts): RepoRow => ({
      repo: parts[0]?.repo ?? null,
      ...addUp(parts),
      members: parts.map(({ members }) => members).reduce(larger, null),
    }),
  ).sort(compareRepos)
  const isAllListed = unnamed.length === 0 && named.length <= limits.dashboard_rows
  const count = isAllListed ? named.length : limits.dashboard_rows - 1
  const rest = [...named.slice(count), ...unnamed]
  const last = isAllListed ? [] : [{ repo: null, ...addUp(rest), members: null }]
  return [...named.slice(0, count), ...last]
}

const cellKeyOf = ({ weekday, hour }: { weekday: number; hour: number }) => `${weekday} ${hour}`

/** Null: all hours are hidden. */
export const mergeHours = (parts: Hours[]): Dashboard['heatmap'] => {
  const shown = parts.filter((part) => part.kind === 'shown')
  if (shown.length === 0) return null
  const minutes = new Map<string, number>()
  for (const cell of shown.flatMap(({ cells }) => cells))
    minutes.set(cellKeyOf(cell), (minutes.get(cellKeyOf(cell)) ?? 0) + cell.minutes)
  return new Heatmap().toCells().map((cell) => ({ ...cell, minutes: minutes.get(cellKeyOf(cell)) ?? null }))
}
