/**
 * Accounts that were deleted: what the last transaction of an account does, and the small steps in which all else of it is
 * removed, or handed over to `DELETED_USER`, later.
 */

import { asc, eq, getTableName } from 'drizzle-orm'
import type { Role } from '../../../../schemas/common.js'
import type { Db } from '../../../platform/database/client.js'
import { limitedDelete, limitedUpdate } from '../../../platform/database/limited-delete.js'
import { locksOfWorkspaces } from '../../../platform/database/locks.js'
import {
  bool,
  date,
  integer,
  orNull,
  type Statement,
  statement,
  text,
  textOf,
  uuid,
} from '../../../platform/database/statement.js'
import { columnsOf } from '../../../platform/database/table.js'
import { tables } from '../../../tables.js'
import { DELETED_LOGIN, DELETED_USER, users } from '../../accounts/index.js'
import { handOverViews, markDays, rebuildMonth, registerPeople, TAKE_TURN } from '../../activity/index.js'
import { ABOUT_PEOPLE, auditEntries, members } from '../../workspaces/index.js'
import { erasures } from '../tables.js'

/** In one statement for all, and in one order, so that two who leave the same workspaces do not deadlock. */
const lockAll = (name: string, lock: number) =>
  statement(
    `lock the ${name} of workspaces`,
    {},
    `select pg_advisory_xact_lock(${lock}, hashtext(id::text)) from unnest($1::uuid[]) as id`,
  )
const LOCK_ADMINISTRATIONS = lockAll('administration', locksOfWorkspaces.administration)
const LOCK_ROLES = lockAll('roles', locksOfWorkspaces.roles)

const LIST_PLACES = statement(
  'list the places of a member',
  { id: uuid, name: text, role: textOf<Role>(), isAlone: bool, hasOtherAdmin: bool },
  `
  select w.id, w.name, m.role,
    not exists (
      select from members o where o.workspace_id = m.workspace_id and o.user_id <> m.user_id
    ) as "isAlone",
    exists (
      select from members o where o.workspace_id = m.workspace_id and o.user_id <> m.user_id and o.role = 'admin'
    ) as "hasOtherAdmin"
  from members m join workspaces w on w.id = m.workspace_id
  where m.user_id = $1::uuid
  order by w.created_at, w.id`,
)

/** The workspaces of a locked user, with their administration and roles locked until the transaction ends. */
export const lockPlaces = async (tx: Db, userId: string) => {
  const rows = await tx
    .select({ id: members.workspaceId })
    .from(members)
    .where(eq(members.userId, userId))
    .orderBy(asc(members.workspaceId))
  const ids = rows.map(({ id }) => id)
  await tx.rows(LOCK_ADMINISTRATIONS, [ids])
  await tx.rows(LOCK_ROLES, [ids])
  return tx.rows(LIST_PLACES, [userId])
}

/** Takes the name off a locked user, and notes that what is left of the account has to be erased. */
export const beginErasure = async (tx: Db, userId: string, loginKey: string): Promise<void> => {
  await tx.delete(members).where(eq(members.userId, userId))
  await tx.insert(erasures).values({ userId, loginKey })
  await tx
    .update(users)
    .set({
      repohostId: null,
      login: DELETED_LOGIN,
      loginKey: `${DELETED_LOGIN} ${userId}`,
      avatarUrl: '',
      timezone: null,
    })
    .where(eq(users.id, userId))
}

export interface Erasure {
  userId: string
  loginKey: string
}

/** Those that are not finished, oldest first. */
export const listErasures = (db: Db): Promise<Erasure[]> =>
  db
    .select({ userId: erasures.userId, loginKey: erasures.loginKey })
    .from(erasures)
    .orderBy(asc(erasures.startedAt), asc(erasures.userId))

