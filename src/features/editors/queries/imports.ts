/** Imports: a file's days, the progress so far, and what earlier imports have found. */
import type { Import, ImportFailure } from '../../../../schemas/editors.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  date,
  integer,
  integers,
  moment,
  orNull,
  statement,
  text,
  textOf,
  texts,
  uuid,
} from '../../../platform/database/statement.js'
import { toTimestamp } from '../../../platform/time/clock.js'

import { arrayText } from './marks.js'

/** A repository's minutes on a UTC day in a workspace. */
export interface FoundMinutes {
  workspaceId: string
  day: string
  repoKey: string
  minutes: number
}

/** The key of a repository in a workspace, among those of a day. */
export const foundKey = ({ workspaceId, repoKey }: Pick<FoundMinutes, 'workspaceId' | 'repoKey'>): string =>
  `${workspaceId} ${repoKey}`

const READ_IMPORT = statement(
  'read import',
  {
    id: uuid,
    state: textOf<'running' | 'done' | 'cancelled' | 'failed'>(),
    reason: orNull(textOf<ImportFailure>()),
    heartbeats: integer,
    time: integer,
    future: integer,
    project: integer,
    recording_off: integer,
    days: integer,
    days_done: integer,
    minutes: integer,
    own_minutes: integer,
    created_at: moment,
    updated_at: moment,
  },
  `
  select id, state, reason, heartbeats, skipped_time as time, skipped_future as future,
    skipped_project as project, skipped_recording_off as recording_off, days, days_done, minutes, own_minutes, created_at, updated_at
  from imports where user_id = $1::uuid`,
)

/** A person's latest import. */
export const readImport = async (db: Db, userId: string): Promise<Import | undefined> => {
  const [row] = await db.rows(READ_IMPORT, [userId])
  if (!row) return undefined
  const { time, future, project, recording_off, created_at, updated_at, ...progress } = row
  return {
    ...progress,
    skipped: { time, future, project, recording_off },
    created_at: toTimestamp(created_at),
    updated_at: toTimestamp(updated_at),
  }
}

/** $1: the user; $2: the id; $3: heartbeats; $4 to $6: those without a time, too far ahead, without a project; $7: days. */
const INSERT_IMPORT = statement(
  'insert import',
  { id: uuid },
  `
  insert into imports as i (user_id, id, state, heartbeats, skipped_time, skipped_future, skipped_project, days)
  values ($1::uuid, $2::uuid, 'running', $3::int, $4::int, $5::int, $6::int, $7::int)
  on conflict (user_id) do update set id = excluded.id, state = excluded.state, reason = null,
    heartbeats = excluded.heartbeats, skipped_time = excluded.skipped_time, skipped_future = excluded.skipped_future,
    skipped_project = excluded.skipped_project, skipped_recording_off = 0,
    days = excluded.days, days_done = 0, minutes = 0, own_minutes = 0, created_at = excluded.created_at, updated_at = excluded.updated_at
  where i.state <> 'running'
  returning id`,
)

/** @returns whether no other import of the person was under way */
export const insertImport = async (
  tx: Db,
  userId: string,
  begun: { id: string; heartbeats: number; skipped: Omit<Import['skipped'], 'recording_off'>; days: number },
): Promise<boolean> => {
  const { id, heartbeats, skipped, days } = begun
  const { time, future, project } = skipped
  const rows = await tx.rows(INSERT_IMPORT, [userId, id, heartbeats, time, future, project, days])
  return rows.length > 0
}

/** $1: the user; per day: $2 the day, $3 projects and $4 marks as texts, $5 and $6 those of agents or null, $7 and $8 heartbeats. */
const INSERT_DAYS = statement(
  'insert import days',
  {},
  `
  insert into import_days
    (user_id, day, projects, marks, agent_projects, agent_marks, heartbeats, agent_heartbeats)
  select $1::uuid, r.day, r.projects::text[], r.marks::bit(1440)[], r.agent_projects::text[],
    r.agent_marks::bit(1440)[], r.heartbeats::int[], r.agent_heartbeats::int[]
  from unnest($2::date[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
    as r (day, projects, marks, agent_projects, agent_marks, heartbeats, agent_heartbeats)`,
)

