/** Moves the settings of a repository that was renamed at the host. Activity keeps the name it was recorded under. */

import { repoKeysOf, splitRepo } from '../../../schemas/repo-keys.js'
import { parsePatterns } from '../../../schemas/repo-pattern.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import {
  changeWorkspace,
  insertAuditEntry,
  listPatterns,
  lockWorkspace,
  SERVICE_ACTOR,
  type WorkspaceCall,
} from '../workspaces/index.js'
import { findOutside } from './queries/configuration.js'
import {
  moveOverride,
  moveSnapshot,
  readHeld,
  recordRename,
  type StoredRepoSettings,
} from './queries/moves.js'
import type { RepoId } from './queries/overrides.js'
import { lockSnapshot } from './queries/snapshots.js'

interface Move {
  from: RepoId
  to: RepoId
}

const placeOf = (path: string): RepoId => {
  const name = splitRepo(path)
  return { ...name, ...repoKeysOf(name) }
}

export const moveOf = ({ from, to }: { from: string; to: string }): Move => ({
  from: placeOf(from),
  to: placeOf(to),
})

const pathOf = ({ owner, repo }: RepoId): string => `${owner}/${repo}`

/** Someone may push to the new name for the first time at the same moment. */
const options = { rowsCanConflict: true }

const isInside = async (db: Db, workspaceId: string, places: RepoId[]): Promise<boolean> => {
  const patterns = parsePatterns(await listPatterns(db, workspaceId))
  return (await findOutside(db, places, patterns)) === undefined
}

/** @throws {ApiError} `repo_outside_patterns`, `never_synced`, `repo_taken` */
export const requireMovable = async (db: Db, workspaceId: string, { from, to }: Move): Promise<void> => {
  if (!(await isInside(db, workspaceId, [from, to]))) throw new ApiError('repo_outside_patterns')
  const [held, taken] = await Promise.all([
    readHeld(db, { ...from, workspaceId }),
    readHeld(db, { ...to, workspaceId }),
  ])
  if (!held.snapshot && !held.override) throw new ApiError('never_synced')
  if (taken.snapshot || taken.override) throw new ApiError('repo_taken')
}

/**
 * Moves the settings. The workspace must be locked.
 * @returns what was moved, which is nothing if it was deleted in the meantime
 */
const move = async (tx: Db, workspaceId: string, { from, to }: Move): Promise<StoredRepoSettings> => {
  const key = { ownerKey: from.ownerKey, repoKey: from.repoKey, workspaceId }
  // Pushes lock the snapshot, and not the workspace. Only what's locked here is moved.
  const snapshot = (await lockSnapshot(tx, key)) !== undefined
  const { override } = await readHeld(tx, key)
  if (snapshot) await moveSnapshot(tx, key, to)
  if (override) await moveOverride(tx, key, to)
  return { snapshot, override }
}

/**
 * Moves a repository's settings to its new name after the host confirms the rename.
 * @throws {ApiError} `repo_outside_patterns`, `never_synced`, `repo_taken`
 */
export const moveSettings = async (database: Database, call: WorkspaceCall, renamed: Move): Promise<void> =>
  changeWorkspace(
    database,
    call,
    'admin',
    async ({ tx, record }) => {
      await requireMovable(tx, call.workspaceId, renamed)
      const moved = await move(tx, call.workspaceId, renamed)
      if (!moved.snapshot && !moved.override) throw new ApiError('never_synced')
      await record('repo.moved', pathOf(renamed.to), { from: pathOf(renamed.from), ...moved })
    },
    options,
  )

/** A rename that the host reports, with a hash of the report. */
export interface ReportedRename {
  from: string
  to: string
  hash: string
}

/**
 * A workspace's webhook reports a rename. Nothing moves, because people can know a webhook's secret longer than they are
 * admins: the audit trail and a notice propose the move to admins, and the host confirms the rename to them. A report
 * has an effect once, because later its names may belong to other repositories.
 */
export const proposeMove = async (
  tx: Db,
  workspaceId: string,
  { hash, ...names }: ReportedRename,
): Promise<void> => {
  const { from, to } = moveOf(names)
  // Names compare without case.
  if (from.ownerKey === to.ownerKey && from.repoKey === to.repoKey) return
  if (!(await lockWorkspace(tx, workspaceId))) return
  if (!(await recordRename(tx, workspaceId, hash))) return
  const held = await readHeld(tx, { ...from, workspaceId })
  if (!held.snapshot && !held.override) return
  const taken = await readHeld(tx, { ...to, workspaceId })
  const because =
    (!(await isInside(tx, workspaceId, [to])) && 'outside_patterns') ||
    ((taken.snapshot || taken.override) && 'repo_taken') ||
    'unconfirmed'
  await insertAuditEntry(tx, {
    workspaceId,
    actor: SERVICE_ACTOR,
    action: 'repo.move_waits',
    target: names.to,
    details: { from: names.from, because },
  })
}
