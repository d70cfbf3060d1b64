/** Active minutes by local day, and responses to flushes. */
import type { Db } from '../../../platform/database/client.js'
import { lockOfUser, locksOfUsers, tryLockOfUser } from '../../../platform/database/locks.js'
import {
  date,
  integer,
  integers,
  orNull,
  type RowOf,
  singleRow,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'

const LOCK_MINUTES = lockOfUser('lock minutes of a person', locksOfUsers.minutes)
const TRY_TO_LOCK_MINUTES = tryLockOfUser('try to lock minutes of a person', locksOfUsers.minutes)

/**
 * Makes others who change these people's minutes wait until the transaction ends.
 * @param waits whether to wait for those who hold a lock now; otherwise their people are left out
 * @returns the people whose lock is held
 */
export const lockMinutes = async (
  tx: Db,
  userIds: readonly string[],
  { waits }: { waits: boolean },
): Promise<ReadonlySet<string>> => {
  const held = await Promise.all(
    userIds.map(async (userId) => {
      if (!waits) return singleRow(await tx.rows(TRY_TO_LOCK_MINUTES, [userId])).isHeld
      await tx.rows(LOCK_MINUTES, [userId])
      return true
    }),
  )
  return new Set(userIds.filter((_, index) => held[index]))
}

const dayColumns = { userId: uuid, day: date, repoKey: text, minutes: integer, hours: orNull(integers) }
type StoredDay = RowOf<typeof dayColumns> & { workspaceId: string }

/** $1: the workspace; $2, $3: users, and a local day of each. Planned once, as `READ_TARGETS`. */
export const READ_DAYS = statement(
  'read member days',
  dayColumns,
  `
  select a.user_id as "userId", a.day, a.repo_key as "repoKey", a.minutes, a.hours
  from unnest((select $2::uuid[]), (select $3::date[])) as d (user_id, day)
  join daily_activity a on a.workspace_id = $1::uuid and a.user_id = d.user_id and a.day = d.day
  where a.minutes > 0`,
)

/** The repositories with minutes on people's local days in a workspace. */
export const readDays = async (
  tx: Db,
  workspaceId: string,
  requested: readonly { userId: string; day: string }[],
): Promise<StoredDay[]> => {
  const rows = await tx.rows(READ_DAYS, [
    workspaceId,
    requested.map(({ userId }) => userId),
    requested.map(({ day }) => day),
  ])
  return rows.map((row) => ({ ...row, workspaceId }))
}

/** A person's minutes on a local day in a repository, as they will be. */
export interface WrittenDay {
  userId: string
  day: string
  repoKey: string
  /** As given. */
  repo: string
  minutes: number
  hours: readonly number[]
  timezone: string
  /** Whether the repository had no minutes on this day before. */
  isNew: boolean
}

/** $1: the workspace; $2: users. */
const INSERT_PEOPLE = statement(
  'insert people with activity',
  {},
  `
  insert into activity_people (workspace_id, user_id) values ($1::uuid, unnest($2::uuid[]))
  on conflict do nothing`,
)

/** Registers people before they get activity. */
export const registerPeople = async (tx: Db, workspaceId: string, userIds: string[]): Promise<void> => {
  await tx.rows(INSERT_PEOPLE, [workspaceId, userIds.toSorted()])
}

/** $1: the workspace; $2, $3: repositories in lower case and as given. */
const INSERT_REPOS = statement(
  'insert repository names',
  {},
  `
  insert into activity_repos (workspace_id, repo_key, repo)
  values ($1::uuid, unnest($2::text[]), unnest($3::text[]))
  on conflict do nothing`,
)

/** Stores the names of repositories before they get activity. */
export const nameRepos = async (
  tx: Db,
  workspaceId: string,
  repos: readonly { repoKey: string; repo: string }[],
): Promise<void> => {
  await tx.rows(INSERT_REPOS, [
    workspaceId,
    repos.map(({ repoKey }) => repoKey),
    repos.map(({ repo }) => repo),
  ])
}

/** $1: the workspace; per row: $2 user, $3 day, $4 repository, $5 minutes, $6 hours as text, $7 their time zone. */
export const UPSERT_DAYS = statement(
  'upsert minutes',
  {},
  `
  insert into daily_activity as a (workspace_id, user_id, day, repo_key, minutes, hours, timezone)
  select $1::uuid, r.user_id, r.day, r.repo_key, r.minutes, r.hours::smallint[], r.timezone
  from unnest($2::uuid[], $3::date[], $4::text[], $5::int[], $6::text[], $7::text[])
    as r (user_id, day, repo_key, minutes, hours, timezone)
  order by r.user_id, r.day, r.repo_key collate "C"
  on conflict (workspace_id, user_id, day, repo_key) do update set
    minutes = excluded.minutes, hours = excluded.hours, timezone = excluded.timezone`,
)

/**
 * Writes days of people whose minutes are locked. Rows are sorted, and people's and repositories' rows come first, so
 * concurrent writers lock rows in the same order.
 */
export const writeDays = async (tx: Db, workspaceId: string, rows: readonly WrittenDay[]): Promise<void> => {
  const added = rows.filter(({ isNew }) => isNew)
  const repos = [...new Map(added.map(({ repoKey, repo }) => [repoKey, { repoKey, repo }])).values()].sort(
    (one, other) => (one.repoKey < other.repoKey ? -1 : 1),
  )
  await Promise.all([
    ...(added.length > 0
      ? [
          registerPeople(tx, workspaceId, [...new Set(added.map(({ userId }) => userId))]),
          nameRepos(tx, workspaceId, repos),
        ]
      : []),
    tx.rows(UPSERT_DAYS, [
      workspaceId,
      rows.map(({ userId }) => userId),
      rows.map(({ day }) => day),
      rows.map(({ repoKey }) => repoKey),
      rows.map(({ minutes }) => minutes),
      rows.map(({ hours }) => `{${hours.join()}}`),
      rows.map(({ timezone }) => timezone),
    ]),
    // Last, as in uploads and deliveries, which would otherwise wait for each other.
    markDays(tx, workspaceId, [...new Set(rows.map(({ day }) => day))]),
  ])
}

/**
 * $1: the workspace; $2: local days, sorted. Writers share the lock of a day's mark, so that none waits for another, and the
 * rollup, which deletes the mark, waits for them and sees what they have written. Two writers that add a day's mark at
 * once wait for each other.
 */
export const MARK_DAYS = statement(
  'mark days as changed',
  {},
  `
  with marked as (
    select day from changed_days where workspace_id = $1::uuid and day = any($2::date[]) order by day for key share
  )
  insert into changed_days as c (workspace_id, day)
  select $1::uuid, d.day from unnest($2::date[]) as d (day) where d.day not in (select day from marked)
  on conflict (workspace_id, day) do update set day = excluded.day where false`,
)

/** Marks rollups of local days as out of date. Every change of activity must do so in the same transaction. */
export const markDays = async (tx: Db, workspaceId: string, days: string[]): Promise<void> => {
  await tx.rows(MARK_DAYS, [workspaceId, days.toSorted()])
}

/** $1, $2: users, and a flush id of each. Planned once, as `READ_TARGETS`. */
export const READ_FLUSH_RESPONSES = statement(
  'read flush responses',
  { userId: uuid, bodyHash: text, answer: text },
  `
  select f.user_id as "userId", f.body_hash as "bodyHash", f.answer from flushes f
  join unnest((select $1::uuid[]), (select $2::text[])) as a (user_id, flush_id) using (user_id, flush_id)`,
)

/** @returns each user's response to the flush with this id */
export const readFlushResponses = async (
  db: Db,
  flushes: readonly { userId: string; id: string | undefined }[],
): Promise<ReadonlyMap<string, { bodyHash: string; answer: string }>> => {
  const requested = flushes.flatMap(({ userId, id }) => (id === undefined ? [] : [{ userId, id }]))
  if (requested.length === 0) return new Map()
  const rows = await db.rows(READ_FLUSH_RESPONSES, [
    requested.map(({ userId }) => userId),
    requested.map(({ id }) => id),
  ])
  return new Map(rows.map(({ userId, ...response }) => [userId, response]))
}

/** Per flush: $1 user; $2 flush id; $3 hash of the body; $4 response. */
export const INSERT_FLUSHES = statement(
  'insert flush responses',
  {},
  `
  insert into flushes (user_id, flush_id, body_hash, answer)
  select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[])`,
)

/** @throws a conflict if another flush with one of these ids came first */
export const saveFlushResponses = async (
  tx: Db,
  flushes: readonly { userId: string; id: string; bodyHash: string; answer: string }[],
): Promise<void> => {
  if (flushes.length === 0) return
  await tx.rows(INSERT_FLUSHES, [
    flushes.map(({ userId }) => userId),
    flushes.map(({ id }) => id),
    flushes.map(({ bodyHash }) => bodyHash),
    flushes.map(({ answer }) => answer),
  ])
}
