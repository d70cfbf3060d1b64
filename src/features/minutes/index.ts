/** Minutes, for other features. */

export { chooseDashboardRange } from './choose-range.js'
export {
  canonicalTimezone,
  cellsOf,
  Heatmap,
  type HeatmapCell,
  localHoursOf,
  type ZoneDay,
} from './heatmap.js'
export { addedTo, lockPlaces, type MemberDays, readTarget, requireTarget } from './member-days.js'
export {
  type AgentDay,
  dropAgentHours,
  readAgentDays,
  replaceAgentDays,
  sumAgentMinutes,
} from './queries/agent-minutes.js'
export { type FlushTarget, readTargets } from './queries/flush-target.js'
export { type AskedDays, LOCK_ACTIVITY, markDays, NAME_REPOS, writeMinutes } from './queries/minutes.js'
export {
  type DayMinutes,
  listOwnRepoDays,
  sumOwnAgentDays,
  sumOwnDays,
  sumOwnRepos,
} from './queries/own-time.js'
export { recordedHoursOf } from './recorded-hours.js'
export { type QueuedWrite, recorderOf } from './write-queue.js'
