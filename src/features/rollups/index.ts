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
export {
  HAS_ACTIVITY,
  IS_NOT_DELETED,
  rebuildMonth,
  SUM_OF_COUNTS,
  SUM_OF_HOURS,
  tryLockRollup,
  weekOfMonth,
  ZONE,
  zoneDays,
} from './queries/rollups.js'
export {
  clockOf,
  crewsOf,
  type DayCrews,
  hiddenCrews,
  MIN_OTHERS,
  type SmallCrew,
  type ZoneCrew,
} from './shared-hours.js'
