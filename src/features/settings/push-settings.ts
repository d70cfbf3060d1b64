import { spellingFaultsIn } from '../../../schemas/settings-keys.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import type { Preconditions } from '../../platform/http/etag.js'
import { lockCaller, reposToRemember, type User } from '../accounts/index.js'
import { lockRole, openPersonalWorkspace, type PersonalRules } from '../workspaces/index.js'
import { type Written, writeSnapshot } from './change-snapshot.js'
import { pushTarget } from './policies/repo-access.js'
import { requireSpelling } from './policies/settings-rules.js'
import type { RepoQuestion } from './queries/matches.js'
import { lockSnapshot, type SnapshotKey } from './queries/snapshots.js'

export interface Push {
  caller: User
  question: RepoQuestion
  /** As the caller spelled it. */
  owner: string
  repo: string
  settings: Record<string, unknown>
  preconditions: Preconditions
}

/** Someone may add the personal workspace's pattern by hand in the meantime. */
const options = { rowsMayConflict: true }

/** @throws {ApiError} `validation_failed` for keys that aren't spelled as keys should be, and aren't stored */
export const requirePushSpelling = async (database: Database, push: Push): Promise<void> => {
  // Almost no settings have such keys.
  if (spellingFaultsIn(push.settings, {}).length === 0) return
  await database.transaction(async (tx) => requireSpelling(push.settings, await readStored(tx, push)))
}

/**
 * Stores a repository's settings for a caller with access to it at the repository host. The rights here (rules R1, R2,
 * R4, R5) are decided once more.
 */
export const pushSettings = async (
  { database, ...rules }: PersonalRules & { database: Database },
  push: Push,
): Promise<Written & { workspaceCreated: boolean }> => {
  const { caller, owner, repo } = push
  const settings = JSON.stringify(push.settings)
  const named = reposToRemember(database, caller.id, [`${owner}/${repo}`])
  const pushed = await database.transaction(async (tx) => {
    const { key, workspaceCreated } = await settleTarget(tx, push, rules)
    const written = await writeSnapshot(tx, key, {
      owner,
      repo,
      settings,
      author: caller,
      preconditions: push.preconditions,
    })
    await named.write(tx)
    return { ...written, workspaceCreated }
  }, options)
  named.committed()
  return pushed
}

/** The settings that a push would replace. */
const readStored = async (tx: Db, { question, caller, owner }: Push): Promise<Record<string, unknown>> => {
  const workspaceId = await pushTarget(tx, question, caller.login, owner)
  const { ownerKey, repoKey } = question
  const stored = workspaceId && (await lockSnapshot(tx, { ownerKey, repoKey, workspaceId }))
  return stored ? JSON.parse(stored.settings) : {}
}

/** The final decision: rights may have changed during the request to the host. */
const settleTarget = async (
  tx: Db,
  { question, caller, owner }: Push,
  rules: PersonalRules,
): Promise<{ key: SnapshotKey; workspaceCreated: boolean }> => {
  let workspaceCreated = false
  let target = await pushTarget(tx, question, caller.login, owner)
  if (target === undefined) {
    // Concurrent first pushes run one by one, and later ones find the workspace of the first.
    await lockCaller(tx, caller.id)
    target = await pushTarget(tx, question, caller.login, owner)
  }
  if (target === undefined) {
    workspaceCreated = await openPersonalWorkspace(tx, caller, owner, rules)
    target = await pushTarget(tx, question, caller.login, owner)
  }
  if (target === undefined || (await lockRole(tx, target, caller.id)) !== 'admin')
    throw new ApiError('admin_required')
  const { ownerKey, repoKey } = question
  return { key: { ownerKey, repoKey, workspaceId: target }, workspaceCreated }
}
