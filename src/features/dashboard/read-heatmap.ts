import type { Db } from '../../platform/database/client.js'
import { Heatmap, type HeatmapCell, localHours } from '../minutes/index.js'
import type { ShownHours } from './policies.js'
import { countRawPeople, readCells, readHiddenDays, readRawHours } from './queries/heatmap.js'
import type { Sources } from './queries/sources.js'

/** Undefined if no hours may be shown, or if there are hours but too few people have any on each day. */
export const readHeatmap = async (
  tx: Db,
  hours: ShownHours,
  sources: Sources,
): Promise<HeatmapCell[] | undefined> => {
  if (hours.kind === 'none') return undefined
  return hours.kind === 'own' ? readOwn(tx, sources) : readTeam(tx, sources, hours)
}

type TeamHours = Extract<ShownHours, { kind: 'team' }>

const readOwn = async (tx: Db, sources: Sources): Promise<HeatmapCell[]> => {
  const heatmap = new Heatmap()
  await addRawHours(heatmap, tx, sources, new Set(sources.raw))
  return heatmap.toCells()
}

const readTeam = async (tx: Db, sources: Sources, { viewerId, minOthers }: TeamHours) => {
  const [hidden, people] = await Promise.all([
    readHiddenDays(tx, sources, viewerId, minOthers),
    sources.raw.length === 0 ? [] : countRawPeople(tx, sources, viewerId),
  ])
  const shown = new Set(people.flatMap(({ day, others }) => (others >= minOthers ? day : [])))
  const heatmap = new Heatmap()
  const [cells] = await Promise.all([
    readCells(tx, sources, [...sources.raw, ...hidden]),
    shown.size > 0 && addRawHours(heatmap, tx, sources, shown),
  ])
  for (const cell of cells) heatmap.addCell(cell)
  const all = heatmap.toCells()
  const hasHidden = hidden.length > 0 || shown.size < people.length
  return hasHidden && all.every(({ minutes }) => minutes === 0) ? undefined : all
}

/** Adds the hours of these days. */
const addRawHours = async (heatmap: Heatmap, tx: Db, sources: Sources, days: ReadonlySet<string>) => {
  for (const row of await readRawHours(tx, sources))
    for (const hour of localHours(row)) if (days.has(hour.day)) heatmap.addHour(hour)
}
