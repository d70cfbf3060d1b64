/** Minutes, for other features. */

export { Heatmap, type HeatmapCell } from './heatmap.js'
export { dayOf, hourOfDay, localHourOf, startOfLocalHour, toUtcDays } from './local-days.js'
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
export { COUNTS, countParameters, countsOf, eachCount, hasActivity } from './queries/count-columns.js'
export {
  errorForTarget,
  type FlushTarget,
  type MatchingWorkspace,
  readTarget,
  readTargets,
  type Scope,
  type TargetRequest,
  type TargetResult,
} from './queries/flush-target.js'
export { INSERT_REPOS, lockMinutes, markDays, registerPeople } from './queries/minutes.js'
export { IS_NOT_DELETED, isPerson, listErased } from './queries/people.js'
export { type RemovedMinutes, removeFromWorkspaces } from './queries/removed-minutes.js'
export { recordedHoursOf } from './recorded-hours.js'
