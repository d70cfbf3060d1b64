/** A person's own time, for other features. */

export { type OwnDayTotals, type Project, readAgentProjects, readOwnTotals, withOthers } from './own-days.js'
export {
  type AgentDay,
  clearAgentHours,
  readAgentDays,
  replaceAgentDays,
  sumAgentMinutes,
} from './queries/agent-activity.js'
export { clearOwnHours, hasRoomForOwnDays, readOwnDays, writeOwnDays } from './queries/own-activity.js'
export { removeOwnTime } from './queries/removed-minutes.js'
export { listOwnHours, sumDaysOf, sumOwnHours, sumOwnRepos } from './queries/sums.js'
