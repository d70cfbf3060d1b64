/** Settings of repositories, for other features. */
export { proposeMove } from './move-settings.js'
