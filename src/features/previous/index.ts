/** Rows of version 1.0.0, for the erasure. */
export { deletePrevious } from './queries/erasures.js'
