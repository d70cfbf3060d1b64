/** Adds people's minutes to workspaces: which ones match, the limits of each day, and the rows. */
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { MemberDay } from './caps.js'
import { type FlushTarget, readTargets, type Scope } from './queries/flush-target.js'
import { type AddedMinutes, lockDays, type RequestedDays } from './queries/minutes.js'

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
  return requireTarget(targets.get(userId), repoKeys.size)
}

/** @throws {ApiError} as `readTarget` */
export const requireTarget = (target: FlushTarget | undefined, repos: number): FlushTarget => {
  if (!target) throw new ApiError('token_invalid')
  const { comparisons } = target
  if (comparisons <= limits.flush_comparisons) return target
  const reposThatFit = Math.max(1, Math.floor((repos * limits.flush_comparisons) / comparisons))
  throw new ApiError('payload_too_large', {
    detail: `This request names ${repos} repositories, too many to compare with all your workspaces’ patterns. Name at most ${reposThatFit} in one request.`,
  })
}

/** A member's days in a workspace. */
export interface MemberDays {
  workspaceId: string
  userId: string
  days: ReadonlyMap<string, MemberDay>
}

/**
 * Locks people's days, in workspace order for each person, until the transaction ends.
 * @param waits whether to wait for other transactions; if not, leaves out people whose days another transaction holds
 */
export const lockMemberDays = async <Targeted extends { workspaces: readonly RequestedDays[] }>(
  tx: Db,
  all: readonly Targeted[],
  waits = true,
): Promise<{ targeted: Targeted; members: MemberDays[] }[]> => {
  const totals = await lockDays(
    tx,
    all.flatMap(({ workspaces }) => workspaces),
    waits,
  )
  let next = 0
  return all.flatMap((targeted) => {
    const members = targeted.workspaces.flatMap(({ workspaceId, userId, days }) => {
      const total = totals[next++]
      const newDay = (day: string) => {
        const ofDay = total?.get(day)
        return [day, ofDay ? new MemberDay(ofDay, ofDay.timezones) : new MemberDay()] as const
      }
      return total ? [{ workspaceId, userId, days: new Map(Array.from(days, newDay)) }] : []
    })
    return members.length < targeted.workspaces.length ? [] : [{ targeted, members }]
  })
}

/**
 * The minutes added to days.
 * @param names repositories as given, by their keys
 * @param timezone in which the hours were recorded
 */
export const addedTo = (
  members: readonly MemberDays[],
  names: ReadonlyMap<string, string>,
  timezone: string,
): AddedMinutes[] =>
  members.flatMap(({ workspaceId, userId, days }) =>
    Array.from(days, ([day, { added, timezones }]) =>
      Array.from(added, ([repoKey, { minutes, hours }]) => ({
        workspaceId,
        userId,
        day,
        repoKey,
        repo: names.get(repoKey) ?? repoKey,
        isNamed: timezones?.has(repoKey) === true,
        isInZone: timezones !== undefined && (!timezones.has(repoKey) || timezones.get(repoKey) === timezone),
        minutes,
        hours,
        timezone,
      })),
    ).flat(),
  )
