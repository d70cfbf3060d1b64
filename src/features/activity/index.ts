/** What other features may use of what people did. */
export { handOverViews, listViews } from './queries/access-log.js'
export { registerPeople } from './queries/counts.js'
export { TAKE_TURN, markDays } from './queries/minutes.js'
export { rebuildMonth, takeRollupTurn } from './queries/rollups.js'
export { activity, activityDays, activityHours, activityMemberDays, activityMemberMonths, activityPeople, activityRepoDays, activityRepoMonths, activityRepoPeople, activityRepos, dashboardViews, publishedCells, publishedDays, publishedRepos, publishedWeeks, staleDays } from './tables.js'
