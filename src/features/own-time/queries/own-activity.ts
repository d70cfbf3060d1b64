/** A person's own time: each minute once. */
import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
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

const storedColumns = {
  userId: uuid,
  day: date,
  repoKey: text,
  repo: text,
  minutes: integer,
  hours: orNull(integers),
}
export type StoredOwnDay = RowOf<typeof storedColumns>

/** $1, $2: users, and a day of each. Arrays are selected, so that the planner doesn't know their lengths. */
export const READ_OWN_DAYS = statement(
  'read own days',
  storedColumns,
  `
  select a.user_id as "userId", a.day, a.repo_key as "repoKey", a.repo, a.minutes, a.hours
  from unnest((select $1::uuid[]), (select $2::date[])) as d (user_id, day)
  join own_activity a on a.user_id = d.user_id and a.day = d.day
  where a.minutes > 0`,
)

export const readOwnDays = async (
  tx: Db,
  requested: readonly { userId: string; day: string }[],
): Promise<StoredOwnDay[]> =>
  requested.length === 0
    ? []
    : tx.rows(READ_OWN_DAYS, [requested.map(({ userId }) => userId), requested.map(({ day }) => day)])

/** A person's minutes on a local day in a repository, or under a project name, as they will be. */
export interface OwnDay {
  userId: string
  day: string
  repoKey: string
  repo: string
  minutes: number
  hours: readonly number[]
  timezone: string
  /** Whether the repository had no minutes on this day before. */
  isNew: boolean
}

/** SQL: how many rows a person has, counted up to the limit. */
const rowsOf = (userId: string) =>
  `(select count(*) from (select from own_activity where user_id = ${userId} limit ${limits.own_rows}) as own)`

/** Per row: its columns, and whether it's new. New rows are left out if the account can't keep them. */
export const UPSERT_OWN_DAYS = statement(
  'upsert own days',
  {},
  `
  insert into own_activity as a (user_id, day, repo_key, repo, minutes, hours, timezone)
  select r.user_id, r.day, r.repo_key, r.repo, r.minutes, r.hours::smallint[], r.timezone
  from unnest($1::uuid[], $2::date[], $3::text[], $4::text[], $5::int[], $6::text[], $7::text[], $8::int[])
    as r (user_id, day, repo_key, repo, minutes, hours, timezone, is_new)
  where r.is_new = 0 or ${rowsOf('r.user_id')} < ${limits.own_rows}
  order by r.user_id, r.day, r.repo_key collate "C"
  on conflict (user_id, day, repo_key) do update set
    minutes = excluded.minutes, hours = excluded.hours, timezone = excluded.timezone`,
)

/** Writes days of people whose minutes are locked. */
export const writeOwnDays = async (tx: Db, rows: readonly OwnDay[]): Promise<void> => {
  if (rows.length === 0) return
  await tx.rows(UPSERT_OWN_DAYS, [
    rows.map(({ userId }) => userId),
    rows.map(({ day }) => day),
    rows.map(({ repoKey }) => repoKey),
    rows.map(({ repo }) => repo),
    rows.map(({ minutes }) => minutes),
    rows.map(({ hours }) => `{${hours.join()}}`),
    rows.map(({ timezone }) => timezone),
    rows.map(({ isNew }) => Number(isNew)),
  ])
}

const COUNT_OWN_ROWS = statement(
  'count own rows',
  { rows: integer },
  `select ${rowsOf('$1::uuid')}::int as rows`,
)

/** Whether a person can keep this many more rows. Otherwise `writeOwnDays` leaves out new ones. */
export const hasRoomForOwnDays = async (tx: Db, userId: string, added: number): Promise<boolean> =>
  added === 0 || singleRow(await tx.rows(COUNT_OWN_ROWS, [userId])).rows + added <= limits.own_rows

/** $1: how many days hours are kept; $2: how many rows. */
const CLEAR_OWN_HOURS = statement(
  'clear expired own hours',
  { day: date },
  `
  update own_activity set hours = null, timezone = null
  where (user_id, day, repo_key) in (
    select user_id, day, repo_key from own_activity
    where day < (now() at time zone 'UTC')::date - $1::int and hours is not null limit $2::int
  )
  returning day`,
)

/** Deletes hours past their retention period. @returns how many rows had any */
export const clearOwnHours = async (tx: Db, detailDays: number, rows: number): Promise<number> =>
  (await tx.rows(CLEAR_OWN_HOURS, [detailDays, rows])).length
