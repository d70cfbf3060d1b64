import type { Member } from '../../../schemas/members.js'
import type { Db } from '../../platform/database/client.js'
import { firstNamedDay, type PrivacyRules } from '../privacy/index.js'
import type { ListedMember } from './queries/members.js'
import { readWorkspaceSummary } from './queries/privacy-levels.js'

/** The last local day, not before `from`, on which each of the users was active in the workspace. */
export type LastActiveDays = (
  db: Db,
  workspaceId: string,
  userIds: string[],
  from: string,
) => Promise<Map<string, string>>

interface DescribeContext {
  db: Db
  config: { privacy: PrivacyRules }
  lastActiveDays: LastActiveDays
}

/** Members with their last active day, if the privacy level shows it. */
export const describeMembers = async (
  { db, config, lastActiveDays }: DescribeContext,
  workspaceId: string,
  listed: ListedMember[],
): Promise<Member[]> => {
  const workspace = await readWorkspaceSummary(db, workspaceId)
  const from = workspace ? firstNamedDay(config.privacy.floor, workspace.privacy) : null
  const userIds = listed.map(({ userId }) => userId)
  const days = from === null ? undefined : await lastActiveDays(db, workspaceId, userIds, from)
  return listed.map(({ userId, member }) => ({ ...member, last_active_day: days?.get(userId) ?? null }))
}
