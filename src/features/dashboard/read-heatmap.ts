import type { Db } from '../../platform/database/client.js'
import { groupBy } from '../../platform/process/maps.js'
import { Heatmap, type HeatmapCell } from '../minutes/index.js'
import { clockOf, crewsOf, hiddenCrews, MIN_OTHERS, type SmallCrew, type ZoneCrew } from '../rollups/index.js'
import type { Viewer } from './policies.js'
import {
  listDaysToCompare,
  listSharedClocks,
  listTimezones,
  readCells,
  readCrews,
  readRawZoneDays,
  readRepoZoneDays,
} from './queries/heatmap.js'
import type { Sources } from './queries/sources.js'

/** A heatmap and the number of its hidden days. */
interface Part {
  heatmap: Heatmap
  hiddenDays: number
}

/** Undefined without a viewer, or if it would reveal the hours of fewer than two other people. */
export const readHeatmap = async (
  tx: Db,
  { userId: viewerId }: Viewer,
  sources: Sources,
): Promise<HeatmapCell[] | undefined> => {
  const { userId, repoKey } = sources
  if (viewerId === null || (userId !== undefined && userId !== viewerId)) return undefined
  const read = userId !== undefined ? readOwn : repoKey !== undefined ? readRepository : readTeam
  const { heatmap, hiddenDays } = await read(tx, sources, viewerId)
  const cells = heatmap.toCells()
  return hiddenDays > 0 && cells.every(({ minutes }) => minutes === 0) ? undefined : cells
}

const readOwn = async (tx: Db, sources: Sources): Promise<Part> => {
  const heatmap = new Heatmap()
  for (const zoneDay of await readRawZoneDays(tx, sources)) heatmap.addZoneDay(zoneDay)
  return { heatmap, hiddenDays: 0 }
}

/** Reads rollups, where they record whose hours they contain. */
const readTeam = async (tx: Db, sources: Sources, viewerId: string): Promise<Part> => {
  const rolled = await readCrews(tx, sources)
  const raw = [...sources.raw, ...rolled.flatMap(({ day, crews }) => (crews === null ? day : []))]
  const crewsByDay = rolled.flatMap(({ day, crews }) =>
    crews === null ? [] : { day, crews: hiddenCrews(crews, viewerId) },
  )
  const whole = crewsByDay.flatMap(({ day, crews }) => (crews === undefined ? day : []))
  const [cells, zoneDays] = await Promise.all([
    readCells(tx, sources, [...raw, ...whole]),
    readRawZoneDays(tx, { ...sources, raw }),
  ])
  const heatmap = new Heatmap()
  for (const cell of cells) heatmap.addCell(cell)
  for (const { crews } of crewsByDay) leaveOut(heatmap, crews)
  let hiddenDays = whole.length
  for (const zones of byDay(zoneDays)) {
    const crews = hiddenCrews(crewsOf(zones), viewerId)
    if (crews === undefined) hiddenDays++
    else {
      for (const zoneDay of zones) heatmap.addZoneDay(zoneDay)
      leaveOut(heatmap, crews)
    }
  }
  return { heatmap, hiddenDays }
}

const leaveOut = (heatmap: Heatmap, crews: SmallCrew[] = []): void => {
  for (const { cells } of crews) for (const [cell, minutes] of cells) heatmap.addMinutes(cell, -minutes)
}

const byDay = (rows: ZoneCrew[]): ZoneCrew[][] => [...groupBy(rows, ({ day }) => day).values()]

/** How many days of a large team can be processed in a fraction of a second. */
const DAYS_PER_READ = 31

/** Reads rollups, except for days that are read from the activity. */
const readRepository = async (tx: Db, sources: Sources, viewerId: string): Promise<Part> => {
  const [raw, rolledUp] = await Promise.all([readRawZoneDays(tx, sources), readRepoZoneDays(tx, sources)])
  const parts = { raw, rolledUp }
  const shared = new Set<string>()
  const days = []
  let timezones: string[] | undefined
  for (const source of ['raw', 'rolledUp'] as const) {
    const ofSource = byDay(parts[source]).map((zones) => othersByClock(zones, viewerId))
    days.push(...ofSource)
    const sharing = ofSource.filter(({ others }) => Math.max(...others.values()) >= MIN_OTHERS)
    for (let start = 0; start < sharing.length; start += DAYS_PER_READ) {
      timezones ??= await listTimezones(tx, sources.workspaceId)
      const some = sharing.slice(start, start + DAYS_PER_READ)
      const dates = some.map(({ day }) => day)
      const compared = new Set(source === 'raw' ? dates : await listDaysToCompare(tx, sources, dates))
      const asked = some.filter(({ day }) => compared.has(day))
      const others = some.filter(({ day }) => !compared.has(day))
      for (const one of others) for (const key of clocksOfSeveral(one, timezones)) shared.add(key)
      if (asked.length === 0) continue
      for (const key of await findShared(tx, source, sources, viewerId, timezones, asked)) shared.add(key)
    }
  }
  const heatmap = new Heatmap()
  let hiddenDays = 0
  for (const { day, zones, others } of days) {
    const clocks = [...others].filter(([, count]) => count > 0).map(([clock]) => clock)
    const hidden = new Set(clocks.filter((clock) => !shared.has(`${day} ${clock}`)))
    if (hidden.size > 0 && hidden.size === clocks.length) hiddenDays++
    else
      for (const zoneDay of zones)
        if (!hidden.has(clockOf(zoneDay.timezone, day))) heatmap.addZoneDay(zoneDay)
  }
  return { heatmap, hiddenDays }
}

/** How many people other than the viewer had hours, by clock. Large crews list only as many people as matter. */
const othersByClock = (zones: ZoneCrew[], viewerId: string) => {
  const day = zones[0]?.day ?? ''
  const others = new Map<string, number>()
  for (const { timezone, people } of zones) {
    const clock = clockOf(timezone, day)
    const known = others.get(clock) ?? 0
    others.set(clock, known + people.filter((userId) => userId !== viewerId).length)
  }
  return { day, zones, others }
}

/** Day and clock of at least two other people, on a day when no repository is held back. */
const clocksOfSeveral = (
  { day, others }: { day: string; others: Map<string, number> },
  timezones: string[],
): string[] => {
  // The rollup may still have the time zone of a deleted account.
  const known = new Set(timezones.map((timezone) => clockOf(timezone, day)))
  return [...others].flatMap(([clock, count]) =>
    count >= MIN_OTHERS && known.has(clock) ? `${day} ${clock}` : [],
  )
}

/** Day and clock of the people whose hours in the repository may be shown. */
const findShared = async (
  tx: Db,
  source: 'raw' | 'rolledUp',
  sources: Sources,
  viewerId: string,
  timezones: string[],
  days: { day: string }[],
): Promise<string[]> => {
  const numbers = new Map<string, number>()
  const clocks = days.flatMap(({ day }) =>
    timezones.map((timezone) => {
      const key = `${day} ${clockOf(timezone, day)}`
      const clock = numbers.get(key) ?? numbers.size
      numbers.set(key, clock)
      return { day, timezone, clock }
    }),
  )
  const asked = days.map(({ day }) => day)
  const shared = new Set(await listSharedClocks(tx, source, sources, viewerId, asked, clocks))
  return [...numbers].flatMap(([key, clock]) => (shared.has(clock) ? key : []))
}
