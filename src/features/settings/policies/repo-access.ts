/**
 * Rules about a repository's settings, and the workspace through which a caller uses them:
 * - R1: a pattern of one of the caller's workspaces must match the repository.
 * - R2: an admin of a matching workspace may push; of one that holds the settings, also delete and restore them.
 * - R3: a member of one that holds the settings may pull them.
 * - R4: a push to the caller's own repository, without a match, creates or extends the personal workspace.
 * - R5: another push without a match is answered with `workspace_required` and a suggested pattern.
 */

import type { WorkspaceQuota } from '../../../../schemas/limits.js'
import type { SettingsKeyRules } from '../../../../schemas/settings-keys.js'
import { ApiError } from '../../../errors.js'
import type { Db } from '../../../platform/database/client.js'
import { readCaller, type User } from '../../accounts/index.js'
import { requirePersonalQuota } from '../../workspaces/index.js'
import { findMatches, type RepoMatch, readEffectiveConfig } from '../queries/effective-config.js'
import { isInWorkspace, type RepoQuestion } from '../queries/matches.js'
import { readBestSnapshot, type SnapshotKey } from '../queries/snapshots.js'

/** A caller's matches. Asking for a workspace that the caller isn't in, or that doesn't match, fails. */
const matchesFor = async (db: Db, question: RepoQuestion): Promise<RepoMatch[]> => {
  const matches = await findMatches(db, question)
  if (matches.length > 0 || question.workspaceId === undefined) return matches
  const inWorkspace = await isInWorkspace(db, question.userId, question.workspaceId)
  throw new ApiError(inWorkspace ? 'not_a_member' : 'workspace_not_found')
}

/** The error for a read that found no snapshot. The repository's owner simply hasn't pushed it yet. */
const notFound = (matched: boolean, ownsRepo: boolean): ApiError =>
  new ApiError(matched || ownsRepo ? 'never_synced' : 'not_a_member')

const isOwner = (question: RepoQuestion, callerLogin: string): boolean =>
  question.ownerKey === callerLogin.toLowerCase()

/** R3: any member of a workspace that holds the settings may read them. @throws {ApiError} */
const readableHolder = async (db: Db, question: RepoQuestion, callerLogin: string): Promise<string> => {
  const matches = await matchesFor(db, question)
  const holder = matches.find(({ holds }) => holds)
  if (!holder) throw notFound(matches.length > 0, isOwner(question, callerLogin))
  return holder.workspaceId
}

/** R2: only an admin of a workspace that holds the settings may delete or restore them. @throws {ApiError} */
export const writableHolder = async (
  db: Db,
  question: RepoQuestion,
  callerLogin: string,
): Promise<string> => {
  const matches = await matchesFor(db, question)
  const holder = matches.find(({ holds, role }) => holds && role === 'admin')
  if (holder) return holder.workspaceId
  const isAdmin = matches.some(({ role }) => role === 'admin')
  const seesOne = matches.some(({ holds }) => holds)
  if (matches.length > 0 && (seesOne || !isAdmin)) throw new ApiError('admin_required')
  throw notFound(matches.length > 0, isOwner(question, callerLogin))
}

/** Where a push goes: an existing workspace, or the caller's personal one, which has to be created or extended first. */
export type PushTarget = { kind: 'existing'; workspaceId: string } | { kind: 'personal' }

/**
 * R2, R4: the best workspace that the caller administers and that holds the settings, or else the best one that the
 * caller administers. @throws {ApiError}
 */
const choosePushTarget = (matches: readonly RepoMatch[]): PushTarget => {
  const administered = matches.filter(({ role }) => role === 'admin')
  const best = administered.find(({ holds }) => holds) ?? administered[0]
  if (best) return { kind: 'existing', workspaceId: best.workspaceId }
  if (matches.length > 0) throw new ApiError('admin_required')
  return { kind: 'personal' }
}

/** @throws {ApiError} as `choosePushTarget`, and for a workspace that the caller isn't in */
export const findPushTarget = async (db: Db, question: RepoQuestion): Promise<PushTarget> =>
  choosePushTarget(await matchesFor(db, question))

/** R3, in one statement with the read itself: the snapshot, unless the caller already has it. @throws {ApiError} */
export const readForPull = async (db: Db, question: RepoQuestion, ifNoneMatch: string | undefined) => {
  const { snapshot, settings, ...best } = await readBestSnapshot(db, question, ifNoneMatch)
  if (snapshot) return { snapshot, settings }
  if (best.ownsRepo === null) throw new ApiError('token_invalid')
  if (!best.inWorkspace) throw new ApiError('workspace_not_found')
  throw notFound(best.workspaceId !== null, best.ownsRepo && !question.workspaceId)
}

/** R3, for reads that follow, such as the history. @throws {ApiError} */
export const findReadable = async (db: Db, question: RepoQuestion): Promise<SnapshotKey> => {
  const { login } = await readCaller(db, question.userId)
  const workspaceId = await readableHolder(db, question, login)
  return { ownerKey: question.ownerKey, repoKey: question.repoKey, workspaceId }
}

/** R2. @throws {ApiError} */
export const requireChangeable = async (db: Db, question: RepoQuestion): Promise<void> => {
  const { login } = await readCaller(db, question.userId)
  await writableHolder(db, question, login)
}

/** R2, R4, R5, and whether a personal workspace may be created or extended. @throws {ApiError} */
export const findPushable = async (
  db: Db,
  question: RepoQuestion,
  owner: string,
  quota: WorkspaceQuota,
): Promise<{ caller: User; target: PushTarget }> => {
  const caller = await readCaller(db, question.userId)
  const target = await findPushTarget(db, question)
  if (target.kind === 'personal') await requirePersonalQuota(db, caller, owner, quota)
  return { caller, target }
}

/** R1, in one statement with the read itself. @throws {ApiError} */
export const readForEditor = async (
  db: Db,
  question: RepoQuestion,
  ifNoneMatch: string | undefined,
  keyRules: SettingsKeyRules,
) => {
  const { inWorkspace, config } = await readEffectiveConfig(db, question, ifNoneMatch, keyRules)
  if (!inWorkspace) throw new ApiError('workspace_not_found')
  if (!config) throw new ApiError('not_a_member')
  return config
}
