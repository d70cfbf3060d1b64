/**
 * Daily counts of commits and closed issues. They're absolute numbers, so uploads can be repeated.
 *
 * An upload has up to 100,000 rows. They're written in batches, in a fixed order, which also prevents deadlocks.
 */

import { type CountName, perCount } from '../../../../schemas/counts.js'
import { limits } from '../../../../schemas/limits.js'
import { COMPARISON_COST, patternMatches } from '../../../../schemas/repo-pattern.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  double,
  integer,
  orNull,
  singleRow,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'
import type { CountBatch } from '../sorted-counts.js'

/** A member, found by what a payload or an upload names. */
export interface FoundMember {
  userId: string
  loginKey: string
  timezone: string | null
}

/**
 * $1: the workspace; $2: the logins, host ids or HMACs to find members by. @param found SQL: joins the given items `g`,
 * numbered by `n`, with their users `u`
 */
const findMembersStatement = (what: string, found: string) =>
  statement(
    `find members by ${what}`,
    { n: integer, userId: uuid, loginKey: text, timezone: orNull(text) },
    `
  select g.n::int, m.user_id as "userId", u.login_key as "loginKey", u.timezone
  from ${found}
  join members m on m.workspace_id = $1::uuid and m.user_id = u.id`,
  )

const FIND_MEMBERS = {
  login: findMembersStatement(
    'login',
    'unnest($2::text[]) with ordinality as g (login_key, n) join users u on u.login_key = g.login_key',
  ),
  id: findMembersStatement(
    'host id',
    'unnest($2::bigint[]) with ordinality as g (id, n) join users u on u.repohost_id = g.id',
  ),
  address: findMembersStatement(
    'address',
    `unnest($2::text[]) with ordinality as g (hmac, n) join addresses a on a.hmac = g.hmac
  join users u on u.id = a.user_id`,
  ),
}

/** The members among these logins in lower case, host ids, or HMACs of addresses. */
export const findMembersBy = async <Given extends string | number>(
  db: Db,
  workspaceId: string,
  by: keyof typeof FIND_MEMBERS,
  given: Given[],
): Promise<Map<Given, FoundMember>> => {
  if (given.length === 0) return new Map()
  const rows = await db.rows(FIND_MEMBERS[by], [workspaceId, given])
  return new Map(rows.map(({ n, ...member }) => [given[n - 1] as Given, member]))
}

/** The user of each login, or null for people who aren't members. */
export const findMembers = async (
  db: Db,
  workspaceId: string,
  logins: string[],
): Promise<(string | null)[]> => {
  const keys = logins.map((login) => login.toLowerCase())
  const found = await findMembersBy(db, workspaceId, 'login', keys)
  return keys.map((key) => found.get(key)?.userId ?? null)
}

/** SQL: whether a repository matches a pattern of the workspace $1. */
const matchesPattern = (path: string) => {
  const repoKey = `split_part(${path}, '/', -1)`
  return `exists (
      select from patterns p
      where p.workspace_id = $1::uuid and ${patternMatches('p', `left(${path}, -1 - length(${repoKey}))`, repoKey)}
    )`
}

const READ_PATTERN_LENGTH = statement(
  'read pattern comparison cost',
  { characters: double },
  `
  select coalesce(max(characters), 0)::float8 as characters
  from (
    select sum(${COMPARISON_COST} + least(octet_length(repo_key), ${limits.repo_length})) as characters
    from patterns
    where workspace_id = $1::uuid and not exact
    group by owner_key
  ) owners`,
)

/** The total length of the patterns that a repository is compared with, for the owner with the most. */
export const readPatternLength = async (db: Db, workspaceId: string): Promise<number> =>
  singleRow(await db.rows(READ_PATTERN_LENGTH, [workspaceId])).characters

/** $1: the workspace; $2: repositories as given. */
const INSERT_MATCHING_REPOS = statement(
  'insert matching repository names',
  {},
  `
  insert into activity_repos (workspace_id, repo_key, repo)
  select $1::uuid, lower(r.repo), r.repo
  from unnest($2::text[]) as r (repo)
  where ${matchesPattern('lower(r.repo)')}
  order by lower(r.repo) collate "C"
  on conflict do nothing`,
)

/** Whether a repository, named in lower case, matches one of a workspace's patterns. */
export const matchesPatterns = async (db: Db, workspaceId: string, repoKey: string): Promise<boolean> =>
  (await db.rows(LIST_OUTSIDE, [workspaceId, [repoKey]])).length === 0

/**
 * Registers repositories that get their first activity. Flushes do this before they write activity. An upload that did
 * it after writing counts could deadlock with one.
 */
export const insertMatchingRepos = async (tx: Db, workspaceId: string, repos: string[]): Promise<void> => {
  await tx.rows(INSERT_MATCHING_REPOS, [workspaceId, repos])
}

/** $1: the workspace; $2: repositories as given. */
const LIST_OUTSIDE = statement(
  'list repositories outside patterns',
  { repoKey: text },
  `
  select r.repo_key as "repoKey"
  from (select distinct lower(r.repo) as repo_key from unnest($2::text[]) as r (repo)) r
  where not ${matchesPattern('r.repo_key')}`,
)

