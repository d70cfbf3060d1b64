/** All of a workspace's overrides, read in pages and written in batches. */
import { v7 as uuidv7 } from 'uuid'
import type { ConfigurationEffect } from '../../../../schemas/configuration.js'
import { limits } from '../../../../schemas/limits.js'
import type { RepoPattern } from '../../../../schemas/repo-pattern.js'
import type { Db } from '../../../platform/database/client.js'
import { integer, singleRow, statement, text } from '../../../platform/database/statement.js'
import { type Author, patternMatches } from '../../workspaces/index.js'

/** Every write gets a new revision, so the revisions' count and sum change with every change. */
const READ_FINGERPRINT = statement(
  'read a fingerprint of the overrides of a workspace',
  { fingerprint: text },
  `
  select concat(count(*), ' ', sum(hashtextextended(revision::text, 0)::numeric)) as fingerprint
  from overrides where workspace_id = $1::uuid`,
)

export const readFingerprint = async (db: Db, workspaceId: string): Promise<string> =>
  singleRow(await db.rows(READ_FINGERPRINT, [workspaceId])).fingerprint

/** $1: the workspace; $2, $3: owners and repositories. */
const OF_PLACES = (table: string) => `${table}.workspace_id = $1::uuid
    and (${table}.owner_key, ${table}.repo_key) in (select * from unnest($2::text[], $3::text[]))`

const KEEP_VERSIONS = statement(
  'keep the versions of overrides',
  {},
  `
  insert into override_versions (owner_key, repo_key, workspace_id, version, settings, created_at, created_by, created_by_key,
    reason)
  select owner_key, repo_key, workspace_id, version, settings, updated_at, updated_by, updated_by_key, reason
  from overrides o where ${OF_PLACES('o')}
  on conflict (owner_key, repo_key, workspace_id, version) do update
    set settings = excluded.settings, created_at = excluded.created_at, created_by = excluded.created_by,
      created_by_key = excluded.created_by_key, reason = excluded.reason`,
)

const DROP_OLD_VERSIONS = statement(
  'delete the oldest versions of overrides',
  {},
  `
  delete from override_versions v using overrides o
  where ${OF_PLACES('v')} and o.owner_key = v.owner_key and o.repo_key = v.repo_key and o.workspace_id = v.workspace_id
    and v.version <= o.version - ${limits.settings_versions_kept}`,
)

const DELETE_HISTORIES = statement(
  'delete the histories of overrides',
  {},
  `delete from override_versions v where ${OF_PLACES('v')}`,
)

const DELETE_OVERRIDES = statement('delete overrides', {}, `delete from overrides o where ${OF_PLACES('o')}`)

/**
 * $4 to $8: owners and repositories as spelled, revisions, versions and settings; $9 to $11: the author, the key and
 * the reason.
 */
const WRITE_OVERRIDES = statement(
  'write overrides',
  {},
  `
  insert into overrides (workspace_id, owner_key, repo_key, owner, repo, revision, version, settings, updated_by,
    updated_by_key, reason)
  select $1::uuid, w.owner_key, w.repo_key, w.owner, w.repo, w.revision, w.version, w.settings, $9::uuid, $10::text, $11::text
  from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::int[], $8::text[])
    w(owner_key, repo_key, owner, repo, revision, version, settings)
  on conflict (owner_key, repo_key, workspace_id) do update
    set revision = excluded.revision, version = excluded.version, settings = excluded.settings,
      updated_by = excluded.updated_by, updated_by_key = excluded.updated_by_key, reason = excluded.reason,
      updated_at = excluded.updated_at`,
)

/** An override's place. */
export interface Place {
  ownerKey: string
  repoKey: string
  owner: string
  repo: string
}

/** An override that a request creates or changes. */
export interface NewOverride extends Place {
  /** The next version. */
  version: number
  /** JSON text. */
  settings: string
}

const placesOf = (places: Place[]) => [
  places.map(({ ownerKey }) => ownerKey),
  places.map(({ repoKey }) => repoKey),
]