/** A day with each project's minutes, as bits that are read as digits. Null: no agent has sent anything. */
export interface ImportDay {
  day: string
  projects: string[]
  marks: string[]
  agentProjects: string[] | null
  agentMarks: string[] | null
  /** For each project, its heartbeats in each of the 24 hours. Null: not known. */
  heartbeats: number[] | null
  agentHeartbeats: number[] | null
}

export const insertImportDays = async (tx: Db, userId: string, days: ImportDay[]): Promise<void> => {
  await tx.rows(INSERT_DAYS, [
    userId,
    days.map(({ day }) => day),
    days.map(({ projects }) => arrayText(projects)),
    days.map(({ marks }) => arrayText(marks)),
    days.map(({ agentProjects }) => agentProjects && arrayText(agentProjects)),
    days.map(({ agentMarks }) => agentMarks && arrayText(agentMarks)),
    days.map(({ heartbeats }) => heartbeats && arrayText(heartbeats)),
    days.map(({ agentHeartbeats }) => agentHeartbeats && arrayText(agentHeartbeats)),
  ])
}

const DELETE_DAYS = statement('delete import days', {}, 'delete from import_days where user_id = $1::uuid')

export const deleteImportDays = async (tx: Db, userId: string): Promise<void> => {
  await tx.rows(DELETE_DAYS, [userId])
}

/** $1: the user; $2: how many days are done. Also returns the day before and the day after. */
const READ_NEXT_DAYS = statement(
  'read next import days',
  {
    day: date,
    projects: texts,
    marks: texts,
    agentProjects: orNull(texts),
    agentMarks: orNull(texts),
    heartbeats: orNull(integers),
    agentHeartbeats: orNull(integers),
    today: date,
    isNext: bool,
  },
  `
  with next as (
    select day from import_days where user_id = $1::uuid order by day offset $2::int limit 1
  )
  select d.day, d.projects, d.marks::text[] as marks, d.agent_projects as "agentProjects",
    d.agent_marks::text[] as "agentMarks", d.heartbeats, d.agent_heartbeats as "agentHeartbeats", (now() at time zone 'UTC')::date as today, d.day = n.day as "isNext"
  from next n join import_days d on d.user_id = $1::uuid and d.day between n.day - 1 and n.day + 1
  order by d.day`,
)

/** An import's next day with its neighbors. Undefined when all are done. */
export const readNextDays = async (
  tx: Db,
  userId: string,
  done: number,
): Promise<{ day: string; today: string; days: ImportDay[] } | undefined> => {
  const rows = await tx.rows(READ_NEXT_DAYS, [userId, done])
  const next = rows.find(({ isNext }) => isNext)
  return next && { day: next.day, today: next.today, days: rows }
}

const LIST_RUNNING = statement(
  'list running imports',
  { userId: uuid },
  `select user_id as "userId" from imports where state = 'running' order by created_at, user_id limit 1000`,
)

/** Running imports, identified by their user. */
export const listRunningImports = async (db: Db): Promise<{ id: string }[]> =>
  (await db.rows(LIST_RUNNING, [])).map(({ userId }) => ({ id: userId }))

const CLAIM_IMPORT = statement(
  'claim import',
  { id: uuid, daysDone: integer },
  `
  select id, days_done as "daysDone" from imports
  where user_id = $1::uuid and state = 'running'
  for update skip locked`,
)

/** @returns the import's progress. Undefined if it has ended or another instance is working on it. */
export const claimImport = async (
  tx: Db,
  userId: string,
): Promise<{ id: string; daysDone: number } | undefined> => (await tx.rows(CLAIM_IMPORT, [userId]))[0]

/** $1: the user; $2, $3: minutes that were added in workspaces, and for the person only; $4: heartbeats for which recording is off. */
const FINISH_IMPORT_DAY = statement(
  'finish import day',
  {},
  `
  update imports set days_done = days_done + 1, minutes = minutes + $2::int,
    own_minutes = own_minutes + $3::int, skipped_recording_off = skipped_recording_off + $4::int, updated_at = now()
  where user_id = $1::uuid`,
)

