/** Daily counts of commits and closed issues: absolute numbers, sent whole and as often as one likes. */
import type { Db } from '../db/client.js'
import type { ArrayLiteral, CountBatch } from '../domain/count-batches.js'
import { patternMatches } from './repo-access.js'

export type CountKind = 'commits' | 'closed_issues'

/** $1: the workspace; $2: logins in lower case. */
const FIND_MEMBERS = `
  select l.n::int, m.user_id as "userId"
  from unnest($2::text[]) with ordinality as l (login_key, n)
  join users u on u.login_key = l.login_key
  join members m on m.workspace_id = $1::uuid and m.user_id = u.id`

/** The user of each login, null for who is no member. */
export const findMembers = async (
  db: Db,
  workspaceId: string,
  logins: string[],
): Promise<(string | null)[]> => {
  const keys = logins.map((login) => login.toLowerCase())
  const rows = await db.statement<{ n: number; userId: string }>(FIND_MEMBERS, [workspaceId, keys])
  const found = new Map(rows.map(({ n, userId }) => [n, userId]))
  return logins.map((_, index) => found.get(index + 1) ?? null)
}

/** SQL: the rows of members. $2: users (null: no member); $3 to $5: positions of members, repositories and counts. */
const GIVEN = `
    unnest($3::int[], $4::text[], $5::int[]) with ordinality as g (member, repo, count, n)
    join unnest($2::uuid[]) with ordinality as u (user_id, n) on u.n = g.member and u.user_id is not null`

/** SQL: whether a repository is inside the patterns of the workspace $1. */
const inside = (repoKey: string) => `exists (
      select from patterns p
      where p.workspace_id = $1::uuid and ${patternMatches('p', `split_part(${repoKey}, '/', 1)`, `split_part(${repoKey}, '/', 2)`)}
    )`

/** $2: repositories in lower case. */
const HAS_NAMELESS = `
  select exists (
    select from unnest($2::text[]) as k (repo_key)
    where not exists (
      select from activity_repos r where r.workspace_id = $1::uuid and r.repo_key = k.repo_key
    ) and ${inside('k.repo_key')}
  ) as nameless`

/** Whether there is a repository inside the patterns that has no activity yet. */
export const hasNameless = async (tx: Db, workspaceId: string, repoKeys: ArrayLiteral): Promise<boolean> => {
  const [row] = await tx.statement<{ nameless: boolean }>(HAS_NAMELESS, [workspaceId, textOf(repoKeys)])
  return row?.nameless === true
}

const textOf = ({ buffer, byteOffset, byteLength }: ArrayLiteral) =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1')

/** $1: the workspace; the others: see `GIVEN`. */
const NAME_REPOS = `
  with asked as (
    select distinct on (lower(g.repo) collate "C") lower(g.repo) as repo_key, g.repo
    from ${GIVEN}
    where g.count > 0
    order by lower(g.repo) collate "C", g.n
  )
  insert into activity_repos (workspace_id, repo_key, repo)
  select $1::uuid, a.repo_key, a.repo from asked a
  where not exists (
    select from activity_repos r where r.workspace_id = $1::uuid and r.repo_key = a.repo_key
  ) and ${inside('a.repo_key')}
  order by a.repo_key collate "C"
  on conflict do nothing`

/**
 * $1: the workspace; $6, $7: day and logins; the others: see `GIVEN`. A 0 where there is nothing is not stored; what `where`
 * leaves out of the update has not changed.
 */
const writeCounts = (column: CountKind) => `
  with given as materialized (
    select u.user_id, l.login, g.repo, lower(g.repo) as repo_key, g.count, g.n
    from ${GIVEN}
    join unnest($7::text[]) with ordinality as l (login, n) on l.n = g.member
  ), inside as materialized (
    select r.repo_key from (select distinct repo_key from given) r where ${inside('r.repo_key')}
  ), rows as materialized (
    select g.* from given g join inside i on i.repo_key = g.repo_key
  ), written as (
    insert into activity as a (workspace_id, user_id, day, repo_key, ${column})
    select $1::uuid, r.user_id, $6::text::date, r.repo_key, r.count from rows r
    where r.count > 0 or exists (
      select from activity x
      where x.workspace_id = $1::uuid and x.user_id = r.user_id and x.day = $6::text::date and x.repo_key = r.repo_key
    )
    order by r.n
    on conflict (workspace_id, user_id, day, repo_key) do update set ${column} = excluded.${column}
    where a.${column} <> excluded.${column}
    returning 1
  ), marked as (
    insert into stale_days (workspace_id, day)
    select $1::uuid, $6::text::date where exists (select from written)
  )
  select (select count(*) from rows)::int as rows, (select count(*) from written)::int as upserted,
    (
      select string_agg(json_build_object('login', g.login, 'repo', g.repo, 'code', 'repo_outside_patterns')::text, ','
        order by g.n)
      from given g where not exists (select from inside i where i.repo_key = g.repo_key)
    ) as skipped`

const statements = { commits: writeCounts('commits'), closed_issues: writeCounts('closed_issues') }

export interface CountsWritten {
  /** How many are of members and inside the patterns. */
  rows: number
  upserted: number
  /** The others of members, as the elements of a JSON array. */
  skipped: string | null
}

interface CountsTarget {
  workspaceId: string
  day: string
  userIds: (string | null)[]
  logins: string[]
}

/** Of `GIVEN`. */
const parametersOf = ({ workspaceId, userIds }: CountsTarget, { members, repos, counts }: CountBatch) => [
  workspaceId,
  userIds,
  textOf(members),
  textOf(repos),
  textOf(counts),
]

/**
 * Names the repositories that get their first activity. A flush does so before it writes activity: an upload that would
 * name some after it has written counts could wait for a flush that waits for it.
 */
export const nameRepos = async (tx: Db, target: CountsTarget, batch: CountBatch): Promise<void> => {
  await tx.statement(NAME_REPOS, parametersOf(target, batch))
}

/** Their repositories have names already. */
export const upsertCounts = async (
  tx: Db,
  kind: CountKind,
  target: CountsTarget,
  batch: CountBatch,
): Promise<CountsWritten> => {
  const { day, logins } = target
  const parameters = [...parametersOf(target, batch), day, logins]
  const [written] = await tx.statement<CountsWritten>(statements[kind], parameters)
  if (!written) throw new Error('The upsert of counts says nothing')
  return written
}
