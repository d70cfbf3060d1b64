/** Rules R1 to R5: what a caller may do with the settings of a repository, and through which workspace. */

import type { Db } from '../db/client.js'
import { ApiError } from '../errors.js'
import { readRole } from '../queries/members.js'
import { findMatches, type RepoMatch, type RepoQuestion } from '../queries/repo-access.js'

/** The matches of a caller; asking for one workspace that the caller is not in, or that does not match, fails. */
const matchesFor = async (db: Db, question: RepoQuestion): Promise<RepoMatch[]> => {
  const matches = await findMatches(db, question)
  if (matches.length > 0 || question.workspaceId === undefined) return matches
  const role = await readRole(db, question.workspaceId, question.userId)
  throw new ApiError(role === undefined ? 'workspace_not_found' : 'not_a_member')
}

/** The refusal of a read that found no snapshot. The owner of a repository has merely not pushed it yet. */
export const nothingToRead = (matched: boolean, ownsRepo: boolean): ApiError =>
  new ApiError(matched || ownsRepo ? 'never_synced' : 'not_a_member')

/** R3: any member of a holder may read. @throws {ApiError} */
export const readableHolder = async (
  db: Db,
  question: RepoQuestion,
  callerLogin: string,
): Promise<string> => {
  const matches = await matchesFor(db, question)
  const holder = matches.find(({ holds }) => holds)
  if (!holder) throw nothingToRead(matches.length > 0, question.ownerKey === callerLogin.toLowerCase())
  return holder.workspaceId
}

/** R2: only an admin of a holder may delete or restore. @throws {ApiError} */
export const changeableHolder = async (
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
  throw nothingToRead(matches.length > 0, question.ownerKey === callerLogin.toLowerCase())
}

/**
 * R2, R4, R5: the workspace that a push goes to: the best admin holder, else the best admin match. Undefined: the
 * caller's personal workspace has to be made, or opened for the repository, first. @throws {ApiError}
 */
export const pushTarget = async (
  db: Db,
  question: RepoQuestion,
  callerLogin: string,
  owner: string,
): Promise<string | undefined> => {
  const matches = await matchesFor(db, question)
  const administered = matches.filter(({ role }) => role === 'admin')
  const target = administered.find(({ holds }) => holds) ?? administered[0]
  if (target) return target.workspaceId
  if (matches.length > 0) throw new ApiError('admin_required')
  if (question.ownerKey !== callerLogin.toLowerCase()) throw workspaceRequired(owner)
  return undefined
}

export const workspaceRequired = (owner: string) =>
  new ApiError('workspace_required', { suggested_pattern: `${owner}/*` })
