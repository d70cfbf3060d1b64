/** Compares a new configuration with what a workspace has. */
import type { ConfigurationEffect } from '../../../../schemas/configuration.js'
import type { RepoKeys } from '../../../../schemas/repo-keys.js'
import type { RepoPattern } from '../../../../schemas/repo-pattern.js'
import { patternMatches } from '../../../../schemas/repo-pattern.js'
import type { Db } from '../../../platform/database/client.js'
import { integer, singleRow, statement, text } from '../../../platform/database/statement.js'
import { placesOf } from './overrides.js'

/** Every write gets a new revision, so the revisions' count and sum change with every change. */
const READ_FINGERPRINT = statement(
  'read overrides fingerprint',
  { fingerprint: text },
  `
  select concat(count(*), ' ', sum(hashtextextended(revision::text, 0)::numeric)) as fingerprint
  from overrides where workspace_id = $1::uuid`,
)

export const readFingerprint = async (db: Db, workspaceId: string): Promise<string> =>
  singleRow(await db.rows(READ_FINGERPRINT, [workspaceId])).fingerprint

/** SQL: whether one of the patterns in four parameters matches a row of `k`. */
const matchesAny = (first: number) => `exists (
      select from unnest($${first}::text[], $${first + 1}::text[], $${first + 2}::bool[], $${first + 3}::text[])
        p(owner_key, repo_key, exact, repo_like)
      where ${patternMatches('p', 'k.owner_key', 'k.repo_key')}
    )`

/** $2: `affectsAllMatching`; $3, $4: keys of `places`; $5 to $8, $9 to $12: patterns before and after. */
const COUNT_AFFECTED = statement(
  'count overrides affected by configuration',
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
  /** Whether it affects all repositories that a pattern matched before. */
  affectsAllMatching: boolean
  /** Repositories that it affects in any case. */
  places: RepoKeys[]
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
  { affectsAllMatching, places, before, after }: Change,
): Promise<ConfigurationEffect> => {
  const parameters = [...placesOf(places), ...patternsOf(before), ...patternsOf(after)]
  return singleRow(await tx.rows(COUNT_AFFECTED, [workspaceId, affectsAllMatching, ...parameters]))
}

/** $1, $2: keys of repositories; $3 to $6: patterns. */
const FIND_OUTSIDE = statement(
  'find repository outside patterns',
  { ownerKey: text, repoKey: text },
  `
  select k.owner_key as "ownerKey", k.repo_key as "repoKey"
  from unnest($1::text[], $2::text[]) k(owner_key, repo_key)
  where not ${matchesAny(3)}
  order by 1, 2 limit 1`,
)

/** The first place that no pattern matches. */
export const findOutside = async <P extends RepoKeys>(
  tx: Db,
  places: P[],
  patterns: RepoPattern[],
): Promise<P | undefined> => {
  const [found] = await tx.rows(FIND_OUTSIDE, [...placesOf(places), ...patternsOf(patterns)])
  return places.find(({ ownerKey, repoKey }) => ownerKey === found?.ownerKey && repoKey === found.repoKey)
}
