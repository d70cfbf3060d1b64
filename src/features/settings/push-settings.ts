import { spellingFaultsIn } from '../../../schemas/settings-keys.js'
import type { Database, Db } from '../../platform/database/client.js'
import type { Preconditions } from '../../platform/http/etag.js'
import { lockCaller, rememberRepos, reposToRemember, storeRepos, type User } from '../accounts/index.js'
import { lockAdmin, openPersonalWorkspace, type PersonalRules } from '../workspaces/index.js'
import { type Written, writeSnapshot } from './change-snapshot.js'
import { findPushTarget, type PushTarget } from './policies/repo-access.js'
import { requireSpelling } from './policies/settings-rules.js'
import type { RepoQuestion } from './queries/matches.js'
import { lockSnapshot } from './queries/snapshots.js'

export interface Push {
  caller: User
  question: RepoQuestion
  /** Where it would have gone when the request came. */
  target: PushTarget
  /** As the caller spelled it. */
  owner: string
  repo: string
  settings: Record<string, unknown>
  preconditions: Preconditions
}

/** Someone may add the personal workspace's pattern by hand in the meantime. */
const options = { rowsMayConflict: true }

/** @throws {ApiError} `validation_failed` for keys that aren't spelled as keys should be, and aren't stored */
export const requirePushSpelling = async (
  database: Database,
  { settings, question: { ownerKey, repoKey }, target }: Push,
): Promise<void> => {
  // Almost no settings have such keys.
  if (spellingFaultsIn(settings, {}).length === 0) return
  if (target.kind === 'personal') return requireSpelling(settings, {})
  const { workspaceId } = target
  const stored = await database.transaction((tx) => lockSnapshot(tx, { ownerKey, repoKey, workspaceId }))
  requireSpelling(settings, stored ? JSON.parse(stored.settings) : {})
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
    const { workspaceId, workspaceCreated } = await settleTarget(tx, push, rules)
    await lockAdmin(tx, workspaceId, caller.id)
    const { ownerKey, repoKey } = push.question
    const written = await writeSnapshot(
      tx,
      { ownerKey, repoKey, workspaceId },
      {
        owner,
        repo,
        settings,
        author: caller,
        preconditions: push.preconditions,
      },
    )
    await storeRepos(tx, named)
    return { ...written, workspaceCreated }
  }, options)
  rememberRepos(database, named)
  return pushed
}

/** The final decision: rights may have changed during the request to the host. */
const settleTarget = async (
  tx: Db,
  { question, caller, owner }: Push,
  rules: PersonalRules,
): Promise<{ workspaceId: string; workspaceCreated: boolean }> => {
  const target = await findPushTarget(tx, question, caller.login, owner)
  if (target.kind === 'existing') return { workspaceId: target.workspaceId, workspaceCreated: false }
  // Concurrent first pushes run one by one, and later ones find the workspace of the first.
  await lockCaller(tx, caller.id)
  const now = await findPushTarget(tx, question, caller.login, owner)
  if (now.kind === 'existing') return { workspaceId: now.workspaceId, workspaceCreated: false }
  return openPersonalWorkspace(tx, caller, owner, rules)
}
