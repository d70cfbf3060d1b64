/** What other features may use of heartbeats. */
export { readHeartbeats } from './queries/marks.js'
