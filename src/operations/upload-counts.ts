import type { Database } from '../db/client.js'
import type { CountBatches } from '../domain/count-batches.js'
import { addDays } from '../domain/days.js'
import { invalid } from '../errors.js'
import { requireRole } from '../policies/roles.js'
import { readToday } from '../queries/activity.js'
import { type CountKind, findMembers, hasNameless, nameRepos, upsertCounts } from '../queries/counts.js'
import { lockRole } from '../queries/members.js'

const FIRST_DAY = '2000-01-01'

/** @throws {ApiError} `validation_failed` for a day that counts cannot be of */
export const checkCountsDay = async (database: Database, day: string): Promise<void> => {
  if (day < FIRST_DAY || day > addDays(await readToday(database), 1)) {
    throw invalid('/body/day', `must be from ${FIRST_DAY} to tomorrow`)
  }
}

/**
 * Sets daily counts of a day that was checked, all or none.
 * @returns the `CountsResult` as JSON text: it can name 100,000 repositories, and is never taken apart on its way
 */
export const uploadCounts = async (
  database: Database,
  userId: string,
  kind: CountKind,
  { workspace: workspaceId, day, logins, repoKeys, batches }: CountBatches,
): Promise<string> => {
  return database.transaction(async (tx) => {
    const role = await lockRole(tx, workspaceId, userId)
    requireRole(role && { role }, 'admin')
    const userIds = await findMembers(tx, workspaceId, logins)
    const skipped = logins
      .filter((_, index) => userIds[index] === null)
      .map((login) => JSON.stringify({ login, code: 'member_not_found' }))
    let upserted = 0
    let unchanged = 0
    const target = { workspaceId, day, userIds, logins }
    let nameless = false
    for (const part of repoKeys) nameless ||= await hasNameless(tx, workspaceId, part)
    if (nameless) for (const batch of batches) await nameRepos(tx, target, batch)
    for (const batch of batches) {
      const written = await upsertCounts(tx, kind, target, batch)
      upserted += written.upserted
      unchanged += written.rows - written.upserted
      if (written.skipped !== null) skipped.push(written.skipped)
    }
    return `{"upserted":${upserted},"unchanged":${unchanged},"skipped":[${skipped.join()}]}`
  })
}
