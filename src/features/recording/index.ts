/** What is recorded of a person and where it counts, for other features. */
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
export { readRecording } from './queries/recordings.js'
export { recordedHoursOf, recordedPart } from './recorded-hours.js'
