/** The repository-host organization that a workspace follows, and what the host has said about its members. */
import { and, eq, isNull, sql } from 'drizzle-orm'
import { NIL } from 'uuid'
import { limits } from '../../../../schemas/limits.js'
import type { Organization, OrganizationMember } from '../../../../schemas/organizations.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  double,
  integer,
  moment,
  orNull,
  type RowOf,
  singleRow,
  statement,
  text,
  textOf,
  uuid,
} from '../../../platform/database/statement.js'
import { toTimestamp } from '../../../platform/time/clock.js'
import { isAdmitting, organizationMembers, organizations, pausedBecause } from '../tables.js'
import { SERVICE_ACTOR } from './audit.js'

const READ_ORGANIZATION = statement(
  'read workspace organization',
  {
    organization: text,
    organization_id: double,
    join: textOf<Organization['join']>(),
    leave: textOf<Organization['leave']>(),
    linked_by: text,
    linked_at: moment,
    confirmed_at: moment,
    paused_because: orNull(textOf<NonNullable<Organization['paused_because']>>()),
  },
  `
  select o.name as organization, o.host_id::float8 as organization_id, o.joins as join, o.leaves as leave,
    u.login as linked_by, o.linked_at, greatest(o.linked_at, o.confirmed_at) as confirmed_at,
    ${pausedBecause('o')} as paused_because
  from organizations o join users u on u.id = o.linked_by
  where o.workspace_id = $1::uuid`,
)

export const readOrganization = async (db: Db, workspaceId: string): Promise<Organization | undefined> => {
  const [row] = await db.rows(READ_ORGANIZATION, [workspaceId])
  return (
    row && {
      ...row,
      linked_at: toTimestamp(row.linked_at),
      confirmed_at: toTimestamp(row.confirmed_at),
      state: row.paused_because === null ? 'active' : 'paused',
    }
  )
}

export const writeOrganization = async (
  tx: Db,
  row: Omit<typeof organizations.$inferInsert, 'linkedAt'>,
): Promise<void> => {
  await tx
    .insert(organizations)
    .values({ ...row, linkedAt: sql`statement_timestamp()` })
    .onConflictDoUpdate({
      target: organizations.workspaceId,
      set: {
        hostId: sql`excluded.host_id`,
        name: sql`excluded.name`,
        joins: sql`excluded.joins`,
        leaves: sql`excluded.leaves`,
        linkedBy: sql`excluded.linked_by`,
        linkedAt: sql`excluded.linked_at`,
        confirmedAt: null,
        deniedAt: null,
      },
    })
}

export const deleteOrganization = async (tx: Db, workspaceId: string): Promise<void> => {
  await tx.delete(organizations).where(eq(organizations.workspaceId, workspaceId))
}

/**
 * Forgets what the host said about members of the organization that was linked before. Keeps the record of
 * how members joined. Otherwise, workspaces that people were added to would count as ones they chose to join. A newly
 * linked organization gets the usual time to confirm them.
 */
export const deleteOrganizationMembers = async (tx: Db, workspaceId: string): Promise<void> => {
  const ofWorkspace = eq(organizationMembers.workspaceId, workspaceId)
  await tx.delete(organizationMembers).where(and(ofWorkspace, isNull(organizationMembers.confirmedAt)))
  await tx
    .update(organizationMembers)
    .set({ leftAt: null, confirmedAt: sql`statement_timestamp()` })
    .where(ofWorkspace)
}

const followedColumns = {
  workspaceId: uuid,
  hostId: double,
  name: text,
  leaves: textOf<Organization['leave']>(),
  isKnown: bool,
  isCreator: bool,
  listedAt: moment,
}

const LIST_FOLLOWED = statement(
  'list own workspace organizations',
  followedColumns,
  `
  select o.workspace_id as "workspaceId", o.host_id::float8 as "hostId", o.name, o.leaves,
    om.user_id is not null as "isKnown", o.joins = 'member' and o.linked_by = m.user_id and m.role = 'admin' as "isCreator",
    now() as "listedAt"
  from members m
  join organizations o on o.workspace_id = m.workspace_id
  left join organization_members om on om.workspace_id = m.workspace_id and om.user_id = m.user_id
  where m.user_id = $1::uuid
  order by random()`,
)

/**
 * The link of a workspace that the person is a member of. `isKnown`: the host has already reported on the person's
 * membership. `isCreator`: the person created the link, is still an admin, and lets others join through it.
 */
export type Followed = RowOf<typeof followedColumns>

/** In a random order: only some can be looked up, and no one can push others ahead of them. */
export const listFollowed = (db: Db, userId: string): Promise<Followed[]> => db.rows(LIST_FOLLOWED, [userId])

