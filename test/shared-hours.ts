/** The rule for hours at the level `named`, written down once more and as slowly as it likes, for what is shown to be held against. */
import { Heatmap } from '../src/features/minutes/heatmap.js'

export interface HourRow {
  login: string
  day: string
  repo: string
  timezone: string
  /** By UTC hour. */
  hours: number[] | null
}

/** The local times of all UTC hours of a day, which are the same for people who share a clock. */
const clockOf = ({ timezone, day }: HourRow): string => {
  const format = new Intl.DateTimeFormat('en', { timeZone: timezone, day: 'numeric', hour: 'numeric' })
  const times = Array.from({ length: 24 }, (_, hour) => format.format(Date.parse(day) + hour * 3_600_000))
  return `${day} ${times.join()}`
}

const groupBy = <Value>(values: Value[], keyOf: (value: Value) => string): Map<string, Value[]> => {
  const groups = new Map<string, Value[]>()
  for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value])
  return groups
}

/** The cells that a viewer is shown of a team, with a filter or without one, or null. */
export const sharedCells = (everything: HourRow[], viewer: string, repo: string | null) => {
  const rows = everything.filter(({ hours }) => hours?.some((minutes) => minutes > 0))
  const othersOf = (some: HourRow[]) => new Set(some.flatMap(({ login }) => (login === viewer ? [] : login)))
  const heatmap = new Heatmap()
  let hiddenDays = 0
  for (const [, ofDay] of groupBy(rows, ({ day }) => day)) {
    const asked = ofDay.filter((row) => repo === null || row.repo === repo)
    if (asked.length === 0) continue
    const parts = [...groupBy(ofDay, clockOf).values()].map((crew) => {
      const shown = crew.filter((row) => asked.includes(row))
      const repos = [...groupBy(crew, (row) => row.repo)].map(([name, part]) => ({
        name,
        others: othersOf(part),
      }))
      const alone = new Set(repos.flatMap(({ others }) => (others.size === 1 ? [...others] : [])))
      const [smallest] = repos
        .filter(({ others }) => others.size > 1)
        .sort((a, b) => a.others.size - b.others.size || (a.name < b.name ? -1 : 1))
      const isHeldBack = repo !== null && alone.size === 1 && smallest?.name === repo
      const others = othersOf(shown).size
      return { shown, others, isShared: others > 1 && !isHeldBack }
    })
    const withOthers = parts.filter(({ others }) => others > 0)
    if (withOthers.length > 0 && withOthers.every(({ isShared }) => !isShared)) hiddenDays++
    else
      for (const { shown, others, isShared } of parts)
        if (others === 0 || isShared)
          for (const { day, timezone, hours } of shown)
            heatmap.addZoneDay({ day, timezone, hours: hours ?? [] })
  }
  const cells = heatmap.toCells()
  return hiddenDays > 0 && cells.every(({ minutes }) => minutes === 0) ? null : cells
}
