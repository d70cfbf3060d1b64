import { and, eq, sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import type { Database, Db } from '../db/client.js'
import { overrides, users } from '../db/tables.js'
import { toTimestamp } from '../domain/time.js'
import { patternMatches } from './repo-access.js'
import type { Author, SnapshotKey } from './snapshots.js'

export interface StoredOverride {
  owner: string
  repo: string
  /** JSON text, as stored. */
  settings: string
  updatedAt: string
  updatedBy: string
}

const at = ({ ownerKey, repoKey, workspaceId }: SnapshotKey) =>
  and(
    eq(overrides.ownerKey, ownerKey),
    eq(overrides.repoKey, repoKey),
    eq(overrides.workspaceId, workspaceId),
  )

const MATCHES_WORKSPACE = `
  select exists (
    select from patterns p where p.workspace_id = $1::uuid and ${patternMatches('p', '$2::text', '$3::text')}
  ) as matches`

/** Whether the repository matches a pattern of the workspace. */
export const matchesWorkspace = async (
  tx: Db,
  { workspaceId, ownerKey, repoKey }: SnapshotKey,
): Promise<boolean> => {
  const parameters = [workspaceId, ownerKey, repoKey]
  const [row] = await tx.statement<{ matches: boolean }>(MATCHES_WORKSPACE, parameters)
  return row?.matches ?? false
}

export const readOverride = async (tx: Db, key: SnapshotKey): Promise<StoredOverride | undefined> => {
  const [row] = await tx
    .select({
      owner: overrides.owner,
      repo: overrides.repo,
      settings: overrides.settings,
      updatedAt: overrides.updatedAt,
      updatedBy: users.login,
    })
    .from(overrides)
    .innerJoin(users, eq(users.id, overrides.updatedBy))
    .where(at(key))
  return row && { ...row, updatedAt: toTimestamp(row.updatedAt) }
}

/** Makes or replaces it; the first write decides how owner and repository are spelled. */
export const upsertOverride = async (
  tx: Db,
  key: SnapshotKey,
  { owner, repo, settings, author }: { owner: string; repo: string; settings: string; author: Author },
): Promise<StoredOverride> => {
  const content = { revision: uuidv7(), settings, updatedBy: author.id }
  const [row] = await tx
    .insert(overrides)
    .values({ ...key, owner, repo, ...content })
    .onConflictDoUpdate({
      target: [overrides.ownerKey, overrides.repoKey, overrides.workspaceId],
      set: { ...content, updatedAt: sql`now()` },
    })
    .returning({ owner: overrides.owner, repo: overrides.repo, updatedAt: overrides.updatedAt })
  if (!row) throw new Error('The upsert returned no override')
  return { ...row, settings, updatedAt: toTimestamp(row.updatedAt), updatedBy: author.login }
}

/** Undefined when there was none; otherwise how it was spelled. */
export const deleteOverride = async (
  tx: Db,
  key: SnapshotKey,
): Promise<{ owner: string; repo: string } | undefined> => {
  const [row] = await tx
    .delete(overrides)
    .where(at(key))
    .returning({ owner: overrides.owner, repo: overrides.repo })
  return row
}

/** What the settings of one page add up to at most, in bytes; a page always has at least one row. */
const PAGE_BYTES = 4_194_304

/** $2, $3: the keys that the previous page ended with, or nulls. `settings` is null for what no longer fits in the page. */
const LIST_OVERRIDES = `
  select o.owner, o.repo, o.updated_at as "updatedAt", u.login as "updatedBy",
    case when o.bytes_before < ${PAGE_BYTES} then o.settings end as settings
  from (
    select owner_key, repo_key, owner, repo, settings, updated_at, updated_by,
      coalesce(sum(octet_length(settings)) over (
        order by owner_key, repo_key rows between unbounded preceding and 1 preceding
      ), 0) as bytes_before
    from (
      select owner_key, repo_key, owner, repo, settings, updated_at, updated_by
      from overrides
      where workspace_id = $1::uuid
        and ($2::text is null or (owner_key, repo_key) > ($2::text, $3::text))
      order by owner_key, repo_key
      limit $4::int
    ) page
  ) o
  join users u on u.id = o.updated_by
  order by o.owner_key, o.repo_key`

/**
 * Ordered by owner and repository. Settings can be large, so a page may hold fewer rows than were asked for.
 * @returns up to `limit` rows, and whether more follow
 */
export const listOverrides = async (
  database: Database,
  workspaceId: string,
  after: string[] | undefined,
  limit: number,
): Promise<{ rows: StoredOverride[]; more: boolean }> => {
  const [ownerKey = null, repoKey = null] = after ?? []
  const found = await database.db.statement<Omit<StoredOverride, 'settings'> & { settings: string | null }>(
    LIST_OVERRIDES,
    [workspaceId, ownerKey, repoKey, limit + 1],
  )
  const rows = found
    .slice(0, limit)
    .flatMap(({ settings, ...row }) =>
      settings === null ? [] : [{ ...row, settings, updatedAt: toTimestamp(row.updatedAt) }],
    )
  return { rows, more: found.length > rows.length }
}
