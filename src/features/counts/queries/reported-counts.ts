/** Counts that the repository host reports: commits and issues, each of which counts once. */
import { type CountName, perCount } from '../../../../schemas/counts.js'
import type { Db } from '../../../platform/database/client.js'
import { lockOfWorkspace, locksOfWorkspaces } from '../../../platform/database/locks.js'
import {
  bool,
  date,
  integer,
  moment,
  orNull,
  singleRow,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'
import { DELETED_USER } from '../../accounts/index.js'

/** A workspace's repository. */
export interface ReportedRepo {
  workspaceId: string
  /** The original spelling. */
  repo: string
  repoKey: string
}

const LOCK_COMMITS = lockOfWorkspace('lock workspace commits', locksOfWorkspaces.commits)

/** Until the transaction ends, no other delivery to the workspace records commits. */
export const lockCommits = async (tx: Db, workspaceId: string): Promise<void> => {
  await tx.rows(LOCK_COMMITS, [workspaceId])
}

/** $1, $2: workspace and repository; per commit: $3 hash, $4 day. */
const RECORD_COMMITS = statement(
  'record reported commits',
  { hash: text },
  `
  insert into reported_commits (workspace_id, repo_key, hash, day)
  select $1::uuid, $2::text, c.hash, c.day
  from unnest($3::text[], $4::date[]) as c (hash, day)
  where not exists (select 1 from reported_commits r where r.workspace_id = $1::uuid and r.hash = c.hash)
  order by c.hash collate "C"
  on conflict do nothing
  returning hash`,
)

/** The commits must be locked. @returns the hashes that are new to the workspace */
export const recordCommits = async (
  tx: Db,
  { workspaceId, repoKey }: ReportedRepo,
  commits: { hash: string; day: string }[],
): Promise<Set<string>> => {
  const rows = await tx.rows(RECORD_COMMITS, [
    workspaceId,
    repoKey,
    commits.map(({ hash }) => hash),
    commits.map(({ day }) => day),
  ])
  return new Set(rows.map(({ hash }) => hash))
}

/** SQL: whether no upload has set the count. */
const isReported = (column: CountName) =>
  `(a.${column}_uploaded = false or (a.${column}_uploaded is null and a.${column} = 0))`

/** $1, $2: workspace and repository; per count: $3 user, $4 day, $5 how much more. */
const addCounts = (column: CountName) =>
  statement(
    `add reported ${column}`,
    { userId: uuid, day: date },
    `
  insert into daily_activity as a (workspace_id, user_id, day, repo_key, ${column}, ${column}_uploaded)
  select $1::uuid, c.user_id, c.day, $2::text, c.more, false
  from unnest($3::uuid[], $4::date[], $5::int[]) with ordinality as c (user_id, day, more, n)
  order by c.n
  on conflict (workspace_id, user_id, day, repo_key) do update set
    ${column} = a.${column} + excluded.${column}, ${column}_uploaded = false
  where ${isReported(column)}
  returning user_id as "userId", day`,
  )

const ADD_COUNTS = perCount(addCounts)

export interface AddedCount {
  userId: string
  day: string
  more: number
}

/**
 * Adds to counts that no upload has set, in the given order, which is by day and login as in uploads. The people and
 * the repository must be registered already. @returns the counts that it has added to
 */
export const addReportedCounts = async (
  tx: Db,
  kind: CountName,
  { workspaceId, repoKey }: ReportedRepo,
  counts: AddedCount[],
): Promise<{ userId: string; day: string }[]> =>
  counts.length === 0
    ? []
    : tx.rows(ADD_COUNTS[kind], [
        workspaceId,
        repoKey,
        counts.map(({ userId }) => userId),
        counts.map(({ day }) => day),
        counts.map(({ more }) => more),
      ])

/** $1, $2: workspace and repository; $3: user; $4: day. All issues of deleted accounts can be subtracted, because none of them had a count from an upload. */
const DELETE_ISSUE_COUNT = statement(
  'delete closed issue count',
  { changed: integer },
  `
  update daily_activity a set closed_issues = a.closed_issues - 1
  where a.workspace_id = $1::uuid and a.repo_key = $2::text and a.user_id = $3::uuid and a.day = $4::date
    and a.closed_issues > 0 and (a.closed_issues_uploaded = false or a.user_id = '${DELETED_USER}')
  returning 1 as changed`,
)

/** @returns whether the count has changed. Counts that an upload has set never change. */
export const deleteIssueCount = async (
  tx: Db,
  { workspaceId, repoKey }: ReportedRepo,
  userId: string,
  day: string,
): Promise<boolean> => (await tx.rows(DELETE_ISSUE_COUNT, [workspaceId, repoKey, userId, day])).length > 0

/** An issue by the host's id, or else by its number in a repository. */
export interface IssueKey {
  workspaceId: string
  /** Empty: `number` is the host's id. */
  repoKey: string
  number: number
}

/** $1 to $3: workspace, repository, number; $4: the host's id. */
const ADOPT_ISSUE = statement(
  'identify issue by host id',
  {},
  `
  update reported_issues i set repo_key = '', number = $4::bigint, counted_in = i.repo_key
  where i.workspace_id = $1::uuid and i.repo_key = $2::text and i.number = $3::bigint
    and not exists (
      select 1 from reported_issues k
      where k.workspace_id = i.workspace_id and k.repo_key = '' and k.number = $4::bigint and k.day = i.day
    )`,
)

/** Events of the issue that arrived without an id, or in an earlier release, are known by its id from now on. */
export const identifyIssue = async (
  tx: Db,
  { workspaceId, repoKey }: ReportedRepo,
  number: number,
  id: number,
): Promise<void> => {
  await tx.rows(ADOPT_ISSUE, [workspaceId, repoKey, number, id])
}

/** An issue's state in an event. */
export interface IssueEvent {
  day: string
  at: string
  closed: boolean
  /** Null for someone who isn't a member. */
  userId: string | null
}

/** $1 to $3: the issue; $4: a day. Local dates around the world are at most two days apart. */
const READ_ISSUE = statement(
  'list nearby issue events',
  { day: date, at: moment, closed: bool, userId: orNull(uuid), timezone: orNull(text) },
  `
  select i.day, i.at, i.closed, i.user_id as "userId", u.timezone
  from reported_issues i left join users u on u.id = i.user_id
  where i.workspace_id = $1::uuid and i.repo_key = $2::text and i.number = $3::bigint
    and i.day between $4::date - 2 and $4::date + 2
  order by i.at`,
)

/** An issue's last events of each day, in order, with the day where a closing counts and its closer's time zone. */
export const readIssue = (
  tx: Db,
  { workspaceId, repoKey, number }: IssueKey,
  day: string,
): Promise<(IssueEvent & { timezone: string | null })[]> =>
  tx.rows(READ_ISSUE, [workspaceId, repoKey, number, day])

/** $1 to $3: the issue; $4: day. Inserts a row that's older than any event, or locks the existing one. */
const LOCK_ISSUE = statement(
  'lock issue day',
  { closed: bool, userId: orNull(uuid), countedIn: text },
  `
  insert into reported_issues as i (workspace_id, repo_key, number, day, at, closed)
  values ($1::uuid, $2::text, $3::bigint, $4::date, '0001-01-01T00:00:00Z', false)
  on conflict (workspace_id, repo_key, number, day) do update set at = i.at
  returning closed, user_id as "userId", coalesce(counted_in, repo_key) as "countedIn"`,
)

/**
 * $1 to $4: as before; $5 to $7: the event; $8: the repository that it counts in. If two events have the same time, a
 * fixed order decides which is later.
 */
const SET_ISSUE = statement(
  'update last issue event',
  { at: moment },
  `
  update reported_issues i set at = $5::timestamptz, closed = $6::boolean, user_id = $7::uuid, counted_in = $8::text
  where i.workspace_id = $1::uuid and i.repo_key = $2::text and i.number = $3::bigint and i.day = $4::date
    and (i.at, i.closed, coalesce(i.user_id::text, '')) < ($5::timestamptz(3), $6::boolean, coalesce($7::uuid::text, ''))
  returning at`,
)

/**
 * @param place where the event was
 * @returns the person and the repository that the issue counted for on its day before, and the person that it counts for
 * now, in `place`; undefined if nothing changes
 */
export const setIssue = async (
  tx: Db,
  { workspaceId, repoKey, number }: IssueKey,
  place: ReportedRepo,
  { day, at, closed, userId }: IssueEvent,
): Promise<{ before: string | null; countedIn: string; now: string | null } | undefined> => {
  const key = [workspaceId, repoKey, number, day]
  const known = singleRow(await tx.rows(LOCK_ISSUE, key))
  const [before, now] = [known.closed ? known.userId : null, closed ? userId : null]
  const isSame = before === now
  const countedIn = isSame && before !== null ? known.countedIn : place.repoKey
  const changed = await tx.rows(SET_ISSUE, [...key, at, closed, userId, countedIn])
  return changed.length === 0 || isSame ? undefined : { before, countedIn: known.countedIn, now }
}
