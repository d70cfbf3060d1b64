/** Minutes, for other features. */
export { Heatmap, type HeatmapCell } from './heatmap.js'
export {
  MAX_REPOS,
  minutesInHour,
  OWN_TIME,
  type PersonDays,
  type Repo,
  type RequestedDays,
  readPersonDays,
  writePersonDays,
} from './person-days.js'
export { countParameters, countsOf, eachCount, hasActivity, sumsOf } from './queries/count-columns.js'
export { lockMinutes, markDays, nameRepos, registerPeople } from './queries/minutes.js'
export { isPerson, listErased } from './queries/people.js'
export { type RemovedMinutes, removeFromWorkspaces } from './queries/removed-minutes.js'
