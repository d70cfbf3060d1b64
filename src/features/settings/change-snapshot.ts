import type { Warnings } from '../../../schemas/common.js'
import type { RestoreBody } from '../../../schemas/settings.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { readCaller } from '../accounts/index.js'
import {
  type Actor,
  insertAuditEntry,
  judgeRestored,
  lockRole,
  type RepoQuestion,
  type RestoreRules,
} from '../workspaces/index.js'
import { writableHolder } from './policies/repo-access.js'
import { deleteSnapshot, type SnapshotKey, snapshotHistory } from './queries/snapshots.js'
import { type Written, writeSnapshot } from './write-snapshot.js'

/** Runs `change` on the snapshot that the caller may change, with the caller's role locked. @throws {ApiError} */
const changing = async <T>(
  database: Database,
  question: RepoQuestion,
  change: (context: { tx: Db; key: SnapshotKey; caller: Actor }) => Promise<T>,
): Promise<T> =>
  database.transaction(async (tx) => {
    const caller = await readCaller(tx, question.userId)
    const workspaceId = await writableHolder(tx, question, caller.login)
    if ((await lockRole(tx, workspaceId, caller.id)) !== 'admin') throw new ApiError('admin_required')
    const { ownerKey, repoKey } = question
    return change({ tx, key: { ownerKey, repoKey, workspaceId }, caller })
  })

/** Removes a repository's settings and their history. */
export const deleteSettings = (database: Database, question: RepoQuestion): Promise<void> =>
  changing(database, question, async ({ tx, key, caller }) => {
    const deleted = await deleteSnapshot(tx, key)
    if (!deleted) throw new ApiError('never_synced')
    await insertAuditEntry(tx, {
      workspaceId: key.workspaceId,
      actor: caller,
      action: 'settings.deleted',
      target: `${deleted.owner}/${deleted.repo}`,
    })
  })

/** Makes an old version the newest. @throws {ApiError} `version_not_found`, `validation_failed` */
export const restoreSettings = (
  { database, ...rules }: RestoreRules & { database: Database },
  question: RepoQuestion,
  { version, reason }: RestoreBody,
): Promise<Written & { warnings?: Warnings }> =>
  changing(database, question, async ({ tx, key, caller }) => {
    const old = await snapshotHistory.read(tx, key, version)
    if (!old) throw new ApiError('version_not_found')
    const judged = judgeRestored(rules, old.settings)
    const { owner, repo, settings } = old
    const write = { owner, repo, settings, author: caller, reason, action: 'settings.restored' as const }
    return { ...(await writeSnapshot(tx, key, write)), ...judged }
  })
