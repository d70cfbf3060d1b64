/** Active minutes and daily counts, as they are recorded. What is read in bulk comes from the rollups (`dashboard.ts`). */
import type { Database, Db } from '../db/client.js'
import type { RepoMinutes } from '../domain/minutes.js'
import { patternMatches } from './repo-access.js'

/**
 * $1: the caller; $2, $3: owners and repos. All matching workspaces, and not the best one as for settings; what the
 * caller's own login owns counts only where the caller is admin, because another workspace's admins can claim any name.
 * The memberships stay locked, in one order for everybody, so that flushes of one member come one after the other and
 * the member cannot leave meanwhile.
 */
export const LOCK_MATCHES = `
  with asked as (
    select owner_key, repo_key, n::int from unnest($2::text[], $3::text[]) with ordinality as a (owner_key, repo_key, n)
  ), matches as materialized (
    select a.n, a.owner_key, m.workspace_id
    from members m cross join asked a
    where m.user_id = $1::uuid and exists (
      select from patterns p
      where p.workspace_id = m.workspace_id and ${patternMatches('p', 'a.owner_key', 'a.repo_key')}
    )
  ), locked as materialized (
    select workspace_id, role from members
    where user_id = $1::uuid and workspace_id in (select workspace_id from matches)
    order by workspace_id
    for no key update
  )
  select (now() at time zone 'UTC')::date as today, u.timezone, k.n, k.workspace_id as "workspaceId"
  from users u
  left join (
    select matches.n, matches.owner_key, locked.workspace_id, locked.role
    from matches join locked on locked.workspace_id = matches.workspace_id
  ) k on k.owner_key <> u.login_key or k.role = 'admin'
  where u.id = $1::uuid
  order by k.n, k.workspace_id`

export interface FlushTarget {
  /** By the database's clock. */
  today: string
  timezone: string | null
  /** The workspaces that get the minutes of each repository. */
  workspacesOf: Map<string, string[]>
}

/** @param repoKeys `owner/repo`, lower case @returns undefined when the caller is not in the database */
export const lockMatchingWorkspaces = async (
  tx: Db,
  userId: string,
  repoKeys: string[],
): Promise<FlushTarget | undefined> => {
  type Row = { today: string; timezone: string | null; n: number | null; workspaceId: string | null }
  const names = repoKeys.map((repoKey) => repoKey.split('/'))
  const rows = await tx.statement<Row>(LOCK_MATCHES, [
    userId,
    names.map(([owner = '']) => owner),
    names.map(([, repo = '']) => repo),
  ])
  const [first] = rows
  if (!first) return undefined
  const workspacesOf = new Map<string, string[]>(repoKeys.map((repoKey) => [repoKey, []]))
  for (const { n, workspaceId } of rows) {
    if (n !== null && workspaceId !== null) workspacesOf.get(repoKeys[n - 1] ?? '')?.push(workspaceId)
  }
  return { today: first.today, timezone: first.timezone, workspacesOf }
}

const HOURS = 24
/** SQL: what has lost its hours may get new ones. */
const NO_HOURS = `\\x${'00'.repeat(HOURS)}`

/** $1: the user; $2: days. A line for each day in a workspace, because parsing hundreds of rows costs more than the rest of a flush. */
export const READ_MINUTES = `
  select a.workspace_id as "workspaceId", a.day, string_agg(a.repo_key, ',') as "repoKeys",
    string_agg(a.minutes::text, ',') as minutes, encode(string_agg(coalesce(a.hours, '${NO_HOURS}'), ''), 'hex') as hours
  from activity a
  where a.workspace_id = any(array(select workspace_id from members where user_id = $1::uuid))
    and a.user_id = $1::uuid and a.day = any($2::text[]::date[]) and a.minutes > 0
  group by a.workspace_id, a.day`

export interface DayMinutes {
  workspaceId: string
  day: string
  /** By `owner/repo`, lower case. */
  repos: Map<string, RepoMinutes>
}

/** What the member has on these days in all workspaces. */
export const readMemberMinutes = async (tx: Db, userId: string, days: string[]): Promise<DayMinutes[]> => {
  type Row = { workspaceId: string; day: string; repoKeys: string; minutes: string; hours: string }
  const rows = await tx.statement<Row>(READ_MINUTES, [userId, days])
  return rows.map(({ workspaceId, day, ...row }) => {
    const minutes = row.minutes.split(',')
    const hours = Buffer.from(row.hours, 'hex')
    const repos = row.repoKeys
      .split(',')
      .map((repoKey, index): [string, RepoMinutes] => [
        repoKey,
        { minutes: Number(minutes[index]), hours: hours.subarray(index * HOURS, (index + 1) * HOURS) },
      ])
    return { workspaceId, day, repos: new Map(repos) }
  })
}

