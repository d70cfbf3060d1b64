/** Settings of repositories, for other features. */
export { moveAtReport } from './move-settings.js'
