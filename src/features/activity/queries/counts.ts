/** Daily counts of commits and closed issues: absolute numbers, sent whole and as often as one likes. */

import { limits } from '../../../../schemas/limits.js'
import { COMPARED } from '../../../../schemas/repo-pattern.js'
import type { Db } from '../../../platform/database/client.js'
import { double, integer, orNull, statement, text, uuid } from '../../../platform/database/statement.js'
import { theRow } from '../../../platform/database/the-row.js'
import { patternMatches } from '../../workspaces/index.js'
import type { ArrayLiteral, CountBatch } from '../count-batches.js'

export type CountKind = 'commits' | 'closed_issues'

/** $1: the workspace; $2: logins in lower case. */
const FIND_MEMBERS = statement(
  'find members by their logins',
  { n: integer, userId: uuid },
  `
  select l.n::int, m.user_id as "userId"
  from unnest($2::text[]) with ordinality as l (login_key, n)
  join users u on u.login_key = l.login_key
  join members m on m.workspace_id = $1::uuid and m.user_id = u.id`,
)

/** The user of each login, null for who is no member. */
export const findMembers = async (
  db: Db,
  workspaceId: string,
  logins: string[],
): Promise<(string | null)[]> => {
  const keys = logins.map((login) => login.toLowerCase())
  const rows = await db.rows(FIND_MEMBERS, [workspaceId, keys])
  const found = new Map(rows.map(({ n, userId }) => [n, userId]))
  return logins.map((_, index) => found.get(index + 1) ?? null)
}

/** $1: the workspace; $2: users. */
const REGISTER_PEOPLE = statement(
  'register people who will have activity',
  {},
  `
  insert into activity_people (workspace_id, user_id) values ($1::uuid, unnest($2::uuid[]))
  on conflict do nothing`,
)

/** Whoever has activity is registered before. */
export const registerPeople = async (tx: Db, workspaceId: string, userIds: string[]): Promise<void> => {
  await tx.rows(REGISTER_PEOPLE, [workspaceId, userIds.toSorted()])
}

/** SQL: whether a repository is inside the patterns of the workspace $1. */
const inside = (repoKey: string) => `exists (
      select from patterns p
      where p.workspace_id = $1::uuid and ${patternMatches('p', `split_part(${repoKey}, '/', 1)`, `split_part(${repoKey}, '/', 2)`)}
    )`

const READ_PATTERN_CHARACTERS = statement(
  'read how much the patterns of a workspace are compared with',
  { characters: double },
  `
  select coalesce(max(characters), 0)::float8 as characters
  from (
    select sum(${COMPARED} + least(octet_length(repo_key), ${limits.repo_length})) as characters
    from patterns
    where workspace_id = $1::uuid and not exact
    group by owner_key
  ) owners`,
)

/** The characters of the patterns that each repository is compared with, of the owner that has the most. */
export const readPatternCharacters = async (db: Db, workspaceId: string): Promise<number> =>
  theRow(await db.rows(READ_PATTERN_CHARACTERS, [workspaceId])).characters

/** $1: the workspace; $2: repositories as given. */
const NAME_REPOS_INSIDE = statement(
  'name repositories inside the patterns',
  {},
  `
  insert into activity_repos (workspace_id, repo_key, repo)
  select $1::uuid, lower(r.repo), r.repo
  from unnest($2::text[]) as r (repo)
  where ${inside('lower(r.repo)')}
  order by lower(r.repo) collate "C"
  on conflict do nothing`,
)

const textOf = ({ buffer, byteOffset, byteLength }: ArrayLiteral) =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1')

/**
 * Names those that get their first activity. A flush does so before it writes activity: an upload that would name some
 * after it has written counts could wait for a flush that waits for it.
 */
export const nameReposInside = async (tx: Db, workspaceId: string, repos: ArrayLiteral): Promise<void> => {
  await tx.rows(NAME_REPOS_INSIDE, [workspaceId, textOf(repos)])
}