export const finishImportDay = async (
  tx: Db,
  userId: string,
  done: { minutes: number; personalMinutes: number; recordingOff: number },
): Promise<void> => {
  await tx.rows(FINISH_IMPORT_DAY, [userId, done.minutes, done.personalMinutes, done.recordingOff])
}

/** $1: the user; $2: the state; $3: why it failed, or null. */
const END_IMPORT = statement(
  'end import',
  {},
  `update imports set state = $2::text, reason = $3::text, updated_at = now() where user_id = $1::uuid and state = 'running'`,
)

export const endImport = async (
  tx: Db,
  userId: string,
  state: 'done' | 'cancelled' | 'failed',
  reason: ImportFailure | null = null,
): Promise<void> => {
  await tx.rows(END_IMPORT, [userId, state, reason])
  await deleteImportDays(tx, userId)
}

/** $1: the user; $2: the day. */
const READ_IMPORTED = statement(
  'read imported minutes',
  { workspaceId: uuid, repoKey: text, minutes: integer },
  `
  select workspace_id as "workspaceId", repo_key as "repoKey", minutes from imported_minutes
  where user_id = $1::uuid and day = $2::date`,
)

/** The minutes that earlier imports have found on a day. */
export const readImported = async (
  tx: Db,
  userId: string,
  day: string,
): Promise<ReadonlyMap<string, number>> => {
  const rows = await tx.rows(READ_IMPORTED, [userId, day])
  return new Map(rows.map((row) => [foundKey(row), row.minutes]))
}

/** $1: the user; per repository and workspace: $2 workspace, $3 day, $4 repository, $5 minutes. */
const UPSERT_IMPORTED = statement(
  'upsert imported minutes',
  {},
  `
  insert into imported_minutes as i (user_id, workspace_id, day, repo_key, minutes)
  select $1::uuid, r.workspace_id, r.day, r.repo_key, r.minutes
  from unnest($2::uuid[], $3::date[], $4::text[], $5::int[]) as r (workspace_id, day, repo_key, minutes)
  on conflict (user_id, workspace_id, day, repo_key) do update set minutes = excluded.minutes
  where i.minutes < excluded.minutes`,
)

export const upsertImported = async (
  tx: Db,
  userId: string,
  found: readonly FoundMinutes[],
): Promise<void> => {
  if (found.length === 0) return
  await tx.rows(UPSERT_IMPORTED, [
    userId,
    found.map(({ workspaceId }) => workspaceId),
    found.map(({ day }) => day),
    found.map(({ repoKey }) => repoKey),
    found.map(({ minutes }) => minutes),
  ])
}

/** $1: the user; per repository and workspace: $2 workspace, $3 UTC day, $4 repository, $5 minutes. */
const SUBTRACT_IMPORTED = statement(
  'subtract imported minutes',
  {},
  `
  update imported_minutes i set minutes = greatest(0, i.minutes - r.minutes)
  from (
    select workspace_id, day, repo_key, sum(minutes)::int as minutes
    from unnest($2::uuid[], $3::date[], $4::text[], $5::int[]) as r (workspace_id, day, repo_key, minutes)
    group by workspace_id, day, repo_key
  ) r
  where i.user_id = $1::uuid and i.workspace_id = r.workspace_id and i.day = r.day and i.repo_key = r.repo_key`,
)

/** Forgets that imports have found these minutes. */
export const subtractImported = async (
  tx: Db,
  userId: string,
  removed: readonly FoundMinutes[],
): Promise<void> => {
  if (removed.length === 0) return
  await tx.rows(SUBTRACT_IMPORTED, [
    userId,
    removed.map(({ workspaceId }) => workspaceId),
    removed.map(({ day }) => day),
    removed.map(({ repoKey }) => repoKey),
    removed.map(({ minutes }) => minutes),
  ])
}
