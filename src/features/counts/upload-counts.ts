import type { CountsBody } from '../../../schemas/activity.js'
import type { CountName } from '../../../schemas/counts.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError, validationError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { readToday } from '../../platform/time/clock.js'
import { addDays } from '../../platform/time/days.js'
import { markDays, registerPeople } from '../minutes/index.js'
import { firstNamedDay, type PrivacyRules } from '../privacy/index.js'
import { lockAdmin, readWorkspaceSummary, type WorkspaceCall } from '../workspaces/index.js'
import {
  findMembers,
  hasReports,
  insertMatchingRepos,
  readPatternLength,
  writeCounts,
} from './queries/counts.js'
import { type SortedCounts, sortCounts } from './sorted-counts.js'

const EARLIEST_DAY = '2000-01-01'

/** @throws {ApiError} `validation_failed` for a day that can't have counts */
export const checkCountsDay = async (database: Database, day: string): Promise<void> => {
  if (day < EARLIEST_DAY || day > addDays(await readToday(database), 1)) {
    throw validationError('/body/day', `must be from ${EARLIEST_DAY} to tomorrow`)
  }
}

/** The workspace may be removed during an upload. */
const options = { rowsCanConflict: true }
/** The cost of comparing the repositories with the patterns that could match them. */
const checkComparisons = ({ repos, characters }: SortedCounts['named'], patternCharacters: number) => {
  const comparisons = characters * patternCharacters
  if (comparisons <= limits.counts_comparisons) return
  const reposThatFit = Math.floor((repos * limits.counts_comparisons) / comparisons)
  throw new ApiError('payload_too_large', {
    detail: `This upload names ${repos} repositories, too many to compare with the workspace’s patterns. Name at most ${reposThatFit} per upload.`,
  })
}

/**
 * Sets the counts of a validated day, all or none.
 * @throws {ApiError} `payload_too_large` for a request that would be compared with too many patterns
 * @returns the `CountsResult` as JSON text: it can name 100,000 repositories and is never parsed on the way
 */
export const uploadCounts = async (
  database: Database,
  privacy: PrivacyRules,
  { workspaceId, userId }: WorkspaceCall,
  kind: CountName,
  { day, members }: CountsBody,
): Promise<string> => {
  const { named, repos, batches } = await sortCounts(members)
  return database.transaction(async (tx) => {
    checkComparisons(named, await readPatternLength(tx, workspaceId))
    const logins = members.map(({ login }) => login)
    const userIds = await findMembers(tx, workspaceId, logins)
    const skipped = logins
      .filter((_, index) => userIds[index] === null)
      .map((login) => JSON.stringify({ login, code: 'member_not_found' }))
    const known = members.flatMap(({ repos }, index) => {
      const memberId = userIds[index]
      return memberId ? [{ repos, memberId }] : []
    })
    const counted = known
      .filter(({ repos }) => repos.some(({ count }) => count > 0))
      .map(({ memberId }) => memberId)
    const isReported = await hasReports(tx, workspaceId)
    const registered = isReported ? known.map(({ memberId }) => memberId) : counted
    if (registered.length > 0) {
      await registerPeople(tx, workspaceId, registered)
      for (const part of repos) await insertMatchingRepos(tx, workspaceId, part)
    }
    const target = { workspaceId, day, userIds, logins, hasReports: isReported }
    let upserted = 0
    let unchanged = known.reduce((sum, { repos }) => sum + repos.length, 0)
    for (const batch of batches) {
      const written = await writeCounts(tx, kind, target, batch)
      upserted += written.upserted
      unchanged -= written.upserted + written.outside
      if (written.skipped !== null) skipped.push(written.skipped)
    }
    if (upserted > 0) await markDays(tx, workspaceId, [day])
    // Checked last, because an upload takes seconds, and the lock blocks all role changes.
    await lockAdmin(tx, workspaceId, userId)
    // Otherwise an admin could find out what deliveries counted for a person by uploading guesses.
    const workspace = await readWorkspaceSummary(tx, workspaceId)
    const firstNamed = workspace ? firstNamedDay(privacy.floor, workspace.privacy) : null
    if (firstNamed === null || day < firstNamed) [upserted, unchanged] = [upserted + unchanged, 0]
    return `{"upserted":${upserted},"unchanged":${unchanged},"skipped":[${skipped.join()}]}`
  }, options)
}
