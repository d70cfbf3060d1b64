/** The parts of heartbeats that other features may use. */
export { readLastHeartbeat } from './queries/marks.js'