/**
 * $1: the user; $2 to $6: workspaces, days, repositories (as given), minutes, hours in hexadecimal; $7, $8: flush id (or
 * null) and answer. Writers who meet wait and do not lock each other out: the rows are sorted, and repositories are named
 * before there is activity in them, which `named` in the making of `written` sees to.
 */
export const WRITE_FLUSH = `
  with given as materialized (
    select g.workspace_id, g.day::date, lower(g.repo) as repo_key, g.repo, g.minutes, decode(g.hours, 'hex') as hours
    from unnest($2::uuid[], $3::text[], $4::text[], $5::int[], $6::text[]) as g (workspace_id, day, repo, minutes, hours)
  ), named as (
    insert into activity_repos (workspace_id, repo_key, repo)
    select distinct on (g.workspace_id, g.repo_key collate "C") g.workspace_id, g.repo_key, g.repo from given g
    where not exists (
      select from activity_repos r where r.workspace_id = g.workspace_id and r.repo_key = g.repo_key
    )
    order by g.workspace_id, g.repo_key collate "C"
    on conflict do nothing
    returning 1
  ), written as (
    insert into activity (workspace_id, user_id, day, repo_key, minutes, hours)
    select workspace_id, $1::uuid, day, repo_key, minutes, hours from given
    where (select count(*) from named) >= 0
    order by workspace_id, day, repo_key collate "C"
    on conflict (workspace_id, user_id, day, repo_key) do update set minutes = excluded.minutes, hours = excluded.hours
  ), answered as (
    update flushes set answer = $8::text where user_id = $1::uuid and flush_id = $7::text
  )
  insert into stale_days (workspace_id, day) select distinct workspace_id, day from given`

/**
 * $1: the user; $2: the zone. It moves what the heatmap shows of the user's days, also in workspaces that the user has
 * left: those are held here, because nothing else keeps them from going away.
 */
const CHANGE_ZONE = `
  with zoned as (
    update users set timezone = $2::text where id = $1::uuid
  )
  insert into stale_days (workspace_id, day)
  select distinct workspace_id, day from activity
  where hours is not null and user_id = $1::uuid and workspace_id in (
    select id from workspaces
    where deleted_at is null and id in (
      select workspace_id from members where user_id = $1::uuid
      union select workspace_id from activity_people where user_id = $1::uuid
    )
    order by id for key share
  )`

export interface FlushRow extends RepoMinutes {
  workspaceId: string
  day: string
  /** `owner/repo` as given. */
  repo: string
}

/** Stores the new totals of a member's days, and the answer. */
export const writeFlush = async (
  tx: Db,
  userId: string,
  rows: FlushRow[],
  flushId: string | undefined,
  answer: string,
): Promise<void> => {
  await tx.statement(WRITE_FLUSH, [
    userId,
    rows.map((row) => row.workspaceId),
    rows.map((row) => row.day),
    rows.map((row) => row.repo),
    rows.map((row) => row.minutes),
    rows.map(({ hours }) => Buffer.from(hours.buffer, hours.byteOffset, hours.byteLength).toString('hex')),
    flushId ?? null,
    answer,
  ])
}

/** Remembers the time zone in which the user's hours are drawn. */
export const changeTimezone = async (tx: Db, userId: string, timezone: string): Promise<void> => {
  await tx.statement(CHANGE_ZONE, [userId, timezone])
}

/** $1: the user; $2, $3: the first and the last day. */
const LIST_MINUTES = `
  select a.day, a.workspace_id as "workspaceId", r.repo, a.minutes
  from members m
  join activity a on a.workspace_id = m.workspace_id and a.user_id = m.user_id
  join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key
  where m.user_id = $1::uuid and a.day between $2::text::date and $3::text::date and a.minutes > 0
  order by a.day, a.minutes desc, a.repo_key`

export interface OwnMinutes {
  day: string
  workspaceId: string
  repo: string
  minutes: number
}

/** A user's minutes in the workspaces that the user is in. */
export const listOwnMinutes = (
  database: Database,
  userId: string,
  from: string,
  to: string,
): Promise<OwnMinutes[]> => database.db.statement<OwnMinutes>(LIST_MINUTES, [userId, from, to])

const READ_TODAY = `select (now() at time zone 'UTC')::date as today`

/** The UTC day by the database's clock, which all instances share. */
export const readToday = async (database: Database): Promise<string> => {
  const [row] = await database.query<{ today: string }>(READ_TODAY, [])
  if (!row) throw new Error('The database has no clock')
  return row.today
}
