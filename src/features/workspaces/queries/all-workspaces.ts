/** Workspaces for the operator, who isn't a member of any. */
import { NIL } from 'uuid'
import type { PrivacyLevel } from '../../../../schemas/common.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  integer,
  moment,
  type RowOf,
  statement,
  text,
  textOf,
  uuid,
} from '../../../platform/database/statement.js'
import { toTimestamp } from '../../../platform/time/clock.js'
import { ACTIVE_INVITE } from '../tables.js'

const columns = {
  id: uuid,
  name: text,
  personal: bool,
  activityPrivacy: textOf<PrivacyLevel>(),
  createdAt: moment,
  members: integer,
  /** Admins who can sign in. */
  admins: integer,
  /** Invites that can still be redeemed. */
  invites: integer,
}
export type WorkspaceFacts = RowOf<typeof columns>

const SELECT = `
  select w.id, w.name, w.personal_of is not null as personal, w.activity_privacy as "activityPrivacy",
    w.created_at as "createdAt",
    (select count(*)::int from members m where m.workspace_id = w.id) as members,
    (
      select count(*)::int from members m join users u on u.id = m.user_id
      where m.workspace_id = w.id and m.role = 'admin' and u.disabled_at is null
    ) as admins,
    (select count(*)::int from invites where workspace_id = w.id and ${ACTIVE_INVITE}) as invites
  from workspaces w
  where w.deleted_at is null`

const READ = statement('read workspace for operator', columns, `${SELECT} and w.id = $1::uuid`)

/** $1: the last id of the previous page; $2: part of the name or of a pattern, in lower case; $3: how many rows. */
const LIST = statement(
  'list all workspaces',
  columns,
  `${SELECT} and w.id > $1::uuid and (
    position($2::text in lower(w.name)) > 0
    or exists (select from patterns p where p.workspace_id = w.id and position($2::text in lower(p.pattern)) > 0)
  )
  order by w.id limit $3::int`,
)

const withTimestamp = (row: WorkspaceFacts): WorkspaceFacts => ({
  ...row,
  createdAt: toTimestamp(row.createdAt),
})

export const readWorkspaceFacts = async (db: Db, id: string): Promise<WorkspaceFacts | undefined> => {
  const [row] = await db.rows(READ, [id])
  return row && withTimestamp(row)
}

/**
 * Oldest first. @param search part of the name or a pattern, or empty. @param after the last id of the previous page
 */
export const listAllWorkspaces = async (
  db: Db,
  search: string,
  after: string = NIL,
  rows = 50,
): Promise<WorkspaceFacts[]> => (await db.rows(LIST, [after, search.toLowerCase(), rows])).map(withTimestamp)
