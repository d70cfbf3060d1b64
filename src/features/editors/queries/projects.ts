/** Editors' project names that aren't repositories. */
import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  integer,
  moment,
  orNull,
  type RowOf,
  singleRow,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'
import { type HoursOfUser, hoursOf } from './marks.js'

const columns = {
  name: text,
  /** Null: it waits for a repository, or is ignored. */
  repo: orNull(text),
  ignored: bool,
  automatic: bool,
}

export type EditorProject = RowOf<typeof columns>

/** $1, $2: users, and one name each; $3, $4: users, and one hour each. Planned once, like `READ_TARGETS`. */
const FIND_NAMES = statement(
  'find project names',
  { userId: uuid, ...columns },
  `
  select p.user_id as "userId", p.name, p.repo, p.ignored, p.automatic
  from (
    select user_id, name from unnest((select $1::uuid[]), (select $2::text[])) as given (user_id, name)
    union
    select h.user_id, unnest(h.projects || coalesce(h.agent_projects, '{}'))
    from heartbeat_hours h
    join unnest((select $3::uuid[]), (select $4::int[])) as requested (user_id, hour) using (user_id, hour)
  ) n
  join editor_projects p on p.user_id = n.user_id and p.name = n.name`,
)

/** People's known projects among these names, and the marks of these hours. */
export const findNames = (
  db: Db,
  requested: readonly (HoursOfUser & { names: readonly string[] })[],
): Promise<(EditorProject & { userId: string })[]> =>
  db.rows(FIND_NAMES, [
    requested.flatMap(({ userId, names }) => names.map(() => userId)),
    requested.flatMap(({ names }) => names),
    ...hoursOf(requested),
  ])

const LIST_WORKSPACE_NAMES = statement(
  'list the names of workspaces',
  { id: uuid, name: text },
  'select id, name from workspaces where id = any($1::uuid[]) order by name, id',
)

export const listWorkspaceNames = (
  db: Db,
  ids: readonly string[],
): Promise<{ id: string; name: string }[]> =>
  ids.length === 0 ? Promise.resolve([]) : db.rows(LIST_WORKSPACE_NAMES, [ids])

/** $1: the user; $2: texts in lower case, one of which is in the name. */
const FIND_ASSIGNED = statement(
  'find assigned project names',
  columns,
  `
  select name, repo, ignored, automatic from editor_projects
  where user_id = $1::uuid and repo is not null and not automatic
    and exists (select from unnest($2::text[]) as part where strpos(lower(name), part) > 0)`,
)

/** The names with one of these parts that the person has assigned. */
export const findAssigned = (db: Db, userId: string, parts: readonly string[]): Promise<EditorProject[]> =>
  db.rows(FIND_ASSIGNED, [userId, parts])

/** One person's projects. */
export const namesOf = (projects: readonly EditorProject[]): Map<string, EditorProject> =>
  new Map(projects.map((project) => [project.name, project]))

const LIST_NAMES = statement(
  'list project names',
  { ...columns, lastAt: orNull(moment) },
  `
  select name, repo, ignored, automatic, last_at as "lastAt" from editor_projects
  where user_id = $1::uuid
  order by last_at desc nulls last, name`,
)

export const listNames = (db: Db, userId: string): Promise<(EditorProject & { lastAt: string | null })[]> =>
  db.rows(LIST_NAMES, [userId])

const COUNT_NAMES = statement(
  'count project names',
  { waiting: integer, chosen: integer },
  `
  select count(*) filter (where repo is null and not ignored)::int as waiting,
    count(*) filter (where repo is not null or ignored)::int as chosen
  from editor_projects where user_id = $1::uuid`,
)

/** How many more unassigned and other names a person can have. */
export const readNameQuota = async (db: Db, userId: string): Promise<{ waiting: number; chosen: number }> => {
  const { waiting, chosen } = singleRow(await db.rows(COUNT_NAMES, [userId]))
  return {
    waiting: limits.editor_projects_waiting - waiting,
    chosen: limits.editor_projects_chosen - chosen,
  }
}

/** $1: the user; $2: the name; $3: the repository or null; $4: ignored; $5: automatic. */
const ASSIGN_PROJECT = statement(
  'assign project name',
  {},
  `
  insert into editor_projects (user_id, name, repo, ignored, automatic)
  values ($1::uuid, $2::text, $3::text, $4::boolean, $5::boolean)
  on conflict (user_id, name) do update set repo = excluded.repo, ignored = excluded.ignored,
    automatic = excluded.automatic, seen_at = excluded.seen_at`,
)

export const chooseRepo = async (tx: Db, userId: string, project: EditorProject): Promise<void> => {
  const { name, repo, ignored, automatic } = project
  await tx.rows(ASSIGN_PROJECT, [userId, name, repo, ignored, automatic])
}

/** $1 to $3: users, names, and the time of each name's last heartbeat. */
const UPDATE_NAME_USE = statement(
  'update project name usage',
  {},
  `
  insert into editor_projects as p (user_id, name, last_at)
  select r.user_id, r.name, r.last_at
  from unnest($1::uuid[], $2::text[], $3::timestamptz(3)[]) as r (user_id, name, last_at)
  order by r.user_id, r.name collate "C"
  on conflict (user_id, name) do update set last_at = greatest(p.last_at, excluded.last_at),
    seen_at = excluded.seen_at`,
)

/** New names start out unassigned. */
export const updateNameUse = async (
  tx: Db,
  people: readonly { userId: string; lastAt: ReadonlyMap<string, Date> }[],
): Promise<void> => {
  const rows = people.flatMap(({ userId, lastAt }) =>
    Array.from(lastAt, ([name, at]) => ({ userId, name, at: at.toISOString() })),
  )
  if (rows.length === 0) return
  await tx.rows(UPDATE_NAME_USE, [
    rows.map(({ userId }) => userId),
    rows.map(({ name }) => name),
    rows.map(({ at }) => at),
  ])
}

/** $1: the user. */
const DELETE_OLDEST_NAMES = statement(
  'delete oldest unassigned project names',
  { name: text },
  `
  delete from editor_projects
  where user_id = $1::uuid and repo is null and not ignored and name in (
    select name from editor_projects
    where user_id = $1::uuid and repo is null and not ignored
    order by last_at desc nulls last, name collate "C" offset ${limits.editor_projects_waiting}
  )
  returning name`,
)

/** $1: the user; $2: how many. */
const COUNT_DROPPED = statement(
  'count dropped project names',
  {},
  `
  insert into dropped_names as d (user_id, names) values ($1::uuid, $2::int)
  on conflict (user_id) do update set names = d.names + excluded.names, dropped_at = excluded.dropped_at`,
)

/** Drops waiting names beyond the limit, least recently used first, and counts them. */
export const deleteOldestNames = async (tx: Db, userId: string): Promise<void> => {
  const dropped = await tx.rows(DELETE_OLDEST_NAMES, [userId])
  if (dropped.length > 0) await tx.rows(COUNT_DROPPED, [userId, dropped.length])
}

const READ_DROPPED = statement(
  'read dropped project name count',
  { names: integer },
  'select names from dropped_names where user_id = $1::uuid',
)

export const readDroppedNames = async (db: Db, userId: string): Promise<number> =>
  (await db.rows(READ_DROPPED, [userId]))[0]?.names ?? 0
