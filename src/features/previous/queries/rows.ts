/** Rows of version 1.0.0 that still have to be copied, and what becomes of them. */
import { perCount } from '../../../../schemas/counts.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  date,
  integer,
  integers,
  orNull,
  type RowOf,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'
import { HOURS } from '../../../platform/time/days.js'
import { DELETED_USER } from '../../accounts/index.js'

const eachHour = (write: (index: number) => string) =>
  Array.from({ length: HOURS }, (_, index) => write(index + 1)).join(', ')

const shared = {
  workspaceId: uuid,
  userId: uuid,
  day: date,
  repoKey: text,
  minutes: integer,
  hours: orNull(integers),
  before: integer,
  after: integer,
  copiedMinutes: integer,
  copiedHours: orNull(integers),
  timezone: text,
}

/** SQL: `minutes_before` and `minutes_after` say where the minutes of rows without hours are. */
const SHARED = `
  a.workspace_id as "workspaceId", a.user_id as "userId", a.day, a.repo_key as "repoKey", a.minutes, a.hours,
  a.minutes_before as before, a.minutes_after as after, a.copied_minutes as "copiedMinutes",
  a.copied_hours as "copiedHours", coalesce(a.timezone, u.timezone, 'UTC') as timezone`

const activityColumns = {
  ...shared,
  ...perCount(() => integer),
  copiedCommits: integer,
  copiedClosedIssues: integer,
  commitsUploaded: orNull(bool),
  closedIssuesUploaded: orNull(bool),
}
export type PreviousActivity = RowOf<typeof activityColumns>

/** Skips rows that an instance of version 1.0.0, or another copy, holds. */
const LIST_ACTIVITY = statement(
  'list activity to copy',
  activityColumns,
  `
  select ${SHARED}, a.commits, a.closed_issues,
    a.copied_commits as "copiedCommits", a.copied_closed_issues as "copiedClosedIssues",
    a.commits_uploaded as "commitsUploaded", a.closed_issues_uploaded as "closedIssuesUploaded"
  from activity a left join users u on u.id = a.user_id
  where a.minutes <> a.copied_minutes or a.commits <> a.copied_commits or a.closed_issues <> a.copied_closed_issues
  order by a.workspace_id, a.user_id, a.day, a.repo_key limit $1::int
  for update of a skip locked`,
)

export const listActivityToCopy = (tx: Db, limit: number) => tx.rows(LIST_ACTIVITY, [limit])

const agentColumns = { ...shared, repo: text }

const LIST_AGENT_MINUTES = statement(
  'list agent minutes to copy',
  agentColumns,
  `
  select ${SHARED}, a.repo
  from agent_minutes a left join users u on u.id = a.user_id
  where a.minutes <> a.copied_minutes
  order by a.user_id, a.workspace_id, a.day, a.repo_key limit $1::int
  for update of a skip locked`,
)

export const listAgentMinutesToCopy = (tx: Db, limit: number) => tx.rows(LIST_AGENT_MINUTES, [limit])

/** Per row: its key, and what was copied of it. */
const NOTE_ACTIVITY = statement(
  'note copied activity',
  {},
  `
  update activity a set copied_minutes = a.minutes, copied_commits = a.commits,
    copied_closed_issues = a.closed_issues, copied_hours = coalesce(a.hours, a.copied_hours)
  from unnest($1::uuid[], $2::uuid[], $3::date[], $4::text[]) as r (workspace_id, user_id, day, repo_key)
  where a.workspace_id = r.workspace_id and a.user_id = r.user_id and a.day = r.day and a.repo_key = r.repo_key`,
)

const NOTE_AGENT_MINUTES = statement(
  'note copied agent minutes',
  {},
  `
  update agent_minutes a set copied_minutes = a.minutes, copied_hours = coalesce(a.hours, a.copied_hours)
  from unnest($1::uuid[], $2::uuid[], $3::date[], $4::text[]) as r (workspace_id, user_id, day, repo_key)
  where a.workspace_id = r.workspace_id and a.user_id = r.user_id and a.day = r.day and a.repo_key = r.repo_key`,
)

type Key = Pick<PreviousActivity, 'workspaceId' | 'userId' | 'day' | 'repoKey'>

const keysOf = (rows: readonly Key[]) => [
  rows.map(({ workspaceId }) => workspaceId),
  rows.map(({ userId }) => userId),
  rows.map(({ day }) => day),
  rows.map(({ repoKey }) => repoKey),
]

/** The rows are locked, so they are as they were listed. */
export const noteCopied = async (tx: Db, table: 'activity' | 'agent_minutes', rows: readonly Key[]) => {
  await tx.rows(table === 'activity' ? NOTE_ACTIVITY : NOTE_AGENT_MINUTES, keysOf(rows))
}

/** What is added to, or taken from, a local day. */
export interface CopiedDay extends Key {
  repo: string
  minutes: number
  commits: number
  closed_issues: number
  commitsUploaded: boolean | null
  closedIssuesUploaded: boolean | null
  hours: readonly number[] | null
  timezone: string
}