/** What the rules of the tables say about columns that name a person. $1: the user; $2: how many rows. */
const STEPS: Statement<unknown>[] = tables.flatMap(({ table, rules: { people = {} } }) =>
  Object.entries(people).flatMap(([key, rule]): Statement<unknown>[] => {
    const name = getTableName(table)
    const column = columnsOf(table)[key]
    const ofUser = `${column} = $1::uuid`
    if (rule?.erasure === 'delete') return [limitedDelete(`erase ${name}.${column}`, table, ofUser, '$2')]
    if (rule?.erasure === 'anonymise')
      return [
        limitedUpdate(`anonymise ${name}.${column}`, table, `${column} = '${DELETED_USER}'`, ofUser, '$2'),
      ]
    return []
  }),
)

/** SQL: by whom or about whom an entry is; entries from before there were ids say so by login alone ($2). */
const BY = `(actor_id = $1::uuid or (actor_id is null and lower(actor) = $2::text))`
const ABOUT = `(target_id = $1::uuid or (target_id is null and (${ABOUT_PEOPLE}) and lower(target) = $2::text))`

/** $1, $2: the user and the login in lower case; $3: how many rows. */
const TAKE_NAME_OFF_ENTRIES = limitedUpdate(
  'take a name off the audit trail',
  auditEntries,
  `
    actor = case when ${BY} then '${DELETED_LOGIN}' else actor end,
    actor_id = case when ${BY} then '${DELETED_USER}' else actor_id end,
    target = case when ${ABOUT} then '${DELETED_LOGIN}' else target end,
    target_id = case when ${ABOUT} then '${DELETED_USER}' else target_id end,
    details = regexp_replace(details::text, '***="' || $2::text || '"', '"${DELETED_LOGIN}"', 'gi')::jsonb`,
  `(${BY} or ${ABOUT})`,
  '$3',
)

const FIND_WORKSPACE = statement(
  'find a workspace in which somebody has activity',
  { workspaceId: uuid },
  `select workspace_id as "workspaceId" from activity_people where user_id = $1::uuid limit 1`,
)

/** $1: the workspace; $2: the user. */
const FIND_MONTH = statement(
  'find the first month in which somebody has activity',
  { month: orNull(date) },
  `
  select date_trunc('month', min(day))::date as month from activity
  where workspace_id = $1::uuid and user_id = $2::uuid`,
)

/** SQL: what $2 has in the workspace $1 in the month $3. */
const IN_MONTH = `workspace_id = $1::uuid and user_id = $2::uuid
    and day >= $3::date and day < $3::date + interval '1 month'`

/** $4: how many rows come before. */
const FIND_END = statement(
  'find where a step of an erasure ends',
  { day: date, repoKey: text },
  `
  select day, repo_key as "repoKey" from activity where ${IN_MONTH}
  order by day, repo_key offset $4::int limit 1`,
)

/** $4, $5: the last row, or nulls. */
const TAKE_ACTIVITY = statement(
  'take the activity of somebody',
  { day: date, repoKey: text, minutes: integer, commits: integer, closedIssues: integer },
  `
  delete from activity
  where ${IN_MONTH} and (day, repo_key) <= (coalesce($4::date, 'infinity'), coalesce($5::text, ''))
  returning day, repo_key as "repoKey", minutes, commits, closed_issues as "closedIssues"`,
)

/** $1: the workspace; of each row: $2 day, $3 repository, $4 to $6 counts. */
const GIVE_ACTIVITY = statement(
  'add the activity of somebody to that of deleted users',
  {},
  `
  insert into activity as a (workspace_id, user_id, day, repo_key, minutes, commits, closed_issues)
  select $1::uuid, '${DELETED_USER}'::uuid, r.day, r.repo_key, r.minutes, r.commits, r.closed_issues
  from unnest($2::date[], $3::text[], $4::int[], $5::int[], $6::int[]) as r (day, repo_key, minutes, commits, closed_issues)
  where r.minutes + r.commits + r.closed_issues > 0
  on conflict (workspace_id, user_id, day, repo_key) do update set
    minutes = a.minutes + excluded.minutes, commits = a.commits + excluded.commits,
    closed_issues = a.closed_issues + excluded.closed_issues`,
)

