import type { Role } from '../../../schemas/common.js'
import { ApiError } from '../../errors.js'
import type { KeyInUse } from '../../platform/access/caller.js'
import { requireRole } from '../../platform/access/role.js'
import type { Database, Db, TransactionOptions } from '../../platform/database/client.js'
import { nameOfKey } from '../keys/index.js'
import { type Actor, type Author, insertAuditEntries } from './queries/audit.js'
import { readMember } from './queries/members.js'
import { lockWorkspace, readPresent } from './queries/workspaces.js'

/** The workspace, and the author of the change. */
export interface WorkspaceCall {
  workspaceId: string
  /** The person whose membership decides. For a workspace key, that's the admin who created it. */
  userId: string
  /** The call's access key. Null: a session. */
  key: KeyInUse | null
  /** The reason, in the caller's own words. */
  reason?: string | undefined
}

interface Entry {
  action: string
  target?: string | Actor | undefined
  details?: Record<string, unknown> | undefined
}

export interface Change {
  tx: Db
  /** The caller as named in audit entries. */
  caller: Author & { role: Role }
  workspace: { name: string; personal: boolean }
  /** The caller's reason, for the history. Null: the caller gave none. */
  reason: string | null
  /** Writes an audit entry in the caller's name, with the reason. */
  record(action: string, target?: string | Actor, details?: Record<string, unknown>): Promise<void>
  /** Writes several entries at once. */
  recordAll(entries: Entry[]): Promise<void>
}

/**
 * Runs `work` on a workspace with its administration locked, for a caller who currently has the role.
 * @param dryRun `work` changes nothing: it sees one state, and nothing is locked, so that no one has to wait for it
 * @throws {ApiError} `workspace_not_found`, `admin_required`
 */
export const changeWorkspace = <T>(
  database: Database,
  call: WorkspaceCall,
  wanted: Role,
  work: (change: Change) => Promise<T>,
  { dryRun = false, ...options }: TransactionOptions & { dryRun?: boolean } = {},
): Promise<T> =>
  database.transaction(
    async (tx) => {
      const { workspaceId, reason } = call
      const workspace = await (dryRun ? readPresent : lockWorkspace)(tx, workspaceId)
      if (!workspace) throw new ApiError('workspace_not_found')
      const { caller, actor } = await readAuthor(tx, call, wanted)
      return work(createChange(tx, { workspaceId, workspace, caller, actor, reason }))
    },
    dryRun ? { readsOneState: true } : options,
  )

/** The caller as named in entries, and as the actor of the audit trail. @throws {ApiError} `admin_required` */
const readAuthor = async (tx: Db, { workspaceId, userId, key }: WorkspaceCall, wanted: Role) => {
  const member = requireRole(await readMember(tx, workspaceId, userId), wanted)
  const workspaceKey = key?.workspaceId === workspaceId ? key : null
  const caller = {
    id: userId,
    role: member.role,
    login: workspaceKey ? nameOfKey(workspaceKey) : member.login,
    keyName: workspaceKey?.name ?? null,
  }
  return { caller, actor: workspaceKey ? { id: workspaceKey.keyId, login: caller.login } : caller }
}

interface By extends Pick<Change, 'caller' | 'workspace'>, Pick<WorkspaceCall, 'workspaceId' | 'reason'> {
  /** The person named in the audit trail. */
  actor: Actor
}

/** A change to a workspace that `tx` has locked. */
export const createChange = (tx: Db, { workspaceId, workspace, caller, actor, reason }: By): Change => {
  const recordAll: Change['recordAll'] = (entries) =>
    insertAuditEntries(
      tx,
      entries.map(({ action, target, details }) => ({
        workspaceId,
        actor,
        action,
        target,
        details: { ...details, ...(reason && { reason }) },
      })),
    )
  const record: Change['record'] = (action, target, details) => recordAll([{ action, target, details }])
  return { tx, caller, workspace, reason: reason || null, record, recordAll }
}
