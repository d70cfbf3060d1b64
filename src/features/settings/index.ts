/** What other features may use of settings of repositories. */
export { overrides, snapshotVersions, snapshots } from './tables.js'
