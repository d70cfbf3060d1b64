import type { CreatedAccessKey, CreateKeyBody } from '../../../schemas/keys.js'
import { ApiError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { issueKey, type RevokedKey, revokeKey } from '../accounts/index.js'
import { type Change, changeWorkspace, type WorkspaceCall } from './change-workspace.js'

/** @throws {ApiError} `key_limit` */
export const createWorkspaceKey = (
  database: Database,
  call: WorkspaceCall,
  body: CreateKeyBody,
): Promise<CreatedAccessKey> =>
  changeWorkspace(database, call, 'admin', async ({ tx, caller, record }) => {
    const { workspaceId } = call
    const created = await issueKey(tx, { workspaceId }, caller, body)
    const { id, name, scopes, expires_at } = created
    await record('key.created', name, { id, scopes, expires_at })
    return created
  })

/** Revoking again changes nothing. @throws {ApiError} `key_not_found` */
export const revokeWorkspaceKey = (
  database: Database,
  call: WorkspaceCall,
  id: string,
): Promise<RevokedKey | undefined> =>
  changeWorkspace(database, call, 'admin', async (change) => {
    const { found, revoked } = await revokeKey(change.tx, { workspaceId: call.workspaceId }, id)
    if (!found) throw new ApiError('key_not_found')
    if (revoked) await recordRevokedKey(change, revoked)
    return revoked
  })

export const recordRevokedKey = (
  { record }: Pick<Change, 'record'>,
  { id, name }: RevokedKey,
): Promise<void> => record('key.revoked', name, { id })
