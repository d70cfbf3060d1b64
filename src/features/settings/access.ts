/** Access to the repository that a request names, by rules R1 to R5 (`policies/repo-access.ts`). */

import type { FastifyRequest } from 'fastify'
import type { Role } from '../../../schemas/common.js'
import type { ErrorCode } from '../../../schemas/errors.js'
import { repoKeysOf, splitRepo } from '../../../schemas/repo-keys.js'
import { ApiError } from '../../errors.js'
import { type Access, anyCaller } from '../../platform/access/access.js'
import {
  findPushable,
  findReadable,
  readForEditor,
  readForPull,
  requireChangeable,
} from './policies/repo-access.js'
import type { RepoQuestion } from './queries/matches.js'

/** The repository that a request names, with `owner` and `repo` as the caller spelled them. */
interface NamedRepo {
  owner: string
  repo: string
  question: RepoQuestion
}

/** Decides the right to a repository, and returns what it found out along the way. */
interface RepoDecision<Found> {
  decide: (request: FastifyRequest, named: NamedRepo) => Promise<Found>
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
  find: (request) => decide(request, namedRepoOf(request, source)),
  faultOf: (schemaOf) => {
    const named = source === 'params' ? ['owner', 'repo'] : ['repo']
    const part = source === 'params' ? 'params' : 'query'
    const missing = named.find((name) => !schemaOf(part, name))
    return missing && `takes its repository from ${source}, which doesn’t require ${missing}`
  },
})

const namedRepoOf = (request: FastifyRequest, source: RepoSource): NamedRepo => {
  const query = request.query as { repo: string; workspace?: string }
  const { owner, repo } = source === 'params' ? (request.params as NamedRepo) : splitRepo(query.repo)
  const within = request.key?.workspaceId ?? undefined
  if (within !== undefined && query.workspace !== undefined && query.workspace.toLowerCase() !== within)
    throw new ApiError('workspace_not_found')
  const workspaceId = within ?? query.workspace
  return {
    owner,
    repo,
    question: { userId: request.memberId, ...repoKeysOf({ owner, repo }), workspaceId, within },
  }
}

export const pull = repoMember('params', {
  errors: ['not_a_member', 'never_synced', 'workspace_not_found'],
  decide: (request, { question }) =>
    readForPull(request.shortReads, question, request.headers['if-none-match']),
})

export const readHistory = repoMember('params', {
  errors: ['not_a_member', 'never_synced', 'workspace_not_found'],
  decide: (request, { question }) => findReadable(request.server.database.read, question),
})

/** The change checks access again, with the caller's role locked. */
export const change = repoAdmin('params', {
  errors: ['not_a_member', 'never_synced', 'workspace_not_found'],
  decide: async (request, { question }) => {
    await requireChangeable(request.server.database.read, question)
    return { question }
  },
})

/** The push checks access again after its request to the repository host. */
export const push = repoAdmin('params', {
  errors: ['not_a_member', 'workspace_not_found', 'workspace_required', 'workspace_limit'],
  decide: async ({ server: { database, config } }, { question, owner, repo }) => ({
    question,
    owner,
    repo,
    ...(await findPushable(database.read, question, owner, config.limits)),
  }),
})

export const effectiveConfig = repoMember('query.repo', {
  errors: ['not_a_member', 'workspace_not_found'],
  decide: (request, { question }) =>
    readForEditor(
      request.shortReads,
      question,
      request.headers['if-none-match'],
      request.server.config.settingsKeys,
    ),
})