const ADMITS_ANYONE = statement(
  'check whether organization admits members',
  { admits: bool },
  `select exists (select from organizations o where ${isAdmitting('o')}) as admits`,
)

export const admitsAnyone = async (db: Db): Promise<boolean> =>
  singleRow(await db.rows(ADMITS_ANYONE, [])).admits

const openColumns = { workspaceId: uuid, hostId: double, name: text, createdBy: orNull(uuid) }

/** $1: the user; $2: host ids. */
const LIST_OPEN = statement(
  'list workspaces joinable through an organization',
  openColumns,
  `
  select o.workspace_id as "workspaceId", o.host_id::float8 as "hostId", o.name, w.created_by as "createdBy"
  from organizations o
  join workspaces w on w.id = o.workspace_id and w.deleted_at is null and w.personal_of is null
  left join members m on m.workspace_id = o.workspace_id and m.user_id = $1::uuid
  where ${isAdmitting('o')} and o.host_id = any($2::bigint[]) and m.user_id is null
  order by row_number() over (partition by w.created_by order by random()), random()
  limit ${limits.workspaces_by_organization}`,
)

export type OpenWorkspace = RowOf<typeof openColumns>

/**
 * The workspaces that the person isn't in, and whose members follow one of these organizations. Creators take turns in
 * a random order, so that no one can fill the list with workspaces that the person has left.
 */
export const listOpenWorkspaces = (db: Db, userId: string, hostIds: number[]): Promise<OpenWorkspace[]> =>
  db.rows(LIST_OPEN, [userId, hostIds])

/** $1: how many. */
const LIST_ADMITTING = statement(
  'list organizations that admit members',
  { id: double, name: text },
  `
  select o.host_id::float8 as id, o.name from organizations o where ${isAdmitting('o')}
  group by o.host_id, o.name order by min(o.linked_at), o.host_id limit $1::int`,
)

export const listAdmitting = (db: Db, limit: number): Promise<{ id: number; name: string }[]> =>
  db.rows(LIST_ADMITTING, [limit])

/** $1: the user. */
const COUNT_JOINED = statement(
  'count workspaces joined through organizations',
  { createdBy: orNull(uuid), joined: integer },
  `
  select w.created_by as "createdBy", count(*)::int as joined
  from organization_members o join workspaces w on w.id = o.workspace_id and w.deleted_at is null
  where o.user_id = $1::uuid and o.confirmed_at is not null
  group by w.created_by`,
)

/** How many workspaces the person joined by organization, by the workspaces' creators. */
export const countJoinedByOrganization = async (
  db: Db,
  userId: string,
): Promise<Map<string | null, number>> => {
  const rows = await db.rows(COUNT_JOINED, [userId])
  return new Map(rows.map(({ createdBy, joined }) => [createdBy, joined]))
}

export const insertOrganizationMember = async (
  tx: Db,
  workspaceId: string,
  userId: string,
): Promise<void> => {
  await tx
    .insert(organizationMembers)
    .values({ workspaceId, userId, confirmedAt: sql`statement_timestamp()` })
}

/** $1: the user; $2: workspaces; $3: when the host was asked. Reports of leaving that are newer stay. */
const WITHOUT_NEWER_REPORT = `user_id = $1::uuid and workspace_id = any($2::uuid[])
    and (left_at is null or left_at < $3::timestamptz)`

/** Records confirmations at most once a day, which is often enough. */
const CONFIRM = statement(
  'record organization membership',
  {},
  `
  update organization_members
  set confirmed_at = now()
  where ${WITHOUT_NEWER_REPORT}
    and (left_at is not null and confirmed_at is not null or confirmed_at not between now() - interval '1 day' and now())`,
)
const CLEAR_LEAVE_REPORTS = statement(
  'clear organization leave reports',
  {},
  `
  update organization_members set left_at = null
  where ${WITHOUT_NEWER_REPORT} and left_at is not null`,
)

export const clearLeaveReports = async (tx: Db, workspaceId: string, userId: string): Promise<void> => {
  await tx.rows(CLEAR_LEAVE_REPORTS, [userId, [workspaceId], 'infinity'])
}

/** @param askedAt when the host was asked, by the database's clock */
export const confirmMemberships = async (
  tx: Db,
  userId: string,
  workspaceIds: string[],
  askedAt: string,
): Promise<void> => {
  const parameters = [userId, workspaceIds, askedAt]
  await Promise.all([tx.rows(CONFIRM, parameters), tx.rows(CLEAR_LEAVE_REPORTS, parameters)])
}

/**
 * $1: the creator of the links; $2: their workspaces; $3: the host's organizations; $4: when the host was asked.
 * Newer denials stay. Once a day is often enough.
 */
