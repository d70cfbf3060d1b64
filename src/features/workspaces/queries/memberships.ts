/** All of a person's memberships, when the account ends. */
import { asc, eq } from 'drizzle-orm'
import type { Role } from '../../../../schemas/common.js'
import type { Db } from '../../../platform/database/client.js'
import { bool, statement, text, textOf, uuid } from '../../../platform/database/statement.js'
import { members } from '../tables.js'
import { lockRoles } from './members.js'
import { lockAdministration } from './workspaces.js'

const LIST_MEMBERSHIPS = statement(
  'list workspaces with own activity',
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

/** A locked user's workspaces, with their administration and roles locked until the transaction ends. */
export const lockMemberships = async (tx: Db, userId: string) => {
  const rows = await tx
    .select({ id: members.workspaceId })
    .from(members)
    .where(eq(members.userId, userId))
    .orderBy(asc(members.workspaceId))
  const ids = rows.map(({ id }) => id)
  // In a fixed order, so that two people who leave the same workspaces don't deadlock.
  await Promise.all(ids.map((id) => lockAdministration(tx, id)))
  await Promise.all(ids.map((id) => lockRoles(tx, id)))
  return tx.rows(LIST_MEMBERSHIPS, [userId])
}

export const deleteMemberships = async (tx: Db, userId: string): Promise<void> => {
  await tx.delete(members).where(eq(members.userId, userId))
}
