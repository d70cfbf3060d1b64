/** The parts of settings that other features may use. */
export { findProjectsNamed } from './queries/projects.js'
