/** Access to the repository that a request names, by rules R1 to R5 (`policies/repo-access.ts`). */

import type { FastifyRequest } from 'fastify'
import type { Role } from '../../../schemas/common.js'
import type { ErrorCode } from '../../../schemas/errors.js'
import { repoKeysOf } from '../../../schemas/repo-keys.js'
import { type Access, anyCaller } from '../../platform/access/access.js'
import type { Database } from '../../platform/database/client.js'
import type { RepoQuestion } from '../workspaces/index.js'

/** What a request asks of a repository; `owner` and `repo` are spelt as the caller did. */
export interface RepoRequest {
  owner: string
  repo: string
  question: RepoQuestion
  ifNoneMatch: string | undefined
}

/** How the right to a repository is decided, and what is found on the way. */
export interface RepoDecision<Found> {
  decide: (database: Database, request: RepoRequest) => Promise<Found>
  /** The codes that `decide` can throw. */
  errors: readonly ErrorCode[]
}

/** Where a request names its repository: `:owner/:repo` of the path, or `owner/repo` in the query. */
type RepoSource = 'params' | 'query.repo'

export const repoMember = <Found>(source: RepoSource, decision: RepoDecision<Found>): Access<Found> =>
  repoAccess('member', source, decision)
export const repoAdmin = <Found>(source: RepoSource, decision: RepoDecision<Found>): Access<Found> =>
  repoAccess('admin', source, decision)

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
    return missing && `takes its repository from ${source}, which does not require ${missing}`
  },
})

/** Short reads of other callers do not wait behind those of a caller whose requests take long. */
const databaseFor = ({ server: { database }, work }: FastifyRequest): Database =>
  work?.isLight === false ? { ...database, hot: database.read } : database

const repoRequestOf = (request: FastifyRequest, source: RepoSource): RepoRequest => {
  const query = request.query as { repo: string; workspace?: string }
  const [owner = '', repo = ''] =
    source === 'params'
      ? [(request.params as RepoRequest).owner, (request.params as RepoRequest).repo]
      : query.repo.split('/')
  return {
    owner,
    repo,
    question: {
      userId: request.caller.userId,
      ...repoKeysOf({ owner, repo }),
      workspaceId: query.workspace,
    },
    ifNoneMatch: request.headers['if-none-match'],
  }
}
