import { eq, sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import { type BoundedPage, boundedList, readBoundedPage } from '../../../platform/database/bounded-page.js'
import type { Db } from '../../../platform/database/client.js'
import { bool, moment, statement, text } from '../../../platform/database/statement.js'
import { theRow } from '../../../platform/database/the-row.js'
import { toTimestamp, withUpdatedAt } from '../../../platform/time/timestamps.js'
import { users } from '../../accounts/index.js'
import { patternMatches } from '../../workspaces/index.js'
import { overrides } from '../tables.js'
import { type Author, isAt, type SnapshotKey } from './snapshots.js'

export interface StoredOverride {
  owner: string
  repo: string
  /** JSON text, as stored. */
  settings: string
  updatedAt: string
  updatedBy: string
}

const MATCHES_WORKSPACE = statement(
  'whether a repository matches a workspace',
  { matches: bool },
  `
  select exists (
    select from patterns p where p.workspace_id = $1::uuid and ${patternMatches('p', '$2::text', '$3::text')}
  ) as matches`,
)

/** Whether the repository matches a pattern of the workspace. */
export const matchesWorkspace = async (
  tx: Db,
  { workspaceId, ownerKey, repoKey }: SnapshotKey,
): Promise<boolean> => {
  const { matches } = theRow(await tx.rows(MATCHES_WORKSPACE, [workspaceId, ownerKey, repoKey]))
  return matches
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
    .where(isAt(overrides, key))
  return row && withUpdatedAt(row)
}

/** Makes or replaces it; the first write decides how owner and repository are spelled. */
export const upsertOverride = async (
  tx: Db,
  key: SnapshotKey,
  { owner, repo, settings, author }: { owner: string; repo: string; settings: string; author: Author },
): Promise<StoredOverride> => {
  const content = { revision: uuidv7(), settings, updatedBy: author.id }
  const rows = await tx
    .insert(overrides)
    .values({ ...key, owner, repo, ...content })
    .onConflictDoUpdate({
      target: [overrides.ownerKey, overrides.repoKey, overrides.workspaceId],
      set: { ...content, updatedAt: sql`excluded.updated_at` },
    })
    .returning({ owner: overrides.owner, repo: overrides.repo, updatedAt: overrides.updatedAt })
  const row = theRow(rows)
  return { ...row, settings, updatedAt: toTimestamp(row.updatedAt), updatedBy: author.login }
}

/** Undefined when there was none; otherwise how it was spelled. */
export const deleteOverride = async (
  tx: Db,
  key: SnapshotKey,
): Promise<{ owner: string; repo: string } | undefined> => {
  const [row] = await tx
    .delete(overrides)
    .where(isAt(overrides, key))
    .returning({ owner: overrides.owner, repo: overrides.repo })
  return row
}

/** $2: the workspace; $3, $4: the keys that the previous page ended with, or nulls. */
const LIST_OVERRIDES = boundedList(
  'list the overrides of a workspace',
  { owner: text, repo: text, settings: text, updatedAt: moment, updatedBy: text },
  {
    rows: `
        select o.owner_key, o.repo_key, o.owner, o.repo, o.settings, o.updated_at as "updatedAt",
          u.login as "updatedBy", octet_length(o.settings) as bytes
        from overrides o
        join users u on u.id = o.updated_by
        where o.workspace_id = $2::uuid and ($3::text is null or (o.owner_key, o.repo_key) > ($3::text, $4::text))`,
    order: 'owner_key, repo_key',
  },
)

/** Ordered by owner and repository. Settings can be large, so a page may hold fewer rows than were asked for. */
export const listOverrides = async (
  db: Db,
  workspaceId: string,
  after: string[] | undefined,
  limit: number,
): Promise<BoundedPage<StoredOverride>> => {
  const [ownerKey = null, repoKey = null] = after ?? []
  const { rows, more } = await readBoundedPage(db, LIST_OVERRIDES, limit, [workspaceId, ownerKey, repoKey])
  return { rows: rows.map(withUpdatedAt), more }
}
