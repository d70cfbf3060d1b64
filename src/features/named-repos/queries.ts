/** Repositories that people have named in full. */
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { statement, text } from '../../platform/database/statement.js'

const LIST_PERSON_REPOS = statement(
  'list own repositories',
  { repoKey: text, repo: text },
  'select repo_key as "repoKey", repo from person_repos where user_id = $1::uuid',
)

/** $1: the user; per repository: $2 its key, $3 its name, $4 as given. */
const UPSERT_PERSON_REPOS = statement(
  'upsert own repositories',
  {},
  `
  insert into person_repos as p (user_id, repo_key, name, repo, seen_day)
  select $1::uuid, r.repo_key, r.name, r.repo, (now() at time zone 'UTC')::date
  from unnest($2::text[], $3::text[], $4::text[]) as r (repo_key, name, repo)
  order by r.repo_key collate "C"
  on conflict (user_id, repo_key) do update set seen_day = greatest(p.seen_day, excluded.seen_day)`,
)

export interface NamedRepo {
  repoKey: string
  repo: string
}

export const nameOf = (repoKey: string): string => repoKey.slice(repoKey.lastIndexOf('/') + 1)

/** Stores a person's new repositories, up to the limit. */
export const writePersonRepos = async (
  tx: Db,
  userId: string,
  repos: readonly NamedRepo[],
): Promise<void> => {
  const known = new Set((await listPersonRepos(tx, userId)).map(({ repoKey }) => repoKey))
  const fresh = repos.filter(({ repoKey }) => !known.has(repoKey))
  const rows = [
    ...repos.filter(({ repoKey }) => known.has(repoKey)),
    ...fresh.slice(0, Math.max(0, limits.person_repos - known.size)),
  ]
  if (rows.length === 0) return
  await tx.rows(UPSERT_PERSON_REPOS, [
    userId,
    rows.map(({ repoKey }) => repoKey),
    rows.map(({ repoKey }) => nameOf(repoKey)),
    rows.map(({ repo }) => repo),
  ])
}

/** The keys of the person's repositories. */
export const listPersonRepos = (db: Db, userId: string): Promise<NamedRepo[]> =>
  db.rows(LIST_PERSON_REPOS, [userId])

/** $1: the user; $2: names in lower case. */
const FIND_PERSON_REPOS = statement(
  'find recent repositories by name',
  { repoKey: text, repo: text },
  `
  select repo_key as "repoKey", repo
  from person_repos where user_id = $1::uuid and name = any($2::text[])`,
)

export const findPersonRepos = (db: Db, userId: string, names: string[]): Promise<NamedRepo[]> =>
  db.rows(FIND_PERSON_REPOS, [userId, names])
