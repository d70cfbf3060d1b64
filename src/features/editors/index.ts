/** The parts of heartbeats that other features may use. */
export { readHeartbeats } from './queries/marks.js'
