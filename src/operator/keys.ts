/** The operator's commands for access keys. Nothing here prints a key. */

import type { User } from '../features/accounts/queries/users.js'
import { hashOfSecret } from '../features/keys/access-keys.js'
import { revokeKey } from '../features/keys/index.js'
import { findOwner, listKeysCreatedBy } from '../features/keys/queries.js'
import { revokePersonKey } from '../features/workspaces/change-keys.js'
import { insertAuditEntry, lockWorkspace } from '../features/workspaces/index.js'
import { OPERATOR_ACTOR } from '../features/workspaces/queries/audit.js'
import type { Database } from '../platform/database/client.js'
import { isUuid } from '../platform/http/formats.js'
import { OperatorError } from '../platform/process/operator-error.js'
import { toTimestamp } from '../platform/time/clock.js'
import { explainFailure, printable } from './explain-failure.js'

/** A person's working keys, as lines. */
export const describeKeys = async ({ read }: Database, { id: userId, login }: User): Promise<string[]> => {
  const keys = await listKeysCreatedBy(read, userId)
  if (keys.length === 0) return [`${login} has no access keys.`]
  return keys.map(
    ({ id, name, scopes, workspaceId, expiresAt, lastUsedDay }) =>
      `${id}  ${printable(name)}${workspaceId === null ? '' : ` of workspace ${workspaceId}`}, ${scopes.join(' ')}, until ${toTimestamp(expiresAt)}, ${lastUsedDay === null ? 'never used' : `last used ${lastUsedDay}`}`,
  )
}

/**
 * Revokes a key as its owner does.
 * @param given the key itself, or its id
 * @returns what happened, in a sentence
 * @throws {OperatorError}
 */
export const revokeKeyOf = async (database: Database, given: string): Promise<string> => {
  const text = given.trim()
  const found = await findOwner(
    database.read,
    isUuid(text.toLowerCase()) ? { id: text.toLowerCase() } : { hash: hashOfSecret(text) },
  )
  if (!found) throw new OperatorError('There is no such access key, or its account or workspace was deleted.')
  const { id, userId, login, workspaceId } = found
  const revoked = await explainFailure(
    userId === null
      ? revokeWorkspaceKey(database, workspaceId as string, id)
      : revokePersonKey(database, userId, id, OPERATOR_ACTOR),
  )
  const owner = login ?? `workspace ${workspaceId}`
  return revoked
    ? `The key ${printable(revoked.name)} of ${owner}, id ${id}, is revoked.`
    : `The key of ${owner}, id ${id}, had already stopped working.`
}

const revokeWorkspaceKey = (database: Database, workspaceId: string, id: string) =>
  database.transaction(async (tx) => {
    if (!(await lockWorkspace(tx, workspaceId))) return undefined
    const { revoked } = await revokeKey(tx, { workspaceId }, id)
    if (revoked)
      await insertAuditEntry(tx, {
        workspaceId,
        actor: OPERATOR_ACTOR,
        action: 'key.revoked',
        target: revoked.name,
        details: { id },
      })
    return revoked
  })