/** $1: the workspace; $2: repositories as given. */
const LIST_OUTSIDE = statement(
  'list repositories outside the patterns',
  { repoKey: text },
  `
  select r.repo_key as "repoKey"
  from (select distinct lower(r.repo) as repo_key from unnest($2::text[]) as r (repo)) r
  where not ${inside('r.repo_key')}`,
)

/** SQL: the counts of members. $1: users (null: no member); $2 to $4: positions of members, repositories and counts. */
const GIVEN = `
    unnest($2::int[], $3::text[], $4::int[]) with ordinality as g (member, repo, count, n)
    join unnest($1::uuid[]) with ordinality as u (user_id, n) on u.n = g.member and u.user_id is not null`

/** $1 to $4: see `GIVEN`; $5, $6: workspace and day. */
const LIST_TAKEN_BACK = statement(
  'list counts of 0 where there is activity',
  { n: integer },
  `
  select g.n::int
  from ${GIVEN}
  join activity a on a.workspace_id = $5::uuid and a.user_id = u.user_id and a.day = $6::date
    and a.repo_key = lower(g.repo)
  where g.count = 0`,
)

/**
 * $1 to $4: see `GIVEN`; $5, $6: workspace and day; $7: repositories that are left out; $8: positions of the counts
 * of 0 that are stored. What has not changed is left out by the last `where`, and so not returned.
 */
const setCounts = (column: CountKind) =>
  statement(
    `set ${column}`,
    { changed: integer },
    `
  insert into activity as a (workspace_id, user_id, day, repo_key, ${column})
  select $5::uuid, u.user_id, $6::date, lower(g.repo), g.count
  from ${GIVEN}
  where lower(g.repo) not in (select unnest($7::text[])) and (g.count > 0 or g.n in (select unnest($8::int[])))
  order by g.n
  on conflict (workspace_id, user_id, day, repo_key) do update set ${column} = excluded.${column}
  where a.${column} <> excluded.${column}
  returning 1 as changed`,
  )

const SET_COUNTS = { commits: setCounts('commits'), closed_issues: setCounts('closed_issues') }

/** $1 to $4: see `GIVEN`; $5: logins; $6: repositories that are left out. */
const LIST_SKIPPED = statement(
  'list counts that are left out',
  { rows: integer, skipped: orNull(text) },
  `
  select count(*)::int as rows,
    string_agg(
      json_build_object('login', l.login, 'repo', g.repo, 'code', 'repo_outside_patterns')::text, ',' order by g.n
    ) as skipped
  from ${GIVEN}
  join unnest($5::text[]) with ordinality as l (login, n) on l.n = g.member
  where lower(g.repo) in (select unnest($6::text[]))`,
)

export interface CountsTarget {
  workspaceId: string
  day: string
  userIds: (string | null)[]
  logins: string[]
}

export interface CountsWritten {
  upserted: number
  /** Of members, but outside the patterns. */
  outside: number
  /** The latter, as the elements of a JSON array. */
  skipped: string | null
}

/** People are registered and repositories named already. */
export const writeCounts = async (
  tx: Db,
  kind: CountKind,
  { workspaceId, day, userIds, logins }: CountsTarget,
  { members, repos, counts }: CountBatch,
): Promise<CountsWritten> => {
  const given = [userIds, textOf(members), textOf(repos), textOf(counts)]
  const [outside, takenBack] = await Promise.all([
    tx.rows(LIST_OUTSIDE, [workspaceId, textOf(repos)]),
    tx.rows(LIST_TAKEN_BACK, [...given, workspaceId, day]),
  ])
  const outsideKeys = outside.map(({ repoKey }) => repoKey)
  const positions = takenBack.map(({ n }) => n)
  const changed = await tx.rows(SET_COUNTS[kind], [...given, workspaceId, day, outsideKeys, positions])
  if (outside.length === 0) return { upserted: changed.length, outside: 0, skipped: null }
  const [left] = await tx.rows(LIST_SKIPPED, [...given, logins, outsideKeys])
  return { upserted: changed.length, outside: left?.rows ?? 0, skipped: left?.skipped ?? null }
}
