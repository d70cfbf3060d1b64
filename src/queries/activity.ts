/** Active minutes and daily counts, as they are recorded. What is read in bulk comes from the rollups (`dashboard.ts`). */
import type { Database, Db } from '../db/client.js'
import { HOURS } from '../domain/days.js'
import type { RepoMinutes } from '../domain/minutes.js'
import { patternMatches } from './repo-access.js'

/** SQL: the hours of `activity a`; what has lost its hours may get new ones. */
const HOURS_OF = `coalesce(a.hours, '\\x${'00'.repeat(HOURS)}')`

/** SQL: their sums in hexadecimal. */
const HEX_SUMS_OF_HOURS = Array.from(
  { length: HOURS },
  (_, hour) => `lpad(to_hex(least(255, sum(get_byte(${HOURS_OF}, ${hour})))::int), 2, '0')`,
).join(' || ')

/**
 * All that a flush depends on, as of one moment, or what is known of its id. $1: the caller; $2, $3: owners and repos;
 * $4: days; $5: flush id or null; $6, $7: the days and repositories (`owner/repo`) of the entries.
 *
 * All matching workspaces, and not the best one as for settings; what the caller's own login owns counts only where the
 * caller is admin, because another workspace's admins can claim any name. `xmin`, which PostgreSQL changes with every
 * update of a row, tells whether the membership has been written since. A line for each day in a workspace, because
 * parsing hundreds of rows costs more than the rest of a flush. What the member has in other repositories on a day is
 * added up under the empty name, so that a flush costs what it brings and not what is there.
 */
export const READ_FLUSH = `
  with asked as (
    select owner_key, repo_key, n::int from unnest($2::text[], $3::text[]) with ordinality as a (owner_key, repo_key, n)
  ), matches as materialized (
    select m.workspace_id, m.xmin::text as version, string_agg(a.n::text, ',') as asked
    from users u join members m on m.user_id = u.id cross join asked a
    where u.id = $1::uuid and (a.owner_key <> u.login_key or m.role = 'admin') and exists (
      select from patterns p
      where p.workspace_id = m.workspace_id and ${patternMatches('p', 'a.owner_key', 'a.repo_key')}
    )
    group by m.workspace_id, m.xmin::text
  ), entries as materialized (
    select distinct e.day::date, e.repo_key from unnest($6::text[], $7::text[]) as e (day, repo_key)
  )
  select (now() at time zone 'UTC')::date as today, u.timezone, f.body_hash as "bodyHash", f.answer,
    k.workspace_id as "workspaceId", k.version, k.asked, d.day, d.repo_keys as "repoKeys", d.minutes, d.hours
  from users u
  left join flushes f on f.user_id = u.id and f.flush_id = $5::text
  left join matches k on f.user_id is null
  left join lateral (
    select r.day, string_agg(r.repo_key, ',') as repo_keys, string_agg(r.minutes::text, ',') as minutes,
      string_agg(r.hours, '') as hours
    from (
      select a.day, a.repo_key, a.minutes::int, encode(${HOURS_OF}, 'hex') as hours
      from activity a join entries e on e.day = a.day and e.repo_key = a.repo_key
      where a.workspace_id = k.workspace_id and a.user_id = u.id and a.day = any($4::text[]::date[]) and a.minutes > 0
      union all
      select a.day, '', sum(a.minutes)::int, ${HEX_SUMS_OF_HOURS}
      from activity a
      where a.workspace_id = k.workspace_id and a.user_id = u.id and a.day = any($4::text[]::date[]) and a.minutes > 0
        and not exists (select from entries e where e.day = a.day and e.repo_key = a.repo_key)
      group by a.day
    ) r
    group by r.day
  ) d on true
  where u.id = $1::uuid`

export interface FlushTarget {
  /** By the database's clock. */
  today: string
  timezone: string | null
  /** What was counted with this flush id. */
  known?: { bodyHash: string; answer: string }
  /** All that match. */
  workspaces: MatchingWorkspace[]
}

export interface MatchingWorkspace {
  id: string
  /** Of the membership. */
  version: string
  /** Those of the repositories asked for, lower case, that match. */
  repoKeys: string[]
  /** What the member has, by day and by `owner/repo` in lower case; under the empty name, all that no entry is about. */
  days: Map<string, Map<string, RepoMinutes>>
}

