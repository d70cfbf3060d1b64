/** Project names of editors that name no repository. */
import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
import { singleRow } from '../../../platform/database/single-row.js'
import {
  bool,
  integer,
  moment,
  orNull,
  type RowOf,
  statement,
  text,
} from '../../../platform/database/statement.js'

const columns = {
  name: text,
  /** Null: it waits for a repository, or is ignored. */
  repo: orNull(text),
  ignored: bool,
  automatic: bool,
}

export type EditorProject = RowOf<typeof columns>

/** $1: the user; $2: names; $3: hours. */
const FIND_NAMES = statement(
  'find project names',
  columns,
  `
  select name, repo, ignored, automatic from editor_projects
  where user_id = $1::uuid and name = any($2::text[] || array(
    select unnest(projects || coalesce(agent_projects, '{}')) from heartbeat_hours where user_id = $1::uuid and hour = any($3::int[])
  ))`,
)

/** The known projects among these names and the marks of these hours. */
export const findNames = async (
  db: Db,
  userId: string,
  names: string[],
  hours: number[],
): Promise<Map<string, EditorProject>> => {
  const rows = await db.rows(FIND_NAMES, [userId, names, hours])
  return new Map(rows.map((project) => [project.name, project]))
}

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

/** How many more names a person can have, of those that wait and of the others. */
export const readRoomForNames = async (
  db: Db,
  userId: string,
): Promise<{ waiting: number; chosen: number }> => {
  const { waiting, chosen } = singleRow(await db.rows(COUNT_NAMES, [userId]))
  return {
    waiting: limits.editor_projects_waiting - waiting,
    chosen: limits.editor_projects_chosen - chosen,
  }
}

/** $1: the user; $2: the name; $3: the repository or null; $4: ignored; $5: automatic. */
const CHOOSE_REPO = statement(
  'choose the repository of a project name',
  {},
  `
  insert into editor_projects (user_id, name, repo, ignored, automatic)
  values ($1::uuid, $2::text, $3::text, $4::boolean, $5::boolean)
  on conflict (user_id, name) do update set repo = excluded.repo, ignored = excluded.ignored,
    automatic = excluded.automatic, seen_at = excluded.seen_at`,
)

export const chooseRepo = async (tx: Db, userId: string, project: EditorProject): Promise<void> => {
  const { name, repo, ignored, automatic } = project
  await tx.rows(CHOOSE_REPO, [userId, name, repo, ignored, automatic])
}

/** $1: the user; of each name: $2 the name, $3 when its newest heartbeat was. */
const SEE_NAMES = statement(
  'remember when project names were seen',
  {},
  `
  insert into editor_projects as p (user_id, name, last_at)
  select $1::uuid, r.name, r.last_at
  from unnest($2::text[], $3::timestamptz(3)[]) as r (name, last_at)
  order by r.name collate "C"
  on conflict (user_id, name) do update set last_at = greatest(p.last_at, excluded.last_at),
    seen_at = excluded.seen_at`,
)

/** Names that are new wait from then on. */
export const seeNames = async (tx: Db, userId: string, lastAt: ReadonlyMap<string, Date>): Promise<void> => {
  if (lastAt.size === 0) return
  const moments = Array.from(lastAt.values(), (at) => at.toISOString())
  await tx.rows(SEE_NAMES, [userId, [...lastAt.keys()], moments])
}
