import type { PrivacyLevel, Role } from '../../../../schemas/common.js'
import type { ProjectPage } from '../../../../schemas/projects.js'
import { patternMatches } from '../../../../schemas/repo-pattern.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  date,
  integer,
  moment,
  orNull,
  statement,
  text,
  textOf,
  uuid,
} from '../../../platform/database/statement.js'
import { toTimestamp } from '../../../platform/time/clock.js'
import { hasActivity } from '../../minutes/index.js'

type Project = ProjectPage['projects'][number]

/** A caller's workspaces, with what the caller may know about their activity. */
export interface VisibleWorkspaces {
  all: string[]
  /** Where the caller's own activity counts. */
  own: string[]
  /** Where everyone's activity counts: all of it (`named`), starting on a day (`namedFrom`), or as published. */
  named: string[]
  namedFrom: { workspaceId: string; day: string }[]
  published: string[]
}

/** $1: the user; $2: the only workspace, or null. */
const LIST_WORKSPACES = statement(
  'list own workspaces with privacy levels',
  { workspaceId: uuid, role: textOf<Role>(), level: textOf<PrivacyLevel>(), teamUntil: orNull(date) },
  `
  select m.workspace_id as "workspaceId", m.role, w.activity_privacy as level,
    case when w.activity_privacy = 'named' and exists (
      select from privacy_levels p where p.workspace_id = w.id and p.level = 'team'
    ) then (w.activity_privacy_since at time zone 'UTC')::date end as "teamUntil"
  from members m
  join workspaces w on w.id = m.workspace_id
  where m.user_id = $1::uuid and ($2::uuid is null or m.workspace_id = $2::uuid)`,
)

export const listCallersWorkspaces = (db: Db, userId: string, within: string | null) =>
  db.rows(LIST_WORKSPACES, [userId, within])

/** How many of the known repositories one page compares with patterns: it may end before it is full. */
const MAX_COMPARED_REPOS = 1_000

/** SQL: the owner and the name in `owner/repo`, where the owner can have slashes. */
const ownerIn = (repo: string) => `regexp_replace(${repo}, '/[^/]*$', '')`
const nameIn = (repo: string) => `regexp_replace(${repo}, '^.*/', '')`

/**
 * $1: the user; $5: how many rows; $6: the workspaces.
 * $2, $3, $4: the keys of the row that the previous page ended with, or nulls.
 * Workspaces with known activity: $7 of the caller alone; $8 of everyone; $9 of everyone from the days in $10; $11 as published.
 * Besides the rows that the caller sees, the last compared row is returned.
 */
const LIST_PROJECTS = statement(
  'list visible repositories',
  {
    owner: text,
    repo: text,
    workspace_id: uuid,
    workspace_name: text,
    role: textOf<Role>(),
    synced: bool,
    has_override: bool,
    has_activity: bool,
    version: orNull(integer),
    updated_at: orNull(moment),
    matches: bool,
    isLast: bool,
    isFull: bool,
  },
  `
  with active as materialized (
    select workspace_id, repo_key from daily_activity a
    where user_id = $1::uuid and workspace_id = any($7::uuid[]) and ${hasActivity('a')}
    union
    select workspace_id, repo_key from activity_repos where workspace_id = any($8::uuid[])
    union
    select r.workspace_id, r.repo_key from unnest($9::uuid[], $10::date[]) v (workspace_id, day)
    join activity_repos r on r.workspace_id = v.workspace_id
    where exists (
      select from daily_activity a
      where a.workspace_id = r.workspace_id and a.repo_key = r.repo_key and a.day >= v.day and ${hasActivity('a')}
    )
    union
    select workspace_id, repo_key from published_repos where workspace_id = any($11::uuid[])
  ), known as (
    select owner_key, repo_key, workspace_id, owner, repo, version, updated_at, 0 as source
    from snapshots where workspace_id = any($6::uuid[])
    union all
    select owner_key, repo_key, workspace_id, owner, repo, null, updated_at, 1
    from overrides where workspace_id = any($6::uuid[])
    union all
    select ${ownerIn('a.repo_key')}, ${nameIn('a.repo_key')}, a.workspace_id, ${ownerIn('r.repo')}, ${nameIn('r.repo')},
      null, null, 2
    from active a join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key
  ), projects as (
    select owner_key, repo_key, workspace_id,
      (array_agg(owner order by source))[1] as owner, (array_agg(repo order by source))[1] as repo,
      max(version) as version, bool_or(source = 1) as has_override, bool_or(source = 2) as has_activity,
      max(updated_at) filter (where source = 0) as updated_at
    from known
    where $2::text is null or (owner_key, repo_key, workspace_id) > ($2::text, $3::text, $4::uuid)
    group by owner_key, repo_key, workspace_id
    order by owner_key, repo_key, workspace_id
    limit ${MAX_COMPARED_REPOS}
  ), counted as (
    select p.*, row_number() over keys = count(*) over () as last, count(*) over () = ${MAX_COMPARED_REPOS} as is_full
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
    k.version is not null as synced, k.has_override, k.has_activity, k.version, k.updated_at,
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
  userId: string,
  { all, own, named, namedFrom, published }: VisibleWorkspaces,
  after: string[] | undefined,
  limit: number,
): Promise<{ rows: Project[]; more: boolean; end: Project | undefined }> => {
  const [ownerKey = null, repoKey = null, workspaceId = null] = after ?? []
  const compared = await db.rows(LIST_PROJECTS, [
    userId,
    ownerKey,
    repoKey,
    workspaceId,
    limit + 1,
    all,
    own,
    named,
    namedFrom.map(({ workspaceId }) => workspaceId),
    namedFrom.map(({ day }) => day),
    published,
  ])
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
