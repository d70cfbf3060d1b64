import type { Role } from '../../../../schemas/common.js'
import type { ProjectPage } from '../../../../schemas/projects.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  integer,
  moment,
  orNull,
  statement,
  text,
  textOf,
  uuid,
} from '../../../platform/database/statement.js'
import { toTimestamp } from '../../../platform/time/timestamps.js'
import { patternMatches } from '../../workspaces/index.js'

type Project = ProjectPage['projects'][number]

/** SQL: the workspaces that the caller sees. */
const OF_CALLER = `
      select workspace_id from members where user_id = $1::uuid and ($6::uuid is null or workspace_id = $6::uuid)`

/** How many of the known repositories one page compares with patterns: it may end before it is full. */
const COMPARED_AT_ONCE = 1_000

/**
 * $2, $3, $4: the keys of the row that the previous page ended with, or nulls. $5: how many rows;
 * $6: the only workspace, or null. Besides what the caller
 * sees, the last row that was compared is there.
 */
const LIST_PROJECTS = statement(
  'list the repositories that a caller sees',
  {
    owner: text,
    repo: text,
    workspace_id: uuid,
    workspace_name: text,
    role: textOf<Role>(),
    synced: bool,
    has_override: bool,
    version: orNull(integer),
    updated_at: orNull(moment),
    matches: bool,
    isLast: bool,
    isFull: bool,
  },
  `
  with known as (
    select owner_key, repo_key, workspace_id, owner, repo, version, updated_at, false as override
    from snapshots where workspace_id in (${OF_CALLER})
    union all
    select owner_key, repo_key, workspace_id, owner, repo, null, updated_at, true
    from overrides where workspace_id in (${OF_CALLER})
  ), projects as (
    select owner_key, repo_key, workspace_id,
      (array_agg(owner order by override))[1] as owner, (array_agg(repo order by override))[1] as repo,
      max(version) as version, bool_or(override) as has_override, max(updated_at) filter (where not override) as updated_at
    from known
    where $2::text is null or (owner_key, repo_key, workspace_id) > ($2::text, $3::text, $4::uuid)
    group by owner_key, repo_key, workspace_id
    order by owner_key, repo_key, workspace_id
    limit ${COMPARED_AT_ONCE}
  ), counted as (
    select p.*, row_number() over keys = count(*) over () as last, count(*) over () = ${COMPARED_AT_ONCE} as is_full
    from projects p
    window keys as (order by owner_key, repo_key, workspace_id)
  ), compared as (
    select c.*, exists (
      select from patterns p
      where p.workspace_id = c.workspace_id and ${patternMatches('p', 'c.owner_key', 'c.repo_key')}
    ) as matches
    from counted c
  )
  select k.owner, k.repo, k.workspace_id, w.name as workspace_name, m.role,
    k.version is not null as synced, k.has_override, k.version, k.updated_at,
    k.matches, k.last as "isLast", k.is_full as "isFull"
  from compared k
  join workspaces w on w.id = k.workspace_id
  join members m on m.workspace_id = k.workspace_id and m.user_id = $1::uuid
  where k.matches or k.last
  order by k.owner_key, k.repo_key, k.workspace_id
  limit $5::int`,
)

/** The repositories that the service knows and the caller sees, one row per workspace and repository. */
export const listProjects = async (
  db: Db,
  { userId, within = null }: { userId: string; within?: string | null },
  after: string[] | undefined,
  limit: number,
): Promise<{ rows: Project[]; more: boolean; end: Project | undefined }> => {
  const [ownerKey = null, repoKey = null, workspaceId = null] = after ?? []
  const compared = await db.rows(LIST_PROJECTS, [userId, ownerKey, repoKey, workspaceId, limit + 1, within])
  const found = compared.map(({ matches, isLast, isFull, ...row }) => ({
    matches,
    /** Whether there may be more. */
    isOpen: isLast && isFull,
    project: { ...row, updated_at: row.updated_at && toTimestamp(row.updated_at) },
  }))
  const seen = found.filter(({ matches }) => matches).map(({ project }) => project)
  const rows = seen.slice(0, limit)
  const open = found.find(({ isOpen }) => isOpen)
  return seen.length > limit
    ? { rows, more: true, end: rows.at(-1) }
    : { rows, more: open !== undefined, end: open?.project }
}