/** @param entries with `owner/repo` in lower case @returns undefined when the caller is not in the database */
export const readFlushTarget = async (
  db: Db,
  userId: string,
  entries: { day: string; repoKey: string }[],
  flushId: string | undefined,
): Promise<FlushTarget | undefined> => {
  type Row = {
    today: string
    timezone: string | null
    /** Both null without a flush of this id. */
    bodyHash: string | null
    answer: string
    workspaceId: string | null
    /** These two are null without a workspace, as are the last three without a day. */
    version: string
    asked: string
    day: string | null
    repoKeys: string
    minutes: string
    hours: string
  }
  const repoKeys = [...new Set(entries.map(({ repoKey }) => repoKey))]
  const names = repoKeys.map((repoKey) => repoKey.split('/'))
  const rows = await db.statement<Row>(READ_FLUSH, [
    userId,
    names.map(([owner = '']) => owner),
    names.map(([, repo = '']) => repo),
    [...new Set(entries.map(({ day }) => day))],
    flushId ?? null,
    entries.map(({ day }) => day),
    entries.map(({ repoKey }) => repoKey),
  ])
  const [first] = rows
  if (!first) return undefined
  const { today, timezone, bodyHash, answer } = first
  const workspaces = new Map<string, MatchingWorkspace>()
  for (const { workspaceId: id, version, asked, day, ...known } of rows) {
    if (id === null) continue
    let workspace = workspaces.get(id)
    if (!workspace) {
      workspace = {
        id,
        version,
        repoKeys: asked.split(',').map((n) => repoKeys[Number(n) - 1] ?? ''),
        days: new Map(),
      }
      workspaces.set(id, workspace)
    }
    if (day !== null) workspace.days.set(day, toRepos(known.repoKeys, known.minutes, known.hours))
  }
  return {
    today,
    timezone,
    ...(bodyHash !== null && { known: { bodyHash, answer } }),
    workspaces: [...workspaces.values()],
  }
}

const toRepos = (repoKeys: string, minutes: string, hours: string): Map<string, RepoMinutes> => {
  const counts = minutes.split(',')
  const bytes = Buffer.from(hours, 'hex')
  return new Map(
    repoKeys
      .split(',')
      .map((repoKey, index) => [
        repoKey,
        { minutes: Number(counts[index]), hours: bytes.subarray(index * HOURS, (index + 1) * HOURS) },
      ]),
  )
}

const LOCK_MEMBERSHIPS = `
  select workspace_id as "workspaceId" from members where user_id = $1::uuid
  order by workspace_id
  for no key update`

/** Keeps the user's other flushes waiting until the transaction ends. @returns the workspaces */
export const lockMemberships = async (tx: Db, userId: string): Promise<Set<string>> => {
  const rows = await tx.statement<{ workspaceId: string }>(LOCK_MEMBERSHIPS, [userId])
  return new Set(rows.map(({ workspaceId }) => workspaceId))
}

/**
 * Writes a flush in one statement, or nothing when what it was made from no longer holds: a membership has another
 * version (or is gone), or the flush id is taken. $1: the user; $2, $3: the workspaces that get minutes and the versions
 * of the memberships; $4 to $8: workspaces, days, and of each day the repositories (as given), their minutes and their hours in
 * hexadecimal; $9 to $11: flush id (or null), hash of the body and answer.
 *
 * Writers who meet wait and do not lock each other out: the rows are sorted, and repositories are named before there is
 * activity in them, which `named` in the making of `written` sees to.
 */
export const WRITE_FLUSH = `
  with held as materialized (
    select m.workspace_id
    from unnest($2::uuid[], $3::text[]) as v (workspace_id, version)
    join members m on m.workspace_id = v.workspace_id and m.user_id = $1::uuid and m.xmin::text = v.version
    order by m.workspace_id
    for no key update of m
  ), claimed as (
    insert into flushes (user_id, flush_id, body_hash, answer)
    select $1::uuid, $9::text, $10::text, $11::text
    where $9::text is not null and (select count(*) from held) = cardinality($2::uuid[])
    on conflict do nothing
    returning 1
  ), outcome as materialized (
    select (select count(*) from held) = cardinality($2::uuid[])
      and ($9::text is null or exists (select from claimed)) as written
  ), versioned as (
    update members set role = role
    where user_id = $1::uuid and workspace_id in (select workspace_id from held) and (select written from outcome)
  ), days as materialized (
    select d.workspace_id, d.day::date, d.repos, d.minutes, decode(d.hours, 'hex') as hours
    from unnest($4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[]) as d (workspace_id, day, repos, minutes, hours)
    where (select written from outcome)
  ), given as materialized (
    select d.workspace_id, d.day, lower(r.repo) as repo_key, r.repo, r.minutes,
      substring(d.hours from ${HOURS} * (r.n::int - 1) + 1 for ${HOURS}) as hours
    from days d cross join lateral
      unnest(string_to_array(d.repos, ','), string_to_array(d.minutes, ',')::int[]) with ordinality as r (repo, minutes, n)
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
  ), marked as (
    insert into stale_days (workspace_id, day) select workspace_id, day from days
  )
  select written from outcome`

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

