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
export { addedTo, lockMemberDays, type MemberDays, readTarget } from './member-days.js'
export {
  type AgentDay,
  dropAgentHours,
  readAgentDays,
  replaceAgentDays,
  sumAgentMinutes,
} from './queries/agent-minutes.js'
export type { FlushTarget } from './queries/flush-target.js'
export { LOCK_ACTIVITY, markDays, NAME_REPOS, writeMinutes } from './queries/minutes.js'
export {
  type DayMinutes,
  listOwnRepoDays,
  sumOwnAgentDays,
  sumOwnDays,
  sumOwnRepos,
} from './queries/own-time.js'
export { recordedHoursOf } from './recording.js'