/** SQL: the counts of members. $1: users (null: no member); $2 to $4: positions of members, repositories and counts. */
const POSTED_COUNTS = `
    unnest($2::int[], $3::text[], $4::int[]) with ordinality as g (member, repo, count, n)
    join unnest($1::uuid[]) with ordinality as u (user_id, n) on u.n = g.member and u.user_id is not null`

/** $1 to $4: see `POSTED_COUNTS`; $5, $6: workspace and day. */
const LIST_RESET_COUNTS = statement(
  'list counts reset to zero',
  { n: integer },
  `
  select g.n::int
  from ${POSTED_COUNTS}
  join daily_activity a on a.workspace_id = $5::uuid and a.user_id = u.user_id and a.day = $6::date
    and a.repo_key = lower(g.repo)
  where g.count = 0`,
)

/**
 * $1 to $4: see `POSTED_COUNTS`; $5, $6: workspace and day; $7: repositories that are left out; $8: positions of the counts
 * of 0 that are stored. The last `where` leaves out unchanged counts, so they aren't returned.
 */
const setCounts = (column: CountName) =>
  statement(
    `update ${column}`,
    { changed: integer },
    `
  insert into daily_activity as a (workspace_id, user_id, day, repo_key, ${column}, ${column}_uploaded)
  select $5::uuid, u.user_id, $6::date, lower(g.repo), g.count, true
  from ${POSTED_COUNTS}
  where lower(g.repo) not in (select unnest($7::text[])) and (g.count > 0 or g.n in (select unnest($8::int[])))
  order by g.n
  on conflict (workspace_id, user_id, day, repo_key) do update set
    ${column} = excluded.${column}, ${column}_uploaded = true
  where a.${column} <> excluded.${column}
  returning 1 as changed`,
  )

const SET_COUNTS = perCount(setCounts)

/**
 * $1 to $4: see `POSTED_COUNTS`; $5, $6: workspace and day; $7: repositories that are left out. Counts of 0 are kept as well: a
 * webhook must not change them.
 */
const claimCounts = (column: CountName) =>
  statement(
    `claim ${column} for upload`,
    {},
    `
  insert into daily_activity as a (workspace_id, user_id, day, repo_key, ${column}_uploaded)
  select $5::uuid, u.user_id, $6::date, lower(g.repo), true
  from ${POSTED_COUNTS}
  where lower(g.repo) not in (select unnest($7::text[]))
  order by g.n
  on conflict (workspace_id, user_id, day, repo_key) do update set ${column}_uploaded = true
  where a.${column}_uploaded is distinct from true`,
  )

const CLAIM_COUNTS = perCount(claimCounts)

const HAS_REPORTS = statement(
  'check whether webhooks report counts',
  { hasReports: bool },
  `
  select exists (select from webhooks where workspace_id = $1::uuid)
    or exists (select from reported_commits where workspace_id = $1::uuid)
    or exists (select from reported_issues where workspace_id = $1::uuid) as "hasReports"`,
)

/** Whether the workspace has or had a webhook. If so, an upload has to mark the counts it sets. */
export const hasReports = async (tx: Db, workspaceId: string): Promise<boolean> =>
  singleRow(await tx.rows(HAS_REPORTS, [workspaceId])).hasReports

/** $1 to $4: see `POSTED_COUNTS`; $5: logins; $6: repositories that are left out. */
const LIST_SKIPPED = statement(
  'list excluded counts',
  { rows: integer, skipped: orNull(text) },
  `
  select count(*)::int as rows,
    string_agg(
      json_build_object('login', l.login, 'repo', g.repo, 'code', 'repo_outside_patterns')::text, ',' order by g.n
    ) as skipped
  from ${POSTED_COUNTS}
  join unnest($5::text[]) with ordinality as l (login, n) on l.n = g.member
  where lower(g.repo) in (select unnest($6::text[]))`,
)

export interface CountsTarget {
  workspaceId: string
  day: string
  userIds: (string | null)[]
  logins: string[]
  hasReports: boolean
}

export interface CountsWritten {
  upserted: number
  /** Entries of members outside the patterns. */
  outside: number
  /** The latter, as the elements of a JSON array. */
  skipped: string | null
}

/** People and repositories must already be registered. */
export const writeCounts = async (
  tx: Db,
  kind: CountName,
  { workspaceId, day, userIds, logins, hasReports }: CountsTarget,
  { members, repos, counts }: CountBatch,
): Promise<CountsWritten> => {
  const given = [userIds, members, repos, counts]
  const [outside, takenBack] = await Promise.all([
    tx.rows(LIST_OUTSIDE, [workspaceId, repos]),
    tx.rows(LIST_RESET_COUNTS, [...given, workspaceId, day]),
  ])
  const outsideKeys = outside.map(({ repoKey }) => repoKey)
  const positions = takenBack.map(({ n }) => n)
  // First, so that rows are locked in their order, whether or not they change.
  if (hasReports) await tx.rows(CLAIM_COUNTS[kind], [...given, workspaceId, day, outsideKeys])
  const changed = await tx.rows(SET_COUNTS[kind], [...given, workspaceId, day, outsideKeys, positions])
  if (outside.length === 0) return { upserted: changed.length, outside: 0, skipped: null }
  const [left] = await tx.rows(LIST_SKIPPED, [...given, logins, outsideKeys])
  return { upserted: changed.length, outside: left?.rows ?? 0, skipped: left?.skipped ?? null }
}
