/** Minutes of a person's heartbeats and imports that count in no workspace, for that person only. */
import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  date,
  integer,
  json,
  orNull,
  singleRow,
  statement,
  text,
} from '../../../platform/database/statement.js'

/** Minutes of a UTC day for a repository, or for a project name that isn't one. */
export interface PersonalDay {
  day: string
  /** In lower case. */
  repoKey: string
  repo: string
  minutes: number
  /** A digit for each minute of the day. Null: past their retention period. */
  marks: string | null
  /** Null: no marks. */
  timezone: string | null
  /** The part of the marks in each other time zone. Null: none. */
  otherZones: Record<string, string> | null
}

/** $1: the user; $2: days. */
const READ_DAYS = statement(
  'read personal minutes',
  {
    day: date,
    repoKey: text,
    repo: text,
    minutes: integer,
    marks: orNull(text),
    timezone: orNull(text),
    otherZones: orNull(json<Record<string, string>>()),
  },
  `
  select day, repo_key as "repoKey", repo, minutes, marks::text, timezone, other_zones as "otherZones"
  from personal_minutes
  where user_id = $1::uuid and day = any($2::date[])`,
)

export const readPersonalMinutes = async (db: Db, userId: string, days: string[]): Promise<PersonalDay[]> =>
  days.length > 0 ? db.rows(READ_DAYS, [userId, days]) : []

/** How many of some rows are new ($1: the user; per row: $2 day, $3 repository), and whether the account can keep them. */
const COUNT_NEW = `(
    select count(*) from unnest($2::date[], $3::text[]) as n (day, repo_key)
    where not exists (
      select from personal_minutes p where p.user_id = $1::uuid and p.day = n.day and p.repo_key = n.repo_key
    )
  )`
const HAS_ROOM = `${COUNT_NEW} + (select count(*) from personal_minutes where user_id = $1::uuid) <= ${limits.personal_rows}`

const FIND_ROOM = statement(
  'find room for personal minutes',
  { hasRoom: bool },
  `select case ${COUNT_NEW} when 0 then true else ${HAS_ROOM} end as "hasRoom"`,
)

/** Whether the account can keep all these days. Otherwise `replacePersonalDays` leaves out the new ones. */
export const hasRoomForPersonalDays = async (
  tx: Db,
  userId: string,
  all: readonly AssignedDay[],
): Promise<boolean> => {
  const days = all.filter(({ minutes }) => minutes > 0)
  if (days.length === 0) return true
  const parameters = [userId, days.map(({ day }) => day), days.map(({ repoKey }) => repoKey)]
  return singleRow(await tx.rows(FIND_ROOM, parameters)).hasRoom
}

/** $1: the user; per row, its columns. New rows are left out if the account can't keep them. */
const REPLACE_DAYS = statement(
  'upsert personal minutes',
  {},
  `
  insert into personal_minutes (
    user_id, day, repo_key, repo, minutes, marks, timezone, minutes_before, minutes_after, other_zones
  )
  select $1::uuid, r.day, r.repo_key, r.repo, r.minutes, r.marks::bit(1440), r.timezone, r.before, r.after,
    r.other_zones::jsonb
  from unnest(
    $2::date[], $3::text[], $4::text[], $5::int[], $6::text[], $7::text[], $8::int[], $9::int[], $10::text[]
  ) as r (day, repo_key, repo, minutes, marks, timezone, before, after, other_zones)
  where exists (
    select from personal_minutes p where p.user_id = $1::uuid and p.day = r.day and p.repo_key = r.repo_key
  ) or ${HAS_ROOM}
  on conflict (user_id, day, repo_key) do update
  set minutes = excluded.minutes, marks = excluded.marks, timezone = excluded.timezone,
    minutes_before = excluded.minutes_before, minutes_after = excluded.minutes_after,
    other_zones = excluded.other_zones`,
)

/** A day, and its minutes on the local days before and after. */
export interface AssignedDay extends PersonalDay {
  before: number
  after: number
}

/** $1: the user; per row: $2 day, $3 repository. */
const DELETE_DAYS = statement(
  'delete empty personal days',
  {},
  `
  delete from personal_minutes p using unnest($2::date[], $3::text[]) as r (day, repo_key)
  where p.user_id = $1::uuid and p.day = r.day and p.repo_key = r.repo_key`,
)

/** Writes days, and deletes those that have no minute left. */
export const replacePersonalDays = async (tx: Db, userId: string, all: AssignedDay[]): Promise<void> => {
  const days = all.filter(({ minutes }) => minutes > 0)
  const empty = all.filter(({ minutes }) => minutes === 0)
  await Promise.all([
    days.length > 0 && writeDays(tx, userId, days),
    empty.length > 0 &&
      tx.rows(DELETE_DAYS, [userId, empty.map(({ day }) => day), empty.map(({ repoKey }) => repoKey)]),
  ])
}

const writeDays = (tx: Db, userId: string, days: AssignedDay[]) =>
  tx.rows(REPLACE_DAYS, [
    userId,
    days.map(({ day }) => day),
    days.map(({ repoKey }) => repoKey),
    days.map(({ repo }) => repo),
    days.map(({ minutes }) => minutes),
    days.map(({ marks }) => marks),
    days.map(({ timezone }) => timezone),
    days.map(({ before }) => before),
    days.map(({ after }) => after),
    days.map(({ otherZones }) => otherZones && JSON.stringify(otherZones)),
  ])

/** $1: for how many days hours are kept; $2: how many rows to change. */
const DELETE_MARKS = statement(
  'delete personal minute marks',
  { day: date },
  `
  update personal_minutes set marks = null, timezone = null, other_zones = null
  where (user_id, day, repo_key) in (
    select user_id, day, repo_key from personal_minutes
    where day < (now() at time zone 'UTC')::date - $1::int and marks is not null limit $2::int
  )
  returning day`,
)

/** Deletes marks whose hours are past their retention period. @returns how many rows had any */
export const deletePersonalMarks = async (tx: Db, detailDays: number, rows: number): Promise<number> =>
  (await tx.rows(DELETE_MARKS, [detailDays, rows])).length
