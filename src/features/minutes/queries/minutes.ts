/** Active minutes recorded by flushes. */
import type { Db } from '../../../platform/database/client.js'
import {
  date,
  integer,
  integers,
  orNull,
  type RowOf,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'
import { groupBy } from '../../../platform/process/maps.js'
import { HOURS } from '../../../platform/time/days.js'
import { addTo, type Minutes, noMinutes } from '../caps.js'
import { daysOf, sharesOf } from '../local-days.js'

/** $1: the workspace; $2: the user. Inserts the row or just locks it. Its content never changes. */
export const LOCK_ACTIVITY = statement(
  'lock member activity',
  {},
  `
  insert into activity_people (workspace_id, user_id) values ($1::uuid, $2::uuid)
  on conflict (workspace_id, user_id) do update set user_id = excluded.user_id where false`,
)

/** The same for users ($2) with rows. Skips rows that others hold. */
export const TRY_TO_LOCK_ACTIVITY = statement(
  'try to lock member activity',
  { userId: uuid },
  `
  select user_id as "userId" from activity_people
  where workspace_id = $1::uuid and user_id = any((select $2::uuid[])::uuid[])
  for update skip locked`,
)

/** How many of a day's repositories are read one by one, and on how many of a member's days. */
const MAX_ROWS = 100
const MAX_DAYS = 4

const activityColumns = {
  userId: uuid,
  day: date,
  repoKey: text,
  minutes: integer,
  hours: orNull(integers),
  timezone: orNull(text),
}
type ActivityRow = RowOf<typeof activityColumns>

/**
 * $1: the workspace; $2, $3: users, and a day of each. Cheaper than sums for few rows. Planned once, as `READ_TARGETS`.
 */
export const READ_ROWS = statement(
  'read member days by repository',
  activityColumns,
  `
  select d.user_id as "userId", d.day, a.repo_key as "repoKey", a.minutes, a.hours, a.timezone
  from unnest((select $2::uuid[]), (select $3::date[])) as d (user_id, day)
  cross join lateral (
    select repo_key, minutes, hours, timezone from activity
    where workspace_id = $1::uuid and user_id = d.user_id and day = d.day and minutes > 0
    limit ${MAX_ROWS + 1}
  ) a`,
)

const hours = (expression: (hour: number) => string) =>
  `array[${Array.from({ length: HOURS }, (_, index) => expression(index + 1)).join(', ')}]`

/** $1: the workspace; $2: the user; $3: days. Days that have lost their hours may get new ones. */
const READ_DAYS = statement(
  'sum member days',
  { day: date, minutes: integer, hours: integers },
  `
  select day, sum(minutes)::int as minutes,
    ${hours((hour) => `coalesce(sum(hours[${hour}]), 0)::int`)} as hours
  from activity
  where workspace_id = $1::uuid and user_id = $2::uuid and day = any($3::date[]) and minutes > 0
  group by day`,
)

/** Days of a member in a workspace. */
export interface RequestedDays {
  workspaceId: string
  userId: string
  days: ReadonlySet<string>
}

/** A member's minutes on a day, in all repositories. */
export interface Total extends Minutes {
  /** The time zone of each repository's hours. */
  timezones: ReadonlyMap<string, string | null> | 'not read'
}

/** By day. Days without minutes are left out. */
type Totals = ReadonlyMap<string, Total>

/** What came of reading a member's days row by row. */
type Reading = { kind: 'read'; totals: Totals } | { kind: 'too much to read' }

/** Waits for others who change the member's minutes, and makes them wait until the transaction ends. */
export const lockActivity = async (tx: Db, { workspaceId, userId }: RequestedDays): Promise<void> => {
  await tx.rows(LOCK_ACTIVITY, [workspaceId, userId])
}

/** The same for several people, without waiting. @returns the users whose minutes are locked now */
export const tryToLockActivity = async (
  tx: Db,
  workspaceId: string,
  userIds: string[],
): Promise<ReadonlySet<string>> => {
  const locked = await tx.rows(TRY_TO_LOCK_ACTIVITY, [workspaceId, userIds])
  return new Set(locked.map(({ userId }) => userId))
}

/** A member's minutes on days. */
export const readTotals = async (tx: Db, member: RequestedDays): Promise<Totals> => {
  if (member.days.size > MAX_DAYS) return sumDays(tx, member)
  const reading = sumRows(await readRows(tx, member.workspaceId, [member]))
  return reading.kind === 'read' ? reading.totals : sumDays(tx, member)
}

/** The same for people in one workspace, in one statement. @returns a reading for each of them, by user */
export const readTotalsOfMany = async (
  tx: Db,
  workspaceId: string,
  members: readonly RequestedDays[],
): Promise<ReadonlyMap<string, Reading>> => {
  const isShort = ({ days }: RequestedDays) => days.size <= MAX_DAYS
  const rowsOf = groupBy(await readRows(tx, workspaceId, members.filter(isShort)), ({ userId }) => userId)
  return new Map(
    members.map((member) => [
      member.userId,
      isShort(member) ? sumRows(rowsOf.get(member.userId) ?? []) : { kind: 'too much to read' },
    ]),
  )
}

const sumDays = async (tx: Db, { workspaceId, userId, days }: RequestedDays): Promise<Totals> => {
  const sums = await tx.rows(READ_DAYS, [workspaceId, userId, [...days]])
  return new Map(sums.map(({ day, ...sum }) => [day, { ...sum, timezones: 'not read' }]))
}

const readRows = async (
  tx: Db,
  workspaceId: string,
  members: readonly RequestedDays[],
): Promise<ActivityRow[]> => {
  const days = members.flatMap(({ userId, days }) => Array.from(days, (day) => ({ userId, day })))
  if (days.length === 0) return []
  return tx.rows(READ_ROWS, [workspaceId, days.map(({ userId }) => userId), days.map(({ day }) => day)])
}

/** A member's rows, added up by day, if none of the days is cut off. */
const sumRows = (rows: ActivityRow[]): Reading => {
  const rowsOf = groupBy(rows, ({ day }) => day)
  const sums = new Map<string, Total>()
  for (const [day, ofDay] of rowsOf) {
    if (ofDay.length > MAX_ROWS) return { kind: 'too much to read' }
    const sum = {
      ...noMinutes(),
      timezones: new Map(ofDay.map(({ repoKey, timezone }) => [repoKey, timezone])),
    }
    for (const { minutes, hours } of ofDay) addTo(sum, minutes, hours ?? [])
    sums.set(day, sum)
  }
  return { kind: 'read', totals: sums }
}

/** $1: the workspace; $2, $3: repositories in lower case and as given. */
export const INSERT_REPOS = statement(
  'insert repository names',
  {},
  `
  insert into activity_repos (workspace_id, repo_key, repo)
  values ($1::uuid, unnest($2::text[]), unnest($3::text[]))
  on conflict do nothing`,
)

/**
 * $1: the workspace; per row: $2 user, $3 day, $4 repository, $5 minutes, $6 hours as text, $7 their time zone, $8 and
 * $9 the minutes on the local days before and after. A row keeps the time zone of its first hours.
 */
export const UPSERT_MINUTES = statement(
  'upsert minutes',
  {},
  `
  insert into activity as a (workspace_id, user_id, day, repo_key, minutes, hours, timezone, minutes_before, minutes_after)
  select $1::uuid, r.user_id, r.day, r.repo_key, r.minutes, r.hours::smallint[], r.timezone, r.before, r.after
  from unnest($2::uuid[], $3::date[], $4::text[], $5::smallint[], $6::text[], $7::text[], $8::smallint[], $9::smallint[])
    as r (user_id, day, repo_key, minutes, hours, timezone, before, after)
  order by r.user_id, r.day, r.repo_key collate "C"
  on conflict (workspace_id, user_id, day, repo_key) do update set
    minutes = a.minutes + excluded.minutes,
    hours = ${hours((hour) => `coalesce(a.hours[${hour}], 0::smallint) + excluded.hours[${hour}]`)},
    timezone = coalesce(a.timezone, excluded.timezone),
    minutes_before = a.minutes_before + excluded.minutes_before,
    minutes_after = a.minutes_after + excluded.minutes_after`,
)

/** $1: the workspace; per row: as above, up to the time zone, but without minutes. Sent behind the minutes. */
const ADD_OTHER_ZONES = statement(
  'upsert hours in other time zones',
  {},
  `
  insert into activity_other_zones as z (workspace_id, user_id, day, repo_key, timezone, hours)
  select $1::uuid, r.user_id, r.day, r.repo_key, r.timezone, r.hours::smallint[]
  from unnest($2::uuid[], $3::date[], $4::text[], $5::text[], $6::text[]) as r (user_id, day, repo_key, hours, timezone)
  join activity a on a.workspace_id = $1::uuid and a.user_id = r.user_id and a.day = r.day and a.repo_key = r.repo_key
  where a.timezone <> r.timezone
  on conflict (workspace_id, user_id, day, repo_key, timezone) do update set
    hours = ${hours((hour) => `z.hours[${hour}] + excluded.hours[${hour}]`)}`,
)

/** $1: the workspace; $2: days. */
export const MARK_DAYS = statement(
  'mark days as stale',
  {},
  'insert into stale_local_days (workspace_id, day) values ($1::uuid, unnest($2::date[]))',
)

const flushResponseColumns = { userId: uuid, bodyHash: text, answer: text }
const SELECT_FLUSH_RESPONSES = `select f.user_id as "userId", f.body_hash as "bodyHash", f.answer from flushes f`

/** $1: the user; $2: flush id. */
const READ_FLUSH_RESPONSE = statement(
  'read flush response',
  flushResponseColumns,
  `${SELECT_FLUSH_RESPONSES} where user_id = $1::uuid and flush_id = $2::text`,
)

/** $1, $2: users, and a flush id of each. Planned once, as `READ_TARGETS`. */
export const READ_FLUSH_RESPONSES = statement(
  'read flush responses',
  flushResponseColumns,
  `${SELECT_FLUSH_RESPONSES} join unnest((select $1::uuid[]), (select $2::text[])) as a (user_id, flush_id) using (user_id, flush_id)`,
)

/** @returns each user's response to the flush with this id */
export const readFlushResponses = async (
  db: Db,
  flushes: readonly { userId: string; id: string | undefined }[],
): Promise<ReadonlyMap<string, { bodyHash: string; answer: string }>> => {
  const requested = flushes.flatMap(({ userId, id }) => (id === undefined ? [] : [{ userId, id }]))
  const [first, ...others] = requested
  if (!first) return new Map()
  const rows = await (others.length === 0
    ? db.rows(READ_FLUSH_RESPONSE, [first.userId, first.id])
    : db.rows(READ_FLUSH_RESPONSES, [requested.map(({ userId }) => userId), requested.map(({ id }) => id)]))
  return new Map(rows.map(({ userId, ...response }) => [userId, response]))
}

/** $1: the user; $2: flush id; $3: hash of the body; $4: response. */
export const INSERT_FLUSH = statement(
  'insert flush response',
  {},
  `
  insert into flushes (user_id, flush_id, body_hash, answer)
  values ($1::uuid, $2::text, $3::text, $4::text)`,
)

/** Per flush: the same. A statement for each would cost a set of 16 people a tenth of its time. */
export const INSERT_FLUSHES = statement(
  'insert flush responses',
  {},
  `
  insert into flushes (user_id, flush_id, body_hash, answer)
  select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[])`,
)

/** Minutes to add for a member on a day in a repository. */
export interface AddedMinutes extends Minutes {
  workspaceId: string
  userId: string
  day: string
  /** In the original spelling. */
  repo: string
  /** In lower case. */
  repoKey: string
  /** The time zone in which the hours were recorded. */
  timezone: string
  /** Whether there is activity in it, so that it has a name. */
  isNamed: boolean
  /** Whether the row has no hours from another time zone, as far as is known. */
  isInZone: boolean
}

/**
 * Adds minutes to locked member days; list each repository once per day. Rows are sorted, and repository rows are inserted
 * first, so concurrent writers lock rows in the same order.
 */
export const writeMinutes = async (tx: Db, added: readonly AddedMinutes[]): Promise<void> => {
  const byWorkspace = groupBy(added, ({ workspaceId }) => workspaceId)
  await Promise.all(
    [...byWorkspace.keys()].sort().flatMap((workspaceId) => {
      const rows = (byWorkspace.get(workspaceId) ?? []).map((row) => {
        const { timezone, hours } = row
        const shares = sharesOf(row)
        const hasHours = hours.some((minutes) => minutes > 0)
        return { ...row, ...shares, hours: `{${hours.join()}}`, timezone: hasHours ? timezone : null }
      })
      const names = new Map(
        rows.flatMap(({ isNamed, repoKey, repo }) => (isNamed ? [] : [[repoKey, repo] as const])),
      )
      const repoKeys = [...names.keys()].sort()
      const elsewhere = rows.filter(({ timezone, isInZone }) => timezone !== null && !isInZone)
      return [
        names.size > 0 &&
          tx.rows(INSERT_REPOS, [
            workspaceId,
            repoKeys,
            repoKeys.map((repoKey) => names.get(repoKey) ?? repoKey),
          ]),
        markDays(tx, workspaceId, [...new Set(rows.flatMap((row) => daysOf(row.day, row.minutes, row)))]),
        tx.rows(UPSERT_MINUTES, [
          workspaceId,
          rows.map(({ userId }) => userId),
          rows.map(({ day }) => day),
          rows.map(({ repoKey }) => repoKey),
          rows.map(({ minutes }) => minutes),
          rows.map(({ hours }) => hours),
          rows.map(({ timezone }) => timezone),
          rows.map(({ before }) => before),
          rows.map(({ after }) => after),
        ]),
        elsewhere.length > 0 &&
          tx.rows(ADD_OTHER_ZONES, [
            workspaceId,
            elsewhere.map(({ userId }) => userId),
            elsewhere.map(({ day }) => day),
            elsewhere.map(({ repoKey }) => repoKey),
            elsewhere.map(({ hours }) => hours),
            elsewhere.map(({ timezone }) => timezone),
          ]),
      ]
    }),
  )
}

/** Marks rollups of days as stale. Every change of activity must do so in the same transaction. */
export const markDays = async (tx: Db, workspaceId: string, days: string[]): Promise<void> => {
  await tx.rows(MARK_DAYS, [workspaceId, days])
}

/** @throws a conflict if another flush with one of these ids came first */
export const saveFlushResponses = async (
  tx: Db,
  flushes: readonly { userId: string; id: string; bodyHash: string; answer: string }[],
): Promise<void> => {
  const [first, ...others] = flushes
  if (!first) return
  if (others.length === 0) await tx.rows(INSERT_FLUSH, [first.userId, first.id, first.bodyHash, first.answer])
  else
    await tx.rows(INSERT_FLUSHES, [
      flushes.map(({ userId }) => userId),
      flushes.map(({ id }) => id),
      flushes.map(({ bodyHash }) => bodyHash),
      flushes.map(({ answer }) => answer),
    ])
}
