import type { Db } from '../../platform/database/client.js'
import { Heatmap, type HeatmapCell } from '../minutes/index.js'
import type { ShownHours } from './policies.js'
import { countRawPeople, readCells, readHiddenDays, readRawCells } from './queries/heatmap.js'
import type { Sources } from './queries/sources.js'

/** Hidden: no hours may be shown, or there are some, but on no day enough people have any. */
export type Hours = { kind: 'shown'; cells: HeatmapCell[] } | { kind: 'hidden' }

export const readHeatmap = async (tx: Db, hours: ShownHours, sources: Sources): Promise<Hours> => {
  switch (hours.kind) {
    case 'none':
      return { kind: 'hidden' }
    case 'own':
      return readOwn(tx, sources)
    case 'team':
      return readTeam(tx, sources, hours)
  }
}

type TeamHours = Extract<ShownHours, { kind: 'team' }>

const readOwn = async (tx: Db, sources: Sources): Promise<Hours> => {
  const heatmap = new Heatmap()
  for (const cell of await readRawCells(tx, sources, sources.raw)) heatmap.addCell(cell)
  return { kind: 'shown', cells: heatmap.toCells() }
}

const readTeam = async (tx: Db, sources: Sources, { viewerId, minOthers }: TeamHours): Promise<Hours> => {
  const [hidden, people] = await Promise.all([
    readHiddenDays(tx, sources, viewerId, minOthers),
    sources.raw.length === 0 ? [] : countRawPeople(tx, sources, viewerId),
  ])
  const shown = people.flatMap(({ day, others }) => (others >= minOthers ? [day] : []))
  const heatmap = new Heatmap()
  const cells = await Promise.all([
    readCells(tx, sources, [...sources.raw, ...hidden]),
    shown.length > 0 ? readRawCells(tx, sources, shown) : [],
  ])
  for (const cell of cells.flat()) heatmap.addCell(cell)
  const all = heatmap.toCells()
  const hasHidden = hidden.length > 0 || shown.length < people.length
  if (hasHidden && all.every(({ minutes }) => minutes === 0)) return { kind: 'hidden' }
  return { kind: 'shown', cells: all }
}
