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
export { rebuildDays, SUM_OF_COUNTS, tryLockRollup, weekOfMonth } from './queries/rollups.js'
