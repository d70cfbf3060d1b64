/** Finds which of a caller's workspaces match a repository, and which one holds its settings. */
import type { Role } from '../../../../schemas/common.js'
import type { Db } from '../../../platform/database/client.js'
import { bool, type RowOf, statement, text, textOf, uuid } from '../../../platform/database/statement.js'
import { MATCH_ORDER, type RepoQuestion, repoParameters, WITH_BEST_PATTERN } from '../../workspaces/index.js'

const matchColumns = {
  workspaceId: uuid,
  role: textOf<Role>(),
  /** The workspace's best pattern. */
  pattern: text,
  /** Whether the repository's settings were pushed through this workspace. */
  holds: bool,
}

/** One of the caller's workspaces. */
export type RepoMatch = RowOf<typeof matchColumns>

const FIND_MATCHES = statement(
  'find the matching workspaces of a caller',
  matchColumns,
  `
  select m.workspace_id as "workspaceId", m.role, p.pattern, s.id is not null as holds
  from ${WITH_BEST_PATTERN}
  left join snapshots s on s.owner_key = $2::text and s.repo_key = $3::text and s.workspace_id = m.workspace_id
  order by ${MATCH_ORDER}`,
)

/** All matches, best first. */
export const findMatches = (db: Db, question: RepoQuestion): Promise<RepoMatch[]> =>
  db.rows(FIND_MATCHES, repoParameters(question))
