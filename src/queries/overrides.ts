import { and, eq, sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import type { Database, Db } from '../db/client.js'
import { overrides, users } from '../db/tables.js'
import { toTimestamp } from '../domain/time.js'
import { type BoundedPage, boundedPage, toBoundedPage } from './bounded-page.js'
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

/** $2, $3: the keys that the previous page ended with, or nulls. */
const LIST_OVERRIDES = `
  select p.owner, p.repo, p.settings, p.updated_at as "updatedAt", u.login as "updatedBy", p.total
  from (${boundedPage(
    'owner_key, repo_key, owner, repo, settings, updated_at, updated_by',
    `
      select owner_key, repo_key, owner, repo, settings, updated_at, updated_by, octet_length(settings) as bytes
      from overrides
      where workspace_id = $1::uuid
        and ($2::text is null or (owner_key, repo_key) > ($2::text, $3::text))
      order by owner_key, repo_key
      limit $4::int`,
    'owner_key, repo_key',
  )}) p
  join users u on u.id = p.updated_by
  order by p.owner_key, p.repo_key`

/** Ordered by owner and repository. Settings can be large, so a page may hold fewer rows than were asked for. */
export const listOverrides = async (
  database: Database,
  workspaceId: string,
  after: string[] | undefined,
  limit: number,
): Promise<BoundedPage<StoredOverride>> => {
  const [ownerKey = null, repoKey = null] = after ?? []
  const found = await database.read.statement<StoredOverride & { total: number }>(LIST_OVERRIDES, [
    workspaceId,
    ownerKey,
    repoKey,
    limit + 1,
  ])
  const { rows, more } = toBoundedPage(found, limit)
  return { rows: rows.map((row) => ({ ...row, updatedAt: toTimestamp(row.updatedAt) })), more }
}