/** SQL: hours after a difference. */
const CHANGED_HOURS = `case when excluded.hours is null then a.hours
      else array[${eachHour((hour) => `greatest(0, coalesce(a.hours[${hour}], 0) + excluded.hours[${hour}])`)}]::smallint[] end`

const ADD_ACTIVITY = statement(
  'add copied activity',
  {},
  `
  insert into daily_activity as a (workspace_id, user_id, day, repo_key, minutes, commits, closed_issues,
    commits_uploaded, closed_issues_uploaded, hours, timezone)
  select r.workspace_id, r.user_id, r.day, r.repo_key, r.minutes, r.commits, r.closed_issues, r.commits_uploaded,
    r.closed_issues_uploaded, r.hours::smallint[], r.timezone
  from unnest($1::uuid[], $2::uuid[], $3::date[], $4::text[], $5::int[], $6::int[], $7::int[], $8::bool[], $9::bool[],
    $10::text[], $11::text[])
    as r (workspace_id, user_id, day, repo_key, minutes, commits, closed_issues, commits_uploaded,
      closed_issues_uploaded, hours, timezone)
  order by r.workspace_id, r.user_id, r.day, r.repo_key collate "C"
  on conflict (workspace_id, user_id, day, repo_key) do update set
    minutes = greatest(0, a.minutes + excluded.minutes), commits = greatest(0, a.commits + excluded.commits),
    closed_issues = greatest(0, a.closed_issues + excluded.closed_issues),
    commits_uploaded = coalesce(excluded.commits_uploaded, a.commits_uploaded),
    closed_issues_uploaded = coalesce(excluded.closed_issues_uploaded, a.closed_issues_uploaded),
    hours = ${CHANGED_HOURS}, timezone = coalesce(a.timezone, excluded.timezone)`,
)

const toText = (flag: boolean | null) => (flag === null ? null : String(flag))

const hoursText = ({ hours }: { hours: readonly number[] | null }) => hours && `{${hours.join()}}`

export const addCopiedActivity = async (tx: Db, days: readonly CopiedDay[]): Promise<void> => {
  await tx.rows(ADD_ACTIVITY, [
    ...keysOf(days),
    days.map(({ minutes }) => minutes),
    days.map(({ commits }) => commits),
    days.map(({ closed_issues }) => closed_issues),
    days.map(({ commitsUploaded }) => toText(commitsUploaded)),
    days.map(({ closedIssuesUploaded }) => toText(closedIssuesUploaded)),
    days.map(hoursText),
    days.map(({ timezone }) => timezone),
  ])
}

const ADD_AGENT_ACTIVITY = statement(
  'add copied agent minutes',
  {},
  `
  insert into agent_activity as a (workspace_id, user_id, day, repo_key, repo, minutes, hours, timezone)
  select r.workspace_id, r.user_id, r.day, r.repo_key, r.repo, r.minutes, r.hours::smallint[], r.timezone
  from unnest($1::uuid[], $2::uuid[], $3::date[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[])
    as r (workspace_id, user_id, day, repo_key, repo, minutes, hours, timezone)
  order by r.user_id, r.workspace_id, r.day, r.repo_key collate "C"
  on conflict (user_id, workspace_id, day, repo_key) do update set
    minutes = greatest(0, a.minutes + excluded.minutes), hours = ${CHANGED_HOURS},
    timezone = coalesce(a.timezone, excluded.timezone)`,
)

export const addCopiedAgentMinutes = async (tx: Db, days: readonly CopiedDay[]): Promise<void> => {
  await tx.rows(ADD_AGENT_ACTIVITY, [
    ...keysOf(days),
    days.map(({ repo }) => repo),
    days.map(({ minutes }) => minutes),
    days.map(hoursText),
    days.map(({ timezone }) => timezone),
  ])
}

/**
 * $1 to $3: users, days and repositories. A person's own time has as much of a repository's day as its best workspace.
 * What this version has recorded for the person alone stays.
 */
const RAISE_OWN = statement(
  'raise own time to copied activity',
  {},
  `
  insert into own_activity as a (user_id, day, repo_key, repo, minutes, hours, timezone)
  select user_id, day, repo_key, repo, greatest(minutes, (select coalesce(sum(m), 0) from unnest(hours) as m)), hours, timezone
  from (
    select d.user_id, d.day, d.repo_key, min(coalesce(n.repo, d.repo_key)) as repo, max(d.minutes) as minutes,
      case when count(d.hours) > 0 then array[${eachHour((hour) => `coalesce(max(d.hours[${hour}]), 0)`)}]::smallint[] end as hours,
      min(d.timezone) as timezone
    from unnest($1::uuid[], $2::date[], $3::text[]) as r (user_id, day, repo_key)
    join activity_people p on p.user_id = r.user_id
    join daily_activity d on d.workspace_id = p.workspace_id and d.user_id = r.user_id and d.day = r.day
      and d.repo_key = r.repo_key
    left join activity_repos n on n.workspace_id = d.workspace_id and n.repo_key = d.repo_key
    where r.user_id <> '${DELETED_USER}' and d.minutes > 0
    group by d.user_id, d.day, d.repo_key
  ) as best
  order by user_id, day, repo_key collate "C"
  on conflict (user_id, day, repo_key) do update set
    minutes = greatest(a.minutes, excluded.minutes),
    hours = case when a.hours is null then excluded.hours when excluded.hours is null then a.hours
      else array[${eachHour((hour) => `greatest(a.hours[${hour}], excluded.hours[${hour}])`)}] end,
    timezone = coalesce(a.timezone, excluded.timezone)`,
)

