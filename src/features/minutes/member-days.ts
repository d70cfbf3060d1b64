/** Adds people's minutes to workspaces: which ones match, the limits of each day, and the rows. */
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
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
  return requireTarget(requireValue(targets, userId), repoKeys.size)
}

/** @throws {ApiError} as `readTarget` */
export const requireTarget = (target: TargetResult, repos: number): FlushTarget => {
  if (target.kind === 'found') return target
  throw errorForTarget(target, repos)
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

/** Days that aren't locked, because another transaction holds them or there's too much to read for a set. */
interface LeftOutDays<Workspace extends RequestedDays> {
  kind: 'left out'
  workspace: Workspace
}

/** The result of trying to lock a member's days in a workspace together with others'. */
export type TriedDays<Workspace extends RequestedDays> = MemberDays<Workspace> | LeftOutDays<Workspace>

/** A person's days in all workspaces: all of them locked, or one that is left out. */
export const triedDaysOf = <Workspace extends RequestedDays>(
  tried: readonly TriedDays<Workspace>[],
  userId: string,
): { kind: 'locked'; members: MemberDays<Workspace>[] } | LeftOutDays<Workspace> => {
  const own = tried.filter(({ workspace }) => workspace.userId === userId)
  const leftOut = own.find((one) => one.kind === 'left out')
  return leftOut ?? { kind: 'locked', members: own.filter((one) => one.kind === 'locked') }
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
  if (workspace.days.size === 0) return { kind: 'locked', workspace, days: new Map() }
  // Statements run in the order in which they're sent, so the minutes are read once they're locked.
  const [, totals] = await Promise.all([lockActivity(tx, workspace), readTotals(tx, workspace)])
  return { kind: 'locked', workspace, days: toMemberDays(workspace, totals) }
}

/** Locks several people's days without waiting for anyone. @returns what became of each */
export const tryToLockMemberDays = async <Workspace extends RequestedDays>(
  tx: Db,
  workspaces: readonly Workspace[],
): Promise<TriedDays<Workspace>[]> => {
  const withDays = workspaces.filter(({ days }) => days.size > 0)
  const without = workspaces.filter(({ days }) => days.size === 0)
  const tried = await Promise.all(
    Array.from(
      groupBy(withDays, ({ workspaceId }) => workspaceId),
      ([workspaceId, members]) => tryToLockIn(tx, workspaceId, members),
    ),
  )
  return [
    ...tried.flat(),
    ...without.map((workspace) => ({ kind: 'locked' as const, workspace, days: new Map() })),
  ]
}

const tryToLockIn = async <Workspace extends RequestedDays>(
  tx: Db,
  workspaceId: string,
  members: readonly Workspace[],
): Promise<TriedDays<Workspace>[]> => {
  const userIds = members.map(({ userId }) => userId)
  // In this order, as in `lockDays`.
  const [locked, totalsOf] = await Promise.all([
    tryToLockActivity(tx, workspaceId, userIds),
    readTotalsOfMany(tx, workspaceId, members),
  ])
  return members.map((workspace) => {
    if (!locked.has(workspace.userId)) return { kind: 'left out', workspace }
    const totals = totalsOf.get(workspace.userId)
    if (!totals) return { kind: 'left out', workspace }
    return { kind: 'locked', workspace, days: toMemberDays(workspace, totals) }
  })
}

const toMemberDays = (
  { days }: RequestedDays,
  totals: ReadonlyMap<string, Total>,
): ReadonlyMap<string, MemberDay> =>
  new Map(
    Array.from(days, (day) => {
      const total = totals.get(day)
      return [
        day,
        total ? { total, timezones: total.timezones } : { total: noMinutes(), timezones: new Map() },
      ]
    }),
  )

/** What's known about the row of a repository's minutes on a day. @param timezone of the minutes that are added */
export const knownOf = (
  { timezones }: MemberDay,
  repoKey: string,
  timezone: string,
): Pick<AddedMinutes, 'isNamed' | 'isInZone'> => ({
  isNamed: timezones?.has(repoKey) === true,
  isInZone: timezones !== undefined && (!timezones.has(repoKey) || timezones.get(repoKey) === timezone),
})
