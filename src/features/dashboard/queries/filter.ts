/** Whose activity a dashboard shows, and in which repository. */
import type { Db } from '../../../platform/database/client.js'
import { statement, uuid } from '../../../platform/database/statement.js'

/** Limits a dashboard to one person, to one repository (in lower case), to both, or to neither. */
export interface Filter {
  userId?: string | undefined
  repoKey?: string | undefined
}

const FIND_PERSON = statement(
  'find member or contributor',
  { id: uuid },
  `
  select u.id from users u
  where u.login_key = $2::text and u.repohost_id is not null and (
    exists (select from members where workspace_id = $1::uuid and user_id = u.id)
    or exists (select from daily_activity where workspace_id = $1::uuid and user_id = u.id)
  )`,
)

/** Whom a dashboard is about. Unknown: a login that isn't in the workspace and has no activity there. */
export type Subject = { kind: 'everyone' } | { kind: 'person'; userId: string } | { kind: 'unknown' }

export const findPerson = async (db: Db, workspaceId: string, login: string): Promise<Subject> => {
  const [row] = await db.rows(FIND_PERSON, [workspaceId, login.toLowerCase()])
  return row ? { kind: 'person', userId: row.id } : { kind: 'unknown' }
}
