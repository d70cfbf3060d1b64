import { v7 as uuidv7 } from 'uuid'
import type { Role } from '../schemas/common.js'
import { limits } from '../schemas/limits.js'
import { parsePatterns } from '../schemas/repo-pattern.js'
import { insertPatterns } from '../src/features/workspaces/queries/workspaces.js'
import type { Database, Db } from '../src/platform/database/client.js'
import { statement, uuid } from '../src/platform/database/statement.js'
import { seedActivity } from './activity.js'

export interface MadeUpTeam {
  name: string
  /** The owner of its repositories. Each member's login is this and a number. The first member is the admin. */
  owner: string
  /** The first of the members' repository-host ids, which are consecutive. */
  firstRepohostId: number
  members: number
  /** Days of activity. */
  from: string
  to: string
}

/** $1, $2: id and name; $3: the owner, in lower case; $4: host ids begin after it; $5: how many members. */
const INSERT_TEAM = statement(
  'make up a team',
  { id: uuid },
  `
  with team as (
    insert into workspaces (id, name, idle_window_minutes)
    values ($1::uuid, $2::text, ${limits.idle_window_minutes_default})
  ), people as (
    insert into users (id, repohost_id, login, login_key, avatar_url)
    select gen_random_uuid(), $4::bigint + n, $3::text || '-' || n, $3::text || '-' || n, ''
    from generate_series(1, $5::int) as n
    returning id, repohost_id
  ), joined as (
    insert into members (workspace_id, user_id, role)
    select $1::uuid, id, case when repohost_id = $4::bigint + 1 then 'admin' else 'member' end from people
  )
  select id from people order by repohost_id`,
)

/** A workspace for `owner/*` with made-up members; the first is its admin. @returns the members' ids */
export const insertTeam = async (
  tx: Db,
  team: { workspaceId: string; name: string; owner: string; firstRepohostId: number; members: number },
): Promise<string[]> => {
  const { workspaceId, name, owner, firstRepohostId, members } = team
  const rows = await tx.rows(INSERT_TEAM, [workspaceId, name, owner, firstRepohostId, members])
  await insertPatterns(tx, workspaceId, parsePatterns([`${owner}/*`]))
  return rows.map(({ id }) => id)
}

/** $1: the workspace; $2 to $4: host ids, logins and roles. */
const ADD_PEOPLE = statement(
  'let people join a workspace',
  { id: uuid },
  `
  with given as (
    select * from unnest($2::bigint[], $3::text[], $4::text[]) with ordinality as p (repohost_id, login, role, n)
  ), people as (
    insert into users (id, repohost_id, login, login_key, avatar_url)
    select gen_random_uuid(), repohost_id, login, lower(login), '' from given
    returning id, repohost_id
  ), joined as (
    insert into members (workspace_id, user_id, role)
    select $1::uuid, p.id, g.role from people p join given g using (repohost_id)
  )
  select p.id from people p join given g using (repohost_id) order by g.n`,
)

/** @returns the ids of the new users, in the order given */
export const addPeople = async (
  db: Db,
  workspaceId: string,
  people: { id: number; login: string; role: Role }[],
): Promise<string[]> => {
  const rows = await db.rows(ADD_PEOPLE, [
    workspaceId,
    people.map(({ id }) => id),
    people.map(({ login }) => login),
    people.map(({ role }) => role),
  ])
  return rows.map(({ id }) => id)
}

/**
 * Creates a workspace with members and their activity. The service updates the rollups by itself. @returns its id and
 * how many rows
 */
export const seedTeam = async (
  database: Database,
  { from, to, ...team }: MadeUpTeam,
): Promise<{ workspaceId: string; rows: number }> => {
  const workspaceId = uuidv7()
  const userIds = await database.transaction((tx) => insertTeam(tx, { workspaceId, ...team }))
  const rows = await seedActivity(database, { workspaceId, userIds, owner: team.owner, from, to })
  return { workspaceId, rows }
}