export const raiseOwnTime = async (
  tx: Db,
  days: readonly Pick<CopiedDay, 'userId' | 'day' | 'repoKey'>[],
): Promise<void> => {
  const distinct = [...new Map(days.map((day) => [`${day.userId} ${day.day} ${day.repoKey}`, day])).values()]
  await tx.rows(RAISE_OWN, [
    distinct.map(({ userId }) => userId),
    distinct.map(({ day }) => day),
    distinct.map(({ repoKey }) => repoKey),
  ])
}

const personalColumns = {
  userId: uuid,
  day: date,
  repoKey: text,
  repo: text,
  minutes: integer,
  marks: orNull(text),
  before: integer,
  after: integer,
  timezone: text,
}

/** Minutes that count in no workspace, as a version before 1.1.0 stored them. Rows go when they're copied. */
const TAKE_PERSONAL_MINUTES = statement(
  'take personal minutes to copy',
  personalColumns,
  `
  with taken as (
    delete from personal_minutes
    where (user_id, day, repo_key) in (
      select user_id, day, repo_key from personal_minutes order by user_id, day, repo_key limit $1::int for update skip locked
    )
    returning *
  )
  select t.user_id as "userId", t.day, t.repo_key as "repoKey", t.repo, t.minutes, t.marks::text as marks,
    t.minutes_before as before, t.minutes_after as after, coalesce(t.timezone, u.timezone, 'UTC') as timezone
  from taken t left join users u on u.id = t.user_id`,
)

export const takePersonalMinutes = (tx: Db, limit: number) => tx.rows(TAKE_PERSONAL_MINUTES, [limit])

const ADD_OWN = statement(
  'add copied own time',
  {},
  `
  insert into own_activity as a (user_id, day, repo_key, repo, minutes, hours, timezone)
  select r.user_id, r.day, r.repo_key, r.repo, r.minutes, r.hours::smallint[], r.timezone
  from unnest($1::uuid[], $2::date[], $3::text[], $4::text[], $5::int[], $6::text[], $7::text[])
    as r (user_id, day, repo_key, repo, minutes, hours, timezone)
  order by r.user_id, r.day, r.repo_key collate "C"
  on conflict (user_id, day, repo_key) do update set minutes = a.minutes + excluded.minutes,
    hours = ${CHANGED_HOURS}, timezone = coalesce(a.timezone, excluded.timezone)`,
)

export const addCopiedOwnTime = async (
  tx: Db,
  days: readonly Omit<CopiedDay, 'workspaceId'>[],
): Promise<void> => {
  await tx.rows(ADD_OWN, [
    days.map(({ userId }) => userId),
    days.map(({ day }) => day),
    days.map(({ repoKey }) => repoKey),
    days.map(({ repo }) => repo),
    days.map(({ minutes }) => minutes),
    days.map(hoursText),
    days.map(({ timezone }) => timezone),
  ])
}

/** Per UTC hour: $1 user, $2 hour, $3 repository or name, $4 its 60 minutes as digits. */
const NOTE_OWNERS = statement(
  'note owners of copied minutes',
  {},
  `
  update heartbeat_hours h set counted_repos = coalesce(h.counted_repos, '{}') || r.repos,
    counted_for = coalesce(h.counted_for, '{}') || r.minutes
  from (
    select user_id, hour, array_agg(repo_key) as repos, array_agg(minutes::bit(60)) as minutes
    from unnest($1::uuid[], $2::int[], $3::text[], $4::text[]) as r (user_id, hour, repo_key, minutes)
    group by user_id, hour
  ) as r
  where h.user_id = r.user_id and h.hour = r.hour`,
)

/** Keeps marks from counting once more what a person's own time has. */
export const noteOwners = async (
  tx: Db,
  hours: readonly { userId: string; hour: number; repoKey: string; minutes: string }[],
): Promise<void> => {
  await tx.rows(NOTE_OWNERS, [
    hours.map(({ userId }) => userId),
    hours.map(({ hour }) => hour),
    hours.map(({ repoKey }) => repoKey),
    hours.map(({ minutes }) => minutes),
  ])
}
