/** What other features may use of what people did. */
export { handOverViews, listViews } from './queries/access-log.js'
export { registerPeople } from './queries/counts.js'
export { markDays, TAKE_TURN } from './queries/minutes.js'
export { rebuildMonth, takeRollupTurn } from './queries/rollups.js'
