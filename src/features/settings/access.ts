/** Access to the repository that a request names, by rules R1 to R5 (`policies/repo-access.ts`). */

import type { FastifyRequest } from 'fastify'
import type { Role } from '../../../schemas/common.js'
import type { ErrorCode } from '../../../schemas/errors.js'
import { divideRepo, repoKeysOf } from '../../../schemas/repo-keys.js'
import type { SettingsKeyRules } from '../../../schemas/settings-keys.js'
import { ApiError } from '../../errors.js'
import { type Access, anyCaller } from '../../platform/access/access.js'
import type { Database } from '../../platform/database/client.js'
import type { WorkspaceQuota } from '../workspaces/index.js'
import type { RepoQuestion } from './queries/matches.js'

/** A request for a repository, with `owner` and `repo` as the caller spelled them. */
export interface RepoRequest {
  owner: string
  repo: string
  question: RepoQuestion
  ifNoneMatch: string | undefined
  /** These decide which keys an effective configuration leaves out. */
  keyRules: SettingsKeyRules
  quota: WorkspaceQuota
}

/** Decides the right to a repository, and returns what it found out along the way. */
export interface RepoDecision<Found> {
  decide: (database: Database, request: RepoRequest) => Promise<Found>
  /** The codes that `decide` can throw. */
  errors: readonly ErrorCode[]
}

/** The part of a request that names the repository: `:owner/:repo` in the path, or `owner/repo` in the query. */
type RepoSource = 'params' | 'query.repo'

/** Admits access keys that may read settings. */
export const repoMember = <Found>(source: RepoSource, decision: RepoDecision<Found>): Access<Found> => ({
  ...repoAccess('member', source, decision),
  scopes: ['settings:read'],
})
/** Admits personal keys that may write settings. */
export const repoAdmin = <Found>(source: RepoSource, decision: RepoDecision<Found>): Access<Found> => ({
  ...repoAccess('admin', source, decision),
  scopes: ['settings:write'],
  personalKeysOnly: true,
})

const repoAccess = <Found>(
  role: Role,
  source: RepoSource,
  { decide, errors }: RepoDecision<Found>,
): Access<Found> => ({
  ...anyCaller,
  callers: `${role === 'admin' ? 'an admin' : 'a member'} of a workspace with a pattern that matches the repository`,
  errors: role === 'admin' ? ['admin_required', ...errors] : errors,
  find: (request) => decide(databaseFor(request), repoRequestOf(request, source)),
  faultOf: (schemaOf) => {
    const named = source === 'params' ? ['owner', 'repo'] : ['repo']
    const part = source === 'params' ? 'params' : 'query'
    const missing = named.find((name) => !schemaOf(part, name))
    return missing && `takes its repository from ${source}, which doesn’t require ${missing}`
  },
})

/** Heavy callers don't use the hot connection, so that short reads of other callers don't wait behind theirs. */
const databaseFor = ({ server: { database }, work }: FastifyRequest): Database =>
  work?.isLight === false ? { ...database, hot: database.read } : database

const repoRequestOf = (request: FastifyRequest, source: RepoSource): RepoRequest => {
  const query = request.query as { repo: string; workspace?: string }
  const { owner, repo } = source === 'params' ? (request.params as RepoRequest) : divideRepo(query.repo)
  const within = request.key?.workspaceId ?? undefined
  if (within !== undefined && query.workspace !== undefined && query.workspace.toLowerCase() !== within)
    throw new ApiError('workspace_not_found')
  return {
    owner,
    repo,
    question: {
      userId: request.memberId,
      ...repoKeysOf({ owner, repo }),
      workspaceId: within ?? query.workspace,
      within,
    },
    ifNoneMatch: request.headers['if-none-match'],
    keyRules: request.server.config.settingsKeys,
    quota: request.server.config.limits,
  }
}
