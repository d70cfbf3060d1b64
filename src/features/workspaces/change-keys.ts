import type { CreatedAccessKey, CreateKeyBody, Scope } from '../../../schemas/keys.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { lockCaller } from '../accounts/index.js'
import { issueKey, type RevokedKey, revokeKey } from '../keys/index.js'
import { type Change, changeWorkspace, type WorkspaceCall } from './change-workspace.js'
import { type Actor, insertAuditEntries } from './queries/audit.js'
import { listWorkspacesOf } from './queries/workspaces.js'

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

/** With these scopes, a personal key can do what admins do, wherever the person is an admin. */
const ofAdmins = new Set<string>(['settings:write', 'counts:write', 'dashboard:read'] satisfies Scope[])

/**
 * In the personal workspace, whose trail only the person reads, all of the person's keys are recorded by name. In other
 * workspaces that the person administers, only keys that can act for an admin are recorded, without their names.
 */
const recordPersonKey = async (
  tx: Db,
  person: Actor,
  actor: Actor,
  action: 'key.created' | 'key.revoked',
  { name, scopes, ...details }: { id: string; name: string; scopes: readonly string[]; expires_at?: string },
): Promise<void> => {
  const isOfAdmin = scopes.some((scope) => ofAdmins.has(scope))
  const workspaces = await listWorkspacesOf(tx, person.id)
  await insertAuditEntries(
    tx,
    workspaces
      .filter(({ role, personal }) => role === 'admin' && (personal || isOfAdmin))
      .map(({ id, personal }) => ({
        workspaceId: id,
        actor,
        action,
        target: personal ? name : undefined,
        details: { ...details, scopes, owner: person.login },
      })),
  )
}

// A workspace may be deleted in the meantime.
const recorded = { rowsCanConflict: true }

/** @throws {ApiError} `key_limit` */
export const createPersonKey = (
  database: Database,
  userId: string,
  body: CreateKeyBody,
): Promise<CreatedAccessKey> =>
  database.transaction(async (tx) => {
    const person = await lockCaller(tx, userId)
    const created = await issueKey(tx, { userId }, person, body)
    const { id, name, scopes, expires_at } = created
    await recordPersonKey(tx, person, person, 'key.created', { id, name, scopes, expires_at })
    return created
  }, recorded)

/**
 * Revoking again changes nothing.
 * @param actor who revokes it; by default the person
 * @throws {ApiError} `key_not_found`
 */
export const revokePersonKey = (
  database: Database,
  userId: string,
  id: string,
  actor?: Actor,
): Promise<RevokedKey | undefined> =>
  database.transaction(async (tx) => {
    const person = await lockCaller(tx, userId)
    const { found, revoked } = await revokeKey(tx, { userId }, id)
    if (!found) throw new ApiError('key_not_found')
    if (revoked) {
      const { name, scopes } = revoked
      await recordPersonKey(tx, person, actor ?? person, 'key.revoked', { id, name, scopes })
    }
    return revoked
  }, recorded)
