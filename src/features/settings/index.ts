/** What other features may use of settings. */
export { findProjectsNamed } from './queries/projects.js'
