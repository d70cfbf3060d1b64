/** SQL: which of a caller's workspaces match a repository, in the order that's used everywhere. */

import type { RepoKeys } from '../../../../schemas/repo-keys.js'
import { patternMatches } from '../../../../schemas/repo-pattern.js'
import type { Db } from '../../../platform/database/client.js'
import { bool, singleRow, statement } from '../../../platform/database/statement.js'

/** A caller and a repository. */
export interface RepoQuestion extends RepoKeys {
  userId: string
  /** Limits the matches to this workspace. */
  workspaceId?: string | undefined
  /** The workspace whose key makes the request. The key doesn't see any other. */
  within?: string | undefined
}

/** $1 to $4 of the statements below. */
export const repoParameters = ({ userId, ownerKey, repoKey, workspaceId }: RepoQuestion) => [
  userId,
  ownerKey,
  repoKey,
  workspaceId ?? null,
]

/** SQL: the pattern `p` matches the repository of `repoParameters`. */
const PATTERN_MATCHES = `p.workspace_id = m.workspace_id and ${patternMatches('p', '$2::text', '$3::text')}`

const OF_CALLER = `m.user_id = $1::uuid and ($4::uuid is null or m.workspace_id = $4::uuid)`

/**
 * SQL: the caller's memberships `m`, once with every pattern `p` that matches. The parameters are those of
 * `repoParameters`. It starts from the member, because most people are in few workspaces.
 */
export const WITH_EVERY_PATTERN = `members m join patterns p on ${OF_CALLER} and ${PATTERN_MATCHES}`

/** SQL: the caller's memberships `m` whose workspace matches, each once with its best pattern `p`. */
export const WITH_BEST_PATTERN = `members m
  join lateral (
    select p.pattern, p.exact, p.literal_length
    from patterns p
    where ${PATTERN_MATCHES}
    order by p.exact desc, p.literal_length desc, p.pattern
    limit 1
  ) p on ${OF_CALLER}`

/**
 * SQL: admin first, then an exact pattern before a wildcard, the longer literal part, the older workspace, the id. A
 * workspace's id begins with its creation time, so ordering by id covers the last two.
 */
export const MATCH_ORDER = `(m.role = 'admin') desc, p.exact desc, p.literal_length desc, m.workspace_id`

const IS_IN_WORKSPACE = statement(
  'check membership',
  { found: bool },
  `select exists (select from members where user_id = $1::uuid and workspace_id = $2::uuid) as found`,
)

/** Whether a person is a member of a workspace that exists. */
export const isInWorkspace = async (db: Db, userId: string, workspaceId: string): Promise<boolean> =>
  singleRow(await db.rows(IS_IN_WORKSPACE, [userId, workspaceId])).found
