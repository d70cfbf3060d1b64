/** The minutes that heartbeats have marked. */
import type { Db } from '../../../platform/database/client.js'
import {
  integer,
  integers,
  moment,
  orNull,
  type RowOf,
  statement,
  texts,
  uuid,
  uuids,
} from '../../../platform/database/statement.js'
import { toTimestamp } from '../../../platform/time/clock.js'
import type { StoredHour } from '../timeline.js'

const hourColumns = {
  userId: uuid,
  hour: integer,
  projects: texts,
  marks: texts,
  firstAt: orNull(integers),
  localHour: orNull(integer),
  countedIn: uuids,
  counted: texts,
  countedRepos: orNull(texts),
  countedFor: orNull(texts),
  agentProjects: orNull(texts),
  agentMarks: orNull(texts),
  agentFirstAt: orNull(integers),
}
const SELECT_HOURS = `
  select user_id as "userId", hour, projects, marks::text[] as marks, first_times as "firstAt", local_hour as "localHour",
    counted_in as "countedIn", counted::text[] as counted,
    counted_repos as "countedRepos", counted_for::text[] as "countedFor",
    agent_projects as "agentProjects", agent_marks::text[] as "agentMarks",
    agent_first_times as "agentFirstAt"
  from heartbeat_hours`

/** $1, $2: users, and one hour each. Planned once, like `READ_TARGETS`. */
const READ_MARKS = statement(
  'read heartbeat marks',
  hourColumns,
  `${SELECT_HOURS} join unnest((select $1::uuid[]), (select $2::int[])) as requested (user_id, hour) using (user_id, hour)`,
)
const READ_ALL_MARKS = statement(
  'read all heartbeat marks',
  hourColumns,
  `${SELECT_HOURS} where user_id = $1::uuid order by hour`,
)

/** A person's hours. */
export interface HoursOfUser {
  userId: string
  hours: readonly number[]
}

/** Users and hours, with one element per hour in each array. */
export const hoursOf = (requested: readonly HoursOfUser[]): [string[], number[]] => [
  requested.flatMap(({ userId, hours }) => hours.map(() => userId)),
  requested.flatMap(({ hours }) => hours),
]

export const readMarks = (
  db: Db,
  requested: readonly HoursOfUser[],
): Promise<(StoredHour & { userId: string })[]> => db.rows(READ_MARKS, hoursOf(requested))

export const readAllMarks = (db: Db, userId: string): Promise<StoredHour[]> =>
  db.rows(READ_ALL_MARKS, [userId])

/** $1: the user; $2: hours. Reads the marks of each hour and of the nearest earlier one. Version 1.0.0 writes `leaves`. */
const lastColumns = { hour: integer, projects: texts, lastMarks: texts }
const READ_LAST_MARKS = statement(
  'read last heartbeat marks',
  lastColumns,
  `
  select distinct h.hour, h.projects, h.leaves as "lastMarks"
  from unnest($2::int[]) as requested (hour)
  cross join lateral (
    select hour, projects, coalesce(leaves, marks)::text[] as leaves from heartbeat_hours
    where user_id = $1::uuid and hour <= requested.hour and cardinality(projects) > 0
    order by hour desc limit 2
  ) as h`,
)
export type LastMarks = RowOf<typeof lastColumns>

export const readLastMarks = (db: Db, userId: string, hours: number[]): Promise<LastMarks[]> =>
  db.rows(READ_LAST_MARKS, [userId, hours])

/** An hour's arrays, with their columns and types. */
const ARRAYS = [
  ['projects', 'projects', 'text[]'],
  ['marks', 'marks', 'bit(60)[]'],
  ['firstAt', 'first_times', 'smallint[]'],
  ['countedIn', 'counted_in', 'uuid[]'],
  ['counted', 'counted', 'bit(60)[]'],
  ['countedRepos', 'counted_repos', 'text[]'],
  ['countedFor', 'counted_for', 'bit(60)[]'],
  ['agentProjects', 'agent_projects', 'text[]'],
  ['agentMarks', 'agent_marks', 'bit(60)[]'],
  ['agentFirstAt', 'agent_first_times', 'smallint[]'],
] as const
const names = ARRAYS.map(([, column]) => column)

/** One item per hour: $1: users; $2: hours; $3: local hours; $4 and on: the hour's arrays, as texts. */
const UPSERT_MARKS = statement(
  'upsert heartbeat marks',
  {},
  `
  insert into heartbeat_hours (user_id, hour, local_hour, ${names.join(', ')})
  select r.user_id, r.hour, r.local_hour, ${ARRAYS.map(([, column, type]) => `r.${column}::${type}`).join(', ')}
  from unnest($1::uuid[], $2::int[], $3::int[], ${names.map((_, index) => `$${index + 4}::text[]`).join(', ')})
    as r (user_id, hour, local_hour, ${names.join(', ')})
  on conflict (user_id, hour) do update set local_hour = excluded.local_hour,
    ${names.map((name) => `${name} = excluded.${name}`).join(', ')},
    leaves = null, last_times = null, agent_leaves = null, agent_last_times = null`,
)

/** An array as PostgreSQL writes it. */
export const arrayText = (items: readonly (string | number)[]): string =>
  `{${items.map((item) => (typeof item === 'number' ? item : `"${item.replace(/["\\]/g, '\\$&')}"`)).join()}}`

export const writeMarks = async (
  tx: Db,
  people: readonly { userId: string; hours: StoredHour[] }[],
): Promise<void> => {
  const hours = people.flatMap(({ hours }) => hours)
  if (hours.length === 0) return
  await tx.rows(UPSERT_MARKS, [
    people.flatMap(({ userId, hours }) => hours.map(() => userId)),
    hours.map(({ hour }) => hour),
    hours.map(({ localHour }) => localHour),
    ...ARRAYS.map(([property]) => hours.map(({ [property]: array }) => array && arrayText(array))),
  ])
}

/** $1, $2: users, and one timestamp each. */
const UPDATE_LAST_TIMES = statement(
  'update last heartbeat times',
  {},
  `
  insert into heartbeat_people as p (user_id, last_at)
  select r.user_id, r.last_at from unnest($1::uuid[], $2::timestamptz(3)[]) as r (user_id, last_at)
  order by r.user_id
  on conflict (user_id) do update set last_at = excluded.last_at where p.last_at < excluded.last_at`,
)

export const updateLastHeartbeats = async (
  tx: Db,
  people: readonly { userId: string; newest: Date | undefined }[],
): Promise<void> => {
  const rows = people.flatMap(({ userId, newest }) => (newest ? [{ userId, at: newest.toISOString() }] : []))
  if (rows.length === 0) return
  await tx.rows(UPDATE_LAST_TIMES, [rows.map(({ userId }) => userId), rows.map(({ at }) => at)])
}

const READ_LAST_HEARTBEAT = statement(
  'read last heartbeat time',
  { lastAt: moment },
  'select last_at as "lastAt" from heartbeat_people where user_id = $1::uuid',
)

/** Null for someone without heartbeats. */
export const readLastHeartbeat = async (db: Db, userId: string): Promise<{ last_at: string } | null> => {
  const [row] = await db.rows(READ_LAST_HEARTBEAT, [userId])
  return row ? { last_at: toTimestamp(row.lastAt) } : null
}
