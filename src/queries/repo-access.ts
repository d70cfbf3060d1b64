/** Which of a caller's workspaces match a repository, in the one order that decides everywhere. */
import type { Role } from '../../schemas/common.js'
import type { Db } from '../db/client.js'

export interface RepoMatch {
  workspaceId: string
  role: Role
  /** The workspace's best pattern. */
  pattern: string
  /** Whether settings of the repository were pushed through this workspace. */
  holds: boolean
}

/** Whose view of which repository; keys are lower case. */
export interface RepoQuestion {
  userId: string
  ownerKey: string
  repoKey: string
  /** Only this workspace. */
  workspaceId?: string | undefined
}

export const repoParameters = ({ userId, ownerKey, repoKey, workspaceId }: RepoQuestion) => [
  userId,
  ownerKey,
  repoKey,
  workspaceId ?? null,
]

/** SQL: whether a row of `patterns` matches the repository whose keys are these expressions. */
export const patternMatches = (pattern: string, ownerKey: string, repoKey: string): string =>
  `${pattern}.owner_key = ${ownerKey} and case when ${pattern}.exact then ${pattern}.repo_key = ${repoKey} else ${repoKey} like ${pattern}.repo_like end`

/** SQL: the pattern `p` matches the repository of `repoParameters`. */
const PATTERN_MATCHES = `p.workspace_id = m.workspace_id and ${patternMatches('p', '$2::text', '$3::text')}`

const OF_CALLER = `m.user_id = $1::uuid and ($4::uuid is null or m.workspace_id = $4::uuid)`

/**
 * SQL: every pair of a membership `m` of the caller and a matching pattern `p`, to take the best of. Its parameters are
 * those of `repoParameters`. It starts from the member, because nearly everybody is in few workspaces.
 */
export const MATCHING_PAIRS = `members m join patterns p on ${OF_CALLER} and ${PATTERN_MATCHES}`

/** SQL: the caller's matching workspaces `m`, each once, with its best pattern `p`. */
export const MATCHES = `
  members m
  join lateral (
    select p.pattern, p.exact, p.literal_length
    from patterns p
    where ${PATTERN_MATCHES}
    order by p.exact desc, p.literal_length desc, p.pattern
    limit 1
  ) p on ${OF_CALLER}`

/**
 * SQL: admin first, then an exact pattern before a wildcard, the longer literal part, the older workspace, the id. A
 * workspace's id begins with the moment of its creation, so the id alone says the last two.
 */
export const MATCH_ORDER = `(m.role = 'admin') desc, p.exact desc, p.literal_length desc, m.workspace_id`

const FIND_MATCHES = `
  select m.workspace_id as "workspaceId", m.role, p.pattern, s.id is not null as holds
  from ${MATCHES}
  left join snapshots s on s.owner_key = $2::text and s.repo_key = $3::text and s.workspace_id = m.workspace_id
  order by ${MATCH_ORDER}`

/** All matches, best first. */
export const findMatches = async (db: Db, question: RepoQuestion): Promise<RepoMatch[]> =>
  await db.statement<RepoMatch>(FIND_MATCHES, repoParameters(question))