const CONFIRM_LINKS = statement(
  'confirm organization links',
  {},
  `
  update organizations set confirmed_at = now(), denied_at = null
  where linked_by = $1::uuid and workspace_id = any($2::uuid[]) and host_id = any($3::bigint[])
    and (denied_at is null or denied_at < $4::timestamptz)
    and (denied_at is not null or greatest(linked_at, confirmed_at) not between now() - interval '1 day' and now())`,
)

/** @param askedAt when the host was asked, by the database's clock */
export const confirmLinks = async (
  db: Db,
  userId: string,
  links: { workspaceId: string; hostId: number }[],
  askedAt: string,
): Promise<void> => {
  await db.rows(CONFIRM_LINKS, [
    userId,
    links.map(({ workspaceId }) => workspaceId),
    links.map(({ hostId }) => hostId),
    askedAt,
  ])
}

/** $1: the workspace; $2: the host's organization; $3: the creator. */
const DENY_LINK = statement(
  'deny organization link',
  { isNew: bool },
  `
  update organizations set denied_at = statement_timestamp()
  where workspace_id = $1::uuid and host_id = $2::bigint and linked_by = $3::uuid and joins = 'member'
    and (denied_at is null or denied_at < linked_at)
  returning true as "isNew"`,
)

/** @returns whether this is new */
export const denyLink = async (
  tx: Db,
  { workspaceId, hostId, userId }: { workspaceId: string; hostId: number; userId: string },
): Promise<boolean> => (await tx.rows(DENY_LINK, [workspaceId, hostId, userId])).length > 0

/** $1: the workspace; $2: the user. */
const RECORD_LEAVE_REPORT = statement(
  'record leave report',
  { isNew: bool },
  `
  insert into organization_members as o (workspace_id, user_id, left_at)
  values ($1::uuid, $2::uuid, statement_timestamp())
  on conflict (workspace_id, user_id) do update set left_at = excluded.left_at where o.left_at is null
  returning true as "isNew"`,
)

/** @returns whether this is new */
export const recordLeaveReport = async (tx: Db, workspaceId: string, userId: string): Promise<boolean> =>
  (await tx.rows(RECORD_LEAVE_REPORT, [workspaceId, userId])).length > 0

export const hasLeft = async (tx: Db, workspaceId: string, userId: string): Promise<boolean> => {
  const [row] = await tx
    .select({ leftAt: organizationMembers.leftAt })
    .from(organizationMembers)
    .where(
      sql`${organizationMembers.workspaceId} = ${workspaceId} and ${organizationMembers.userId} = ${userId}`,
    )
  return row !== undefined && row.leftAt !== null
}

/** $1: the workspace. Counted from the audit trail, because its entries can't be changed. */
const COUNT_REMOVALS = statement(
  'count recent organization removals',
  { removals: integer },
  `
  select count(*)::int as removals from audit_entries
  where workspace_id = $1::uuid and at > clock_timestamp() - interval '1 hour'
    and action = 'member.removed' and actor_id = '${SERVICE_ACTOR.id}'`,
)

export const countRemovals = async (tx: Db, workspaceId: string): Promise<number> =>
  singleRow(await tx.rows(COUNT_REMOVALS, [workspaceId])).removals

/** $1: the workspace; $2: the user after which the page begins; $3: how many rows. */
const LIST_MEMBERS = statement(
  'list organization memberships',
  { userId: uuid, login: text, left_at: orNull(moment), unconfirmed_since: orNull(moment) },
  `
  select o.user_id as "userId", u.login, o.left_at,
    case when o.confirmed_at < now() - interval '${limits.membership_unconfirmed_days} days' then o.confirmed_at end
      as unconfirmed_since
  from organization_members o
  join organizations l on l.workspace_id = o.workspace_id
  join users u on u.id = o.user_id
  where o.workspace_id = $1::uuid and o.user_id > $2::uuid
    and (o.left_at is not null or o.confirmed_at < now() - interval '${limits.membership_unconfirmed_days} days')
  order by o.user_id
  limit $3::int`,
)

export interface ListedOrganizationMember {
  userId: string
  member: OrganizationMember
}

/** Members whose removal is waiting, or whose membership hasn't been confirmed for a long time. */
export const listOrganizationMembers = async (
  db: Db,
  workspaceId: string,
  after: string[] | undefined,
  rows: number,
): Promise<ListedOrganizationMember[]> => {
  const found = await db.rows(LIST_MEMBERS, [workspaceId, after?.[0] ?? NIL, rows])
  return found.map(({ userId, login, left_at, unconfirmed_since }) => ({
    userId,
    member: {
      login,
      left_at: left_at && toTimestamp(left_at),
      unconfirmed_since: unconfirmed_since && toTimestamp(unconfirmed_since),
    },
  }))
}