/** Creates and replaces a locked workspace's overrides. Replaced ones stay in the history. */
export const writeOverrides = async (
  tx: Db,
  workspaceId: string,
  list: NewOverride[],
  { author, reason }: { author: Author; reason: string | null },
): Promise<void> => {
  const places = placesOf(list)
  // An earlier release leaves the history behind when it removes an override.
  const fresh = list.filter(({ version }) => version === 1)
  if (fresh.length > 0) await tx.rows(DELETE_HISTORIES, [workspaceId, ...placesOf(fresh)])
  await tx.rows(KEEP_VERSIONS, [workspaceId, ...places])
  await tx.rows(WRITE_OVERRIDES, [
    workspaceId,
    ...places,
    list.map(({ owner }) => owner),
    list.map(({ repo }) => repo),
    list.map(() => uuidv7()),
    list.map(({ version }) => version),
    list.map(({ settings }) => settings),
    author.id,
    author.keyName,
    reason,
  ])
  await tx.rows(DROP_OLD_VERSIONS, [workspaceId, ...places])
}

/** Includes their histories. */
export const deleteOverrides = async (tx: Db, workspaceId: string, list: Place[]): Promise<void> => {
  const places = placesOf(list)
  await tx.rows(DELETE_HISTORIES, [workspaceId, ...places])
  await tx.rows(DELETE_OVERRIDES, [workspaceId, ...places])
}

/** SQL: whether one of the patterns in four parameters matches a row of `k`. */
const matchesAny = (first: number) => `exists (
      select from unnest($${first}::text[], $${first + 1}::text[], $${first + 2}::bool[], $${first + 3}::text[])
        p(owner_key, repo_key, exact, repo_like)
      where ${patternMatches('p', 'k.owner_key', 'k.repo_key')}
    )`

/** $2: whether all that match are affected; $3, $4: keys of repositories that are; $5 to $8, $9 to $12: patterns before and after. */
const COUNT_AFFECTED = statement(
  'count what a change of the configuration affects',
  { repositories: integer, people: integer },
  `
  with known as materialized (
    select owner_key, repo_key from snapshots where workspace_id = $1::uuid
    union select owner_key, repo_key from overrides where workspace_id = $1::uuid
    union select * from unnest($3::text[], $4::text[])
  ), changed as materialized (
    select distinct * from unnest($3::text[], $4::text[]) c(owner_key, repo_key)
  ), compared as materialized (
    select c.owner_key is not null as is_changed, ${matchesAny(5)} as before, ${matchesAny(9)} as after
    from known k left join changed c on c.owner_key = k.owner_key and c.repo_key = k.repo_key
  ), members_now as materialized (
    select count(*)::int as people from members where workspace_id = $1::uuid
  )
  select (count(*) filter (where is_changed or before <> after or ($2::bool and before)))::int as repositories,
    (select people from members_now) as people
  from compared`,
)

interface Change {
  everywhere: boolean
  places: Place[]
  before: RepoPattern[]
  after: RepoPattern[]
}

const patternsOf = (patterns: RepoPattern[]) => [
  patterns.map(({ ownerKey }) => ownerKey),
  patterns.map(({ repoKey }) => repoKey),
  patterns.map(({ exact }) => String(exact)),
  patterns.map(({ repoLike }) => repoLike),
]

export const countAffected = async (
  tx: Db,
  workspaceId: string,
  { everywhere, places, before, after }: Change,
): Promise<ConfigurationEffect> => {
  const parameters = [...placesOf(places), ...patternsOf(before), ...patternsOf(after)]
  return singleRow(await tx.rows(COUNT_AFFECTED, [workspaceId, everywhere, ...parameters]))
}

/** $1, $2: keys of repositories; $3 to $6: patterns. */
const FIND_OUTSIDE = statement(
  'find a repository outside patterns',
  { ownerKey: text, repoKey: text },
  `
  select k.owner_key as "ownerKey", k.repo_key as "repoKey"
  from unnest($1::text[], $2::text[]) k(owner_key, repo_key)
  where not ${matchesAny(3)}
  order by 1, 2 limit 1`,
)

/** The first place that no pattern matches. */
export const findOutside = async (
  tx: Db,
  places: Place[],
  patterns: RepoPattern[],
): Promise<Place | undefined> => {
  const [found] = await tx.rows(FIND_OUTSIDE, [...placesOf(places), ...patternsOf(patterns)])
  return places.find(({ ownerKey, repoKey }) => ownerKey === found?.ownerKey && repoKey === found.repoKey)
}
