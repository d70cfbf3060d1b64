/**
 * SQL that counts people. Someone counts once, by the account that the repository host's id has now: from the moment an account
 * is deleted, its activity counts, but no person does. Otherwise one person could be a whole group, with an account after
 * another.
 */
import type { Db } from '../../../platform/database/client.js'
import { statement, uuid } from '../../../platform/database/statement.js'
import { DELETED_USER } from '../../accounts/index.js'

/** SQL: those of the workspace $1 whose account was deleted and whose activity is still theirs, usually none. */
const SELECT_ERASED = `select e.user_id as id from erasures e
    join activity_people p on p.user_id = e.user_id and p.workspace_id = $1::uuid`

const LIST_ERASED = statement('list erased people', { id: uuid }, SELECT_ERASED)

/**
 * Those whose account was deleted and whose activity is still theirs, usually none. Rollups count them, because no rollup
 * changes at the moment of the deletion. Readers subtract them.
 */
export const listErased = async (tx: Db, workspaceId: string): Promise<string[]> =>
  (await tx.rows(LIST_ERASED, [workspaceId])).map(({ id }) => id)

/** SQL: whether the column's user counts as a person in the workspace $1. */
export const isPerson = (column: string): string =>
  `(${column} <> '${DELETED_USER}' and ${column} <> all(array(${SELECT_ERASED})))`
