import type { PrivacyLevel } from '../../../schemas/common.js'
import type { WorkspaceQuota } from '../../../schemas/limits.js'
import { spellingFaultsIn } from '../../../schemas/settings-keys.js'
import type { Database, Db } from '../../platform/database/client.js'
import { type Preconditions, requirePreconditions } from '../../platform/http/etag.js'
import { lockCaller, type User } from '../accounts/index.js'
import { rememberRepos, reposToRemember, storeRepos } from '../named-repos/index.js'
import { lockAdmin, openPersonalWorkspace } from '../workspaces/index.js'
import { type Written, writeSnapshot } from './change-snapshot.js'
import { findPushTarget, type PushTarget } from './policies/repo-access.js'
import { requireNewKeySpelling } from './policies/settings-rules.js'
import { requireQuotaIfGrown } from './policies/storage-quota.js'
import type { RepoQuestion } from './queries/matches.js'
import { lockSnapshot, readSettings } from './queries/snapshots.js'

interface Push {
  caller: User
  question: RepoQuestion
  /** As the caller spelled it. */
  owner: string
  repo: string
  settings: Record<string, unknown>
  preconditions: Preconditions
}

/** Someone may push the same repository, or add the personal workspace's pattern by hand, in the meantime. */
const options = { rowsCanConflict: true }

/**
 * @param target where the push would go now
 * @throws {ApiError} `validation_failed` for misspelled keys that aren't stored yet
 */
export const requirePushSpelling = async (
  db: Db,
  { settings, question: { ownerKey, repoKey } }: Push,
  target: PushTarget,
): Promise<void> => {
  // Almost no settings have such keys.
  if (spellingFaultsIn(settings, {}).length === 0) return
  const stored =
    target.kind === 'existing'
      ? await readSettings(db, { ownerKey, repoKey, workspaceId: target.workspaceId })
      : undefined
  requireNewKeySpelling(stored, settings)
}

/** The workspace of a push, and the person: with their present login if it's their personal workspace. */
const findTarget = async (
  tx: Db,
  { caller, question }: Push,
): Promise<{ person: User; target: PushTarget }> => {
  const target = await findPushTarget(tx, question)
  if (target.kind === 'existing') return { person: caller, target }
  // Concurrent first pushes run one by one, and later ones find the workspace of the first.
  const person = await lockCaller(tx, caller.id)
  return { person, target: await findPushTarget(tx, question) }
}

/**
 * Stores a repository's settings for a caller with access to it at the repository host. The rights here (rules R1, R2,
 * R4, R5) and the spelling are decided once more, because both may have changed during the request to the host.
 */
export const pushSettings = async (
  { database, ...rules }: { database: Database; privacy: PrivacyLevel; quota: WorkspaceQuota },
  push: Push,
): Promise<Written & { workspaceCreated: boolean }> => {
  const { caller, question, owner, repo, settings, preconditions } = push
  const { ownerKey, repoKey } = question
  const text = JSON.stringify(settings)
  const named = reposToRemember(caller.id, [`${owner}/${repo}`])
  const pushed = await database.transaction(async (tx) => {
    const { person, target } = await findTarget(tx, push)
    const { workspaceId, workspaceCreated } =
      target.kind === 'existing'
        ? { workspaceId: target.workspaceId, workspaceCreated: false }
        : await openPersonalWorkspace(tx, person, owner, rules)
    await lockAdmin(tx, workspaceId, caller.id)
    const key = { ownerKey, repoKey, workspaceId }
    const current = await lockSnapshot(tx, key)
    requirePreconditions(preconditions, current)
    requireNewKeySpelling(current?.settings, settings)
    // A flush of the same person may hold this row for a while. The workspace's quota isn't locked yet.
    await storeRepos(tx, named)
    const write = { action: 'settings.pushed', owner, repo, settings: text, author: person } as const
    const written = await writeSnapshot(tx, key, current, write)
    await requireQuotaIfGrown(tx, workspaceId, current, written.snapshot)
    return { ...written, workspaceCreated }
  }, options)
  rememberRepos(named)
  return pushed
}
