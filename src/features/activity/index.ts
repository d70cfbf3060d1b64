/** Activity, for other features. */

export type { MemberDay } from './caps.js'
export { canonicalTimezone, localHoursOf } from './heatmap.js'
export { addMemberDays, lockMemberDays, readTarget } from './member-days.js'
export { listViews, reassignViews } from './queries/access-log.js'
export { type AgentDay, readAgentDays, replaceAgentDays } from './queries/agent-minutes.js'
export { registerPeople } from './queries/counts.js'
export { type FlushTarget, LOCK_ACTIVITY, markDays } from './queries/minutes.js'
export {
  type DayMinutes,
  listOwnRepoDays,
  sumOwnAgentDays,
  sumOwnDays,
  sumOwnRepos,
} from './queries/own-time.js'
export { rebuildMonth, tryLockRollup } from './queries/rollups.js'
export { recordedHoursOf } from './recording.js'
