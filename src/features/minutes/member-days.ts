/** Minutes of a person on their way into workspaces: which ones match, the limits of each day, and the rows. */
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { MemberDay } from './caps.js'
import { type FlushTarget, readFlushTarget } from './queries/flush-target.js'
import { addMinutes, lockDays } from './queries/minutes.js'

/**
 * Reads where the minutes of a person count.
 * @param repoKeys `owner/repo` in lower case
 * @throws {ApiError} `token_invalid`, and `payload_too_large` for too many repositories to compare with all patterns
 */
export const readTarget = async (
  db: Db,
  userId: string,
  repoKeys: ReadonlySet<string>,
  flushId?: string,
): Promise<FlushTarget> => {
  const target = await readFlushTarget(db, userId, repoKeys, flushId)
  if (!target) throw new ApiError('token_invalid')
  if (!target.known) checkComparisons(target, repoKeys.size)
  return target
}

/** The cost of comparing the repositories with the patterns that could match them. */
const checkComparisons = ({ comparisons }: FlushTarget, repos: number) => {
  if (comparisons <= limits.flush_comparisons) return
  const reposThatFit = Math.max(1, Math.floor((repos * limits.flush_comparisons) / comparisons))
  throw new ApiError('payload_too_large', {
    detail: `This request names ${repos} repositories, too many to compare with the patterns of all your workspaces. Name at most ${reposThatFit} in one request.`,
  })
}

/** Locks a member's days until the transaction ends. */
export const lockMemberDays = async (
  tx: Db,
  workspaceId: string,
  userId: string,
  days: ReadonlySet<string>,
): Promise<Map<string, MemberDay>> => {
  const totals = days.size === 0 ? undefined : await lockDays(tx, workspaceId, userId, [...days])
  return new Map(Array.from(days, (day) => [day, new MemberDay(totals?.get(day))]))
}

/**
 * Writes what has been added to locked days.
 * @param names repositories as given, by their keys
 */
export const addMemberDays = async (
  tx: Db,
  workspaceId: string,
  userId: string,
  days: ReadonlyMap<string, MemberDay>,
  names: ReadonlyMap<string, string>,
): Promise<void> => {
  const added = Array.from(days, ([day, { added }]) =>
    Array.from(added, ([repoKey, { minutes, hours }]) => ({
      day,
      repoKey,
      repo: names.get(repoKey) ?? repoKey,
      minutes,
      hours,
    })),
  ).flat()
  if (added.length > 0) await addMinutes(tx, workspaceId, userId, added)
}
