import { sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import { limits } from '../../../../schemas/limits.js'
import { type BoundedPage, boundedList, readBoundedPage } from '../../../platform/database/bounded-page.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  integer,
  moment,
  type RowOf,
  singleRow,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'
import { toTimestamp, withUpdatedAt } from '../../../platform/time/timestamps.js'
import {
  type Author,
  authorName,
  dropOldVersions,
  historyOf,
  patternMatches,
} from '../../workspaces/index.js'
import { overrides, overrideVersions } from '../tables.js'
import { isAt, isAtKey, keyParameters, type SnapshotKey } from './snapshots.js'

const storedOverride = {
  /** Every write gets a new one, so that ETags are never reused. */
  revision: uuid,
  version: integer,
  owner: text,
  repo: text,
  /** JSON text, as stored. */
  settings: text,
  updatedAt: moment,
  updatedBy: text,
}
export type StoredOverride = RowOf<typeof storedOverride>

const AUTHOR = authorName('o.updated_by_key', 'u.login')

const MATCHES_WORKSPACE = statement(
  'whether a repository matches a workspace',
  { matches: bool },
  `
  select exists (
    select from patterns p where p.workspace_id = $1::uuid and ${patternMatches('p', '$2::text', '$3::text')}
  ) as matches`,
)

/** Whether the repository matches one of the workspace's patterns. */
export const matchesWorkspace = async (
  tx: Db,
  { workspaceId, ownerKey, repoKey }: SnapshotKey,
): Promise<boolean> => {
  const { matches } = singleRow(await tx.rows(MATCHES_WORKSPACE, [workspaceId, ownerKey, repoKey]))
  return matches
}

const READ_OVERRIDE = statement(
  'read an override',
  storedOverride,
  `
  select o.revision, o.version, o.owner, o.repo, o.settings, o.updated_at as "updatedAt", ${AUTHOR} as "updatedBy"
  from overrides o join users u on u.id = o.updated_by
  where ${isAtKey('o')}`,
)

export const readOverride = async (tx: Db, key: SnapshotKey): Promise<StoredOverride | undefined> => {
  const [row] = await tx.rows(READ_OVERRIDE, keyParameters(key))
  return row && withUpdatedAt(row)
}

interface Write {
  owner: string
  repo: string
  settings: string
  version: number
  author: Author
  reason: string | null
}

/** Creates or replaces it. The first write decides how owner and repository are spelled. */
export const upsertOverride = async (
  tx: Db,
  key: SnapshotKey,
  { owner, repo, settings, version, author, reason }: Write,
): Promise<StoredOverride> => {
  const content = {
    revision: uuidv7(),
    settings,
    version,
    updatedBy: author.id,
    updatedByKey: author.keyName,
    reason,
  }
  const rows = await tx
    .insert(overrides)
    .values({ ...key, owner, repo, ...content })
    .onConflictDoUpdate({
      target: [overrides.ownerKey, overrides.repoKey, overrides.workspaceId],
      set: { ...content, updatedAt: sql`excluded.updated_at` },
    })
    .returning({ owner: overrides.owner, repo: overrides.repo, updatedAt: overrides.updatedAt })
  const row = singleRow(rows)
  const { revision } = content
  return {
    ...row,
    revision,
    version,
    settings,
    updatedAt: toTimestamp(row.updatedAt),
    updatedBy: author.login,
  }
}

/**
 * $1 to $3: the repository's and workspace's keys. An earlier release may have removed the override without its
 * history, then set it again from version 1.
 */
const KEEP_VERSION = statement(
  'keep a version of an override',
  {},
  `
  insert into override_versions (owner_key, repo_key, workspace_id, version, settings, created_at, created_by, created_by_key,
    reason)
  select owner_key, repo_key, workspace_id, version, settings, updated_at, updated_by, updated_by_key, reason
  from overrides where owner_key = $1::text and repo_key = $2::text and workspace_id = $3::uuid
  on conflict (owner_key, repo_key, workspace_id, version) do update
    set settings = excluded.settings, created_at = excluded.created_at, created_by = excluded.created_by,
      created_by_key = excluded.created_by_key, reason = excluded.reason`,
)

/** Adds the current version to the history before it's replaced. @param version the next version */
export const keepOverrideVersion = async (tx: Db, key: SnapshotKey, version: number): Promise<void> => {
  await tx.rows(KEEP_VERSION, keyParameters(key))
  await dropOldVersions(tx, overrideVersions, isAt(overrideVersions, key), version)
}

const HISTORY_BYTES = `greatest(octet_length(settings), ${limits.workspace_history_bytes_per_version})`

/** $1 to $3: the override whose latest version stays, however old it is; $4: the bytes that stay. */
const FIND_EXCESS = statement(
  'find the oldest versions of overrides beyond the room for history',
  { ownerKey: text, repoKey: text, version: integer },
  `
  select owner_key as "ownerKey", repo_key as "repoKey", version
  from (
    select owner_key, repo_key, version,
      sum(${HISTORY_BYTES}) over (order by is_latest desc, created_at desc, version desc, owner_key, repo_key) as newer
    from (
      select *, ${isAtKey('o')} and version = max(version) over (partition by owner_key, repo_key) as is_latest
      from override_versions o where workspace_id = $3::uuid
    ) o
  ) v
  where newer > $4::bigint`,
)

/** $1: the workspace; $2 to $4: owners, repositories and versions. */
const DELETE_VERSIONS = statement(
  'delete versions of overrides',
  {},
  `
  delete from override_versions
  where workspace_id = $1::uuid
    and (owner_key, repo_key, version) in (select * from unnest($2::text[], $3::text[], $4::int[]))`,
)

/**
 * Deletes the oldest versions of a workspace's overrides, so that at most `bytes` of earlier versions stay. The latest
 * one of the override `key` stays, because it was just replaced and someone may want it back.
 */
export const limitOverrideHistory = async (tx: Db, key: SnapshotKey, bytes: number): Promise<void> => {
  const excess = await tx.rows(FIND_EXCESS, [...keyParameters(key), bytes])
  if (excess.length === 0) return
  await tx.rows(DELETE_VERSIONS, [
    key.workspaceId,
    excess.map(({ ownerKey }) => ownerKey),
    excess.map(({ repoKey }) => repoKey),
    excess.map(({ version }) => version),
  ])
}

export const deleteOverrideVersions = async (tx: Db, key: SnapshotKey): Promise<void> => {
  await tx.delete(overrideVersions).where(isAt(overrideVersions, key))
}

export const overrideHistory = historyOf({
  name: 'an override',
  parameters: keyParameters,
  versions: `
    select o.version, o.settings, o.updated_at as created_at, o.updated_by as created_by, o.updated_by_key as created_by_key,
      o.reason, o.revision, o.owner, o.repo
    from overrides o
    where ${isAtKey('o')}
    union all
    select k.version, k.settings, k.created_at, k.created_by, k.created_by_key, k.reason, o.revision, o.owner, o.repo
    from overrides o
    join override_versions k on k.owner_key = o.owner_key and k.repo_key = o.repo_key
      and k.workspace_id = o.workspace_id and k.version < o.version
    where ${isAtKey('o')}`,
  version: '$4',
  author: text,
  more: { revision: uuid, owner: text, repo: text },
})

/** Deletes an override with its history. */
export const deleteOverride = async (tx: Db, key: SnapshotKey): Promise<void> => {
  await deleteOverrideVersions(tx, key)
  await tx.delete(overrides).where(isAt(overrides, key))
}

/** $2: the workspace; $3, $4: the keys that the previous page ended with, or nulls. */
const LIST_OVERRIDES = boundedList('list the overrides of a workspace', storedOverride, {
  rows: `
        select o.owner_key, o.repo_key, o.revision, o.version, o.owner, o.repo, o.settings,
          o.updated_at as "updatedAt", ${AUTHOR} as "updatedBy", octet_length(o.settings) as bytes
        from overrides o
        join users u on u.id = o.updated_by
        where o.workspace_id = $2::uuid and ($3::text is null or (o.owner_key, o.repo_key) > ($3::text, $4::text))`,
  order: 'owner_key, repo_key',
})

/** Ordered by owner and repository. Settings can be large, so a page may have fewer rows than requested. */
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
