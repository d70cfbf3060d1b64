/** Adds people's minutes to workspaces: which ones match, the limits of each day, and the rows. */
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { type LeftOut, leaveOut } from '../../platform/database/write-queue.js'
import { groupBy, requireValue } from '../../platform/process/maps.js'
import { type MemberDay, noMinutes } from './caps.js'
import { type FlushTarget, readTargets, type Scope, type TargetResult } from './queries/flush-target.js'
import {
  type AddedMinutes,
  lockActivity,
  type RequestedDays,
  readTotals,
  readTotalsOfMany,
  type Total,
  tryToLockActivity,
} from './queries/minutes.js'

/**
 * Reads where a person's minutes count.
 * @param repoKeys `owner/repo` in lower case
 * @throws {ApiError} `token_invalid`, and `payload_too_large` for too many repositories to compare with all patterns
 */
export const readTarget = async (
  db: Db,
  userId: string,
  repoKeys: ReadonlySet<string>,
  scope: Scope = 'workspaces',
): Promise<FlushTarget> => {
  const targets = await readTargets(db, [{ userId, repoKeys, scope }])
  const target = requireValue(targets, userId)
  if (target.kind === 'found') return target
  throw errorForTarget(target, repoKeys.size)
}

/** @returns `token_invalid`, `payload_too_large` */
export const errorForTarget = (target: Exclude<TargetResult, FlushTarget>, repos: number): ApiError => {
  if (target.kind === 'unknown person') return new ApiError('token_invalid')
  const reposThatFit = Math.max(1, Math.floor((repos * limits.flush_comparisons) / target.comparisons))
  return new ApiError('payload_too_large', {
    detail: `This request names ${repos} repositories, too many to compare with all your workspaces’ patterns. Name at most ${reposThatFit} in one request.`,
  })
}

/** A member's days in a workspace, locked until the transaction ends. */
export interface MemberDays<Workspace extends RequestedDays = RequestedDays> {
  kind: 'locked'
  workspace: Workspace
  days: ReadonlyMap<string, MemberDay>
}

/** A member's days in a workspace that someone else holds, or with too much to read in a set. */
interface MemberDaysLeftOut<Workspace extends RequestedDays> {
  kind: 'left out'
  workspace: Workspace
}

/** Locks a person's days in workspaces, in the given order. Waits for others who hold them. */
export const lockMemberDays = <Workspace extends RequestedDays>(
  tx: Db,
  workspaces: readonly Workspace[],
): Promise<MemberDays<Workspace>[]> => Promise.all(workspaces.map((workspace) => lockDays(tx, workspace)))

const lockDays = async <Workspace extends RequestedDays>(
  tx: Db,
  workspace: Workspace,
): Promise<MemberDays<Workspace>> => {
  if (workspace.days.size === 0) return withoutDays(workspace)
  // In this order, so that the minutes are read once they're locked.
  const [, totals] = await Promise.all([lockActivity(tx, workspace), readTotals(tx, workspace)])
  return toMemberDays(workspace, totals)
}

/** Nothing has to be locked. */
const withoutDays = <Workspace extends RequestedDays>(workspace: Workspace): MemberDays<Workspace> => ({
  kind: 'locked',
  workspace,
  days: new Map(),
})

/** The workspaces in which a person's days are to be locked. */
interface RequestedPerson<Workspace extends RequestedDays> {
  userId: string
  workspaces: readonly Workspace[]
}

/** A person's days in all these workspaces. */
export interface LockedDays<Workspace extends RequestedDays> {
  kind: 'locked'
  members: MemberDays<Workspace>[]
}

/**
 * Locks several people's days without waiting for anyone.
 * @returns an entry for each of them, by user. Left out are those with days that someone holds, or with too much to read
 */
export const tryToLockMemberDays = async <Workspace extends RequestedDays>(
  tx: Db,
  people: readonly RequestedPerson<Workspace>[],
): Promise<ReadonlyMap<string, LockedDays<Workspace> | LeftOut>> => {
  const requested = people.flatMap(({ workspaces }) => workspaces)
  const withDays = requested.filter(({ days }) => days.size > 0)
  const attempts = await Promise.all(
    Array.from(
      groupBy(withDays, ({ workspaceId }) => workspaceId),
      ([workspaceId, members]) => tryToLockIn(tx, workspaceId, members),
    ),
  )
  const others = requested.filter(({ days }) => days.size === 0).map(withoutDays)
  const attemptsOf = groupBy([...attempts.flat(), ...others], ({ workspace }) => workspace.userId)
  return new Map(
    people.map(({ userId }) => {
      const members = attemptsOf.get(userId) ?? []
      const areLocked = members.every((one) => one.kind === 'locked')
      return [userId, areLocked ? { kind: 'locked', members } : leaveOut(userId)]
    }),
  )
}

/** Locks and reads the days of members in one workspace, or leaves them out. */
const tryToLockIn = async <Workspace extends RequestedDays>(
  tx: Db,
  workspaceId: string,
  members: readonly Workspace[],
): Promise<(MemberDays<Workspace> | MemberDaysLeftOut<Workspace>)[]> => {
  const userIds = members.map(({ userId }) => userId)
  // In this order, as in `lockDays`.
  const [locked, readings] = await Promise.all([
    tryToLockActivity(tx, workspaceId, userIds),
    readTotalsOfMany(tx, workspaceId, members),
  ])
  return members.map((workspace) => {
    const reading = requireValue(readings, workspace.userId)
    return locked.has(workspace.userId) && reading.kind === 'read'
      ? toMemberDays(workspace, reading.totals)
      : { kind: 'left out', workspace }
  })
}

const toMemberDays = <Workspace extends RequestedDays>(
  workspace: Workspace,
  totals: ReadonlyMap<string, Total>,
): MemberDays<Workspace> => ({
  kind: 'locked',
  workspace,
  days: new Map(
    Array.from(workspace.days, (day) => {
      const total = totals.get(day)
      return [
        day,
        total ? { total, timezones: total.timezones } : { total: noMinutes(), timezones: new Map() },
      ]
    }),
  ),
})

/** What's known about the row of a repository's minutes on a day. @param timezone of the minutes that are added */
export const knownOf = (
  { timezones }: MemberDay,
  repoKey: string,
  timezone: string,
): Pick<AddedMinutes, 'isNamed' | 'isInZone'> =>
  timezones === 'not read'
    ? { isNamed: false, isInZone: false }
    : {
        isNamed: timezones.has(repoKey),
        isInZone: !timezones.has(repoKey) || timezones.get(repoKey) === timezone,
      }
