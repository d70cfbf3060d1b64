import type { RepohostKind } from '../../../schemas/common.js'
import type { Scope } from '../minutes/index.js'
import type { Project } from './project-names.js'

/** A heartbeat that may count. */
export interface Heartbeat {
  /** Seconds since 1970. */
  time: number
  /** Minutes since 1970. */
  minute: number
  project: Project
  /** Whether an agent sent it rather than the person. */
  isOfAgent: boolean
}

/** A person's heartbeats, oldest first. */
export interface Sent {
  userId: string
  heartbeats: Heartbeat[]
  kind: RepohostKind
  /** The sender's time zone, if it came along. */
  timezone?: string | undefined
  /** More names to match with repositories. */
  names?: string[]
  /** Whether all minutes, not just those of names, count only from the day of joining a workspace. */
  isFromJoining?: boolean
  scope: Scope
}
