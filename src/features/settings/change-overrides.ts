import { repoKeysOf } from '../../../schemas/repo-keys.js'
import { ApiError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { changeWorkspace, type WorkspaceCall } from '../workspaces/index.js'
import { requireRoom } from './policies/room.js'
import {
  deleteOverride,
  matchesWorkspace,
  readOverride,
  type StoredOverride,
  upsertOverride,
} from './queries/overrides.js'

/** One repository in one workspace, spelled as the caller does. */
interface RepoCall extends WorkspaceCall {
  owner: string
  repo: string
}

const placeOf = (call: RepoCall) => ({ workspaceId: call.workspaceId, ...repoKeysOf(call) })

/**
 * Replaces the override; the same content again changes nothing.
 * @throws {ApiError} `repo_outside_patterns`, `workspace_full`
 */
export const setOverride = (
  database: Database,
  call: RepoCall,
  content: Record<string, unknown>,
): Promise<StoredOverride> =>
  changeWorkspace(database, call, 'admin', async ({ tx, caller, record }) => {
    const place = placeOf(call)
    if (!(await matchesWorkspace(tx, place))) throw new ApiError('repo_outside_patterns')
    const settings = JSON.stringify(content)
    const current = await readOverride(tx, place)
    if (current?.settings === settings) return current
    const { owner, repo } = call
    const override = await upsertOverride(tx, place, { owner, repo, settings, author: caller })
    const size = Buffer.byteLength(settings)
    await record('override.set', `${override.owner}/${override.repo}`, { size_bytes: size })
    if (size > Buffer.byteLength(current?.settings ?? '')) await requireRoom(tx, call.workspaceId)
    return override
  })

/** @throws {ApiError} `override_not_found` */
export const removeOverride = (database: Database, call: RepoCall): Promise<void> =>
  changeWorkspace(database, call, 'admin', async ({ tx, record }) => {
    const removed = await deleteOverride(tx, placeOf(call))
    if (!removed) throw new ApiError('override_not_found')
    await record('override.removed', `${removed.owner}/${removed.repo}`)
  })