/** What changes on a member's day in a workspace. */
export interface FlushDay {
  workspaceId: string
  day: string
  /** By `owner/repo` as given: the new totals. */
  repos: Map<string, RepoMinutes>
}

/** Stores the new totals of a member's days, each named once, and the answer. @returns false when it has to be done anew */
export const writeFlush = async (
  db: Db,
  userId: string,
  /** Of the days. */
  workspaces: Pick<MatchingWorkspace, 'id' | 'version'>[],
  days: FlushDay[],
  flush: { id: string | undefined; bodyHash: string; answer: string },
): Promise<boolean> => {
  const [outcome] = await db.statement<{ written: boolean }>(WRITE_FLUSH, [
    userId,
    workspaces.map(({ id }) => id),
    workspaces.map(({ version }) => version),
    days.map(({ workspaceId }) => workspaceId),
    days.map(({ day }) => day),
    days.map(({ repos }) => [...repos.keys()].join()),
    days.map(({ repos }) => Array.from(repos.values(), ({ minutes }) => minutes).join()),
    days.map(({ repos }) => Buffer.concat(Array.from(repos.values(), ({ hours }) => hours)).toString('hex')),
    flush.id ?? null,
    flush.bodyHash,
    flush.answer,
  ])
  return outcome?.written === true
}

/** Remembers the time zone in which the user's hours are drawn. */
export const changeTimezone = async (tx: Db, userId: string, timezone: string): Promise<void> => {
  await tx.statement(CHANGE_ZONE, [userId, timezone])
}

/** SQL: what the user $1 has from $2 to $3 in the workspaces that the user is in. */
const OWN = `
    a.workspace_id = m.workspace_id and a.user_id = m.user_id and a.day between $2::text::date and $3::text::date
    and a.minutes > 0`

const COUNT_MINUTES = `
  select a.day, count(*)::int as rows
  from members m join activity a on ${OWN}
  where m.user_id = $1::uuid
  group by a.day
  order by a.day`

/** How many repositories each day has; days without any are not there. */
export const countOwnMinutes = (
  database: Database,
  userId: string,
  from: string,
  to: string,
): Promise<{ day: string; rows: number }[]> =>
  database.read.statement<{ day: string; rows: number }>(COUNT_MINUTES, [userId, from, to])

/** Made here as text, because hundreds of thousands of rows would cost the service more than the database. */
const listMinutes = (join: 'join' | 'left join') => `
  select a.day, '{"workspace_id":"' || w.id || '","name":' || to_json(w.name)
    || ',"minutes":' || coalesce(sum(a.minutes), 0)
    || ',"repos":[' || coalesce(string_agg('{"repo":' || to_json(r.repo) || ',"minutes":' || a.minutes || '}', ','
      order by a.minutes desc, a.repo_key), '') || ']}' as workspace
  from members m
  join workspaces w on w.id = m.workspace_id
  ${join} (activity a join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key) on ${OWN}
  where m.user_id = $1::uuid
  group by a.day, w.id
  order by a.day, w.created_at, w.id`

const LIST_MINUTES = listMinutes('join')
const LIST_MINUTES_OF_ALL = listMinutes('left join')

/** As a `WorkspaceMinutes` in JSON. */
export interface OwnMinutes {
  day: string
  workspace: string
}

/** A user's minutes by day and workspace, older workspaces first. */
export const listOwnMinutes = (
  database: Database,
  userId: string,
  from: string,
  to: string,
): Promise<OwnMinutes[]> => database.read.statement<OwnMinutes>(LIST_MINUTES, [userId, from, to])

/** Those of one day, also of the workspaces without any. */
export const listOwnMinutesOfAll = (
  database: Database,
  userId: string,
  day: string,
): Promise<Pick<OwnMinutes, 'workspace'>[]> =>
  database.read.statement<OwnMinutes>(LIST_MINUTES_OF_ALL, [userId, day, day])

const READ_TODAY = `select (now() at time zone 'UTC')::date as today`

/** The UTC day by the database's clock, which all instances share. */
export const readToday = async (database: Database): Promise<string> => {
  const [row] = await database.hot.statement<{ today: string }>(READ_TODAY, [])
  if (!row) throw new Error('The database has no clock')
  return row.today
}
