/** Minutes, for other features. */

export { hoursByZone, keepZones } from './agent-zones.js'
export { capMinutes, type MemberDay, requireDay, sumOf } from './caps.js'
export { Heatmap, type HeatmapCell } from './heatmap.js'
export { daysOf, localHours, sharesOf, type ZoneHours } from './local-days.js'
export {
  errorForTarget,
  knownOf,
  type LockedDays,
  lockMemberDays,
  type MemberDays,
  readTarget,
  tryToLockMemberDays,
} from './member-days.js'
export {
  addTo,
  around,
  byMinutes,
  type OwnDay,
  type Project,
  partsOf,
  projectShares,
  readOwnAgentProjects,
  readOwnDays,
  readOwnHours,
  readOwnProjects,
  readTotals,
} from './own-days.js'
export { PersonalDays } from './personal-days.js'
export {
  type AgentDay,
  assignAgentMinutesToLocalDays,
  clearAgentHours,
  readAgentDays,
  replaceAgentDays,
  sumAgentMinutes,
} from './queries/agent-minutes.js'
export { COUNTS, countParameters, countsOf, eachCount, hasActivity } from './queries/count-columns.js'
export {
  type FlushTarget,
  type MatchingWorkspace,
  readTargets,
  type Scope,
  type TargetRequest,
  type TargetResult,
} from './queries/flush-target.js'
export {
  localActivity,
  localActivityWithHours,
  localHourDays,
  SUM_OF_HOURS,
  utcDaysOf,
  zoneHours,
} from './queries/local-activity.js'
export {
  type AddedMinutes,
  INSERT_REPOS,
  LOCK_ACTIVITY,
  markDays,
  type RequestedDays,
  writeMinutes,
} from './queries/minutes.js'
export {
  listOwnRepoDays,
  sumOwnAgentDays,
  sumOwnDays,
  sumOwnRepos,
} from './queries/own-time.js'
export { ERASED, IS_NOT_DELETED, isPerson } from './queries/people.js'
export {
  type AssignedDay,
  deletePersonalMarks,
  hasRoomForPersonalDays,
  type PersonalDay,
  readPersonalMinutes,
  replacePersonalDays,
} from './queries/personal-minutes.js'
export { recordedHoursOf } from './recorded-hours.js'
