/** Rollups, for other features. */

export {
  hasOverdueWeeks,
  type PublishedTotals,
  publishedOn,
  readPublishedCells,
  readPublishedDays,
  readPublishedRepos,
  readPublishedWeeks,
} from './queries/published-weeks.js'
export { tryLockRollup, type WorkspaceDay, weekOfMonth } from './queries/rollups.js'
export { rollUpDays } from './roll-up.js'
