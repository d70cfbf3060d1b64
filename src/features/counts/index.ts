/** Counts, for other features. */

export { registerPeople } from './queries/counts.js'
