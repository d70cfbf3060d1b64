/** Repositories that people have named in full, for other features. */
export { findPersonRepos, listPersonRepos, nameOf } from './queries.js'
export { type ReposToRemember, rememberRepos, reposToRemember, storeRepos } from './remember-repos.js'
