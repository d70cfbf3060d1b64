/** Dashboard, for other features. */

export { listViews, reassignViews } from './queries/access-log.js'