const DELETE_PERSON = statement(
  'erase a person of a workspace',
  {},
  'delete from activity_people where workspace_id = $1::uuid and user_id = $2::uuid',
)

/**
 * Hands over activity of one month in one workspace, and makes the rollups of its days anew at once, so that no dashboard
 * has to read them from the activity. To be called by who has the turn to roll up.
 * @returns whether there was any
 */
const handOverActivity = async (tx: Db, userId: string, rows: number): Promise<boolean> => {
  const [person] = await tx.rows(FIND_WORKSPACE, [userId])
  if (!person) return false
  const { workspaceId } = person
  // A flush that is under way is waited for.
  await tx.rows(TAKE_TURN, [workspaceId, userId])
  const [first] = await tx.rows(FIND_MONTH, [workspaceId, userId])
  if (!first?.month) {
    await tx.rows(DELETE_PERSON, [workspaceId, userId])
    return true
  }
  const here = [workspaceId, userId, first.month]
  const [end] = await tx.rows(FIND_END, [...here, rows - 1])
  const taken = await tx.rows(TAKE_ACTIVITY, [...here, end?.day ?? null, end?.repoKey ?? null])
  await registerPeople(tx, workspaceId, [DELETED_USER])
  await tx.rows(GIVE_ACTIVITY, [
    workspaceId,
    taken.map(({ day }) => day),
    taken.map(({ repoKey }) => repoKey),
    taken.map(({ minutes }) => minutes),
    taken.map(({ commits }) => commits),
    taken.map(({ closedIssues }) => closedIssues),
  ])
  await markDays(tx, workspaceId, [...new Set(taken.map(({ day }) => day))])
  await rebuildMonth(tx, { workspaceId, month: first.month })
  return true
}

const counts = {
  activity:
    'activity_people p join activity a on a.workspace_id = p.workspace_id and a.user_id = p.user_id where p.user_id',
  'settings versions': 'snapshot_versions where created_by',
  invites: 'invites where created_by',
  'entries of audit trails': 'audit_entries where actor_id',
  flushes: 'flushes where user_id',
  'funnel events': 'funnel_users where user_id',
  looks: 'dashboard_views where viewer_id',
}

const COUNT_ROWS = statement(
  'count the rows of somebody',
  { name: text, rows: integer },
  Object.entries(counts)
    .map(([name, from]) => `select '${name}'::text as name, count(*)::int as rows from ${from} = $1::uuid`)
    .join('\n  union all '),
)

/** How much there is of somebody, table by table. */
export const countRowsOf = (db: Db, userId: string): Promise<{ name: string; rows: number }[]> =>
  db.rows(COUNT_ROWS, [userId])

/** Longer than any request takes. */
const OPEN_MINUTES = 10

const END_ERASURE = statement(
  'end an erasure',
  { ended: integer },
  `
  delete from erasures where user_id = $1::uuid and started_at < now() - make_interval(mins => ${OPEN_MINUTES})
  returning 1 as ended`,
)

/**
 * One step of erasing an account, of so many rows at most; to be called by who has the turn to roll up. Requests that were
 * under way when the account was deleted may still write for it, so an erasure stays open for a while.
 * @returns whether there was something to do
 */
export const eraseSome = async (tx: Db, { userId, loginKey }: Erasure, rows: number): Promise<boolean> => {
  if ((await tx.rows(TAKE_NAME_OFF_ENTRIES, [userId, loginKey, rows])).length > 0) return true
  for (const step of STEPS) if ((await tx.rows(step, [userId, rows])).length > 0) return true
  await handOverViews(tx, userId)
  if (await handOverActivity(tx, userId, rows)) return true
  const ended = await tx.rows(END_ERASURE, [userId])
  if (ended.length > 0) await tx.delete(users).where(eq(users.id, userId))
  return false
}
