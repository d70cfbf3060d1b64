import type { Db } from '../../platform/database/client.js'
import { Heatmap, type HeatmapCell, localHours } from '../minutes/index.js'
import type { Viewer } from './policies.js'
import { countRawPeople, readCells, readHiddenDays, readRawHours } from './queries/heatmap.js'
import type { Sources } from './queries/sources.js'

/**
 * The hours of the days on which enough people other than the viewer have any. Undefined without a viewer, for another
 * person, or if there are hours but no such day.
 */
export const readHeatmap = async (
  tx: Db,
  { userId: viewerId, minGroup }: Viewer,
  sources: Sources,
): Promise<HeatmapCell[] | undefined> => {
  if (viewerId === null) return undefined
  if (sources.userId === viewerId) return readOwn(tx, sources)
  return sources.userId === undefined ? readTeam(tx, sources, { userId: viewerId, minGroup }) : undefined
}

const readOwn = async (tx: Db, sources: Sources): Promise<HeatmapCell[]> => {
  const heatmap = new Heatmap()
  await addRawHours(heatmap, tx, sources, new Set(sources.raw))
  return heatmap.toCells()
}

const readTeam = async (tx: Db, sources: Sources, viewer: { userId: string; minGroup: number }) => {
  const [hidden, people] = await Promise.all([
    readHiddenDays(tx, sources, viewer),
    sources.raw.length === 0 ? [] : countRawPeople(tx, sources, viewer.userId),
  ])
  const shown = new Set(people.flatMap(({ day, others }) => (others >= viewer.minGroup ? day : [])))
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
