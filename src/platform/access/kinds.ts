/**
 * Who may call a route, as data on the route (`config.access`). `platform/access/access.ts` enforces it and puts what it found on
 * the request, `platform/access/route-checks.ts` refuses to boot without it, and `platform/openapi/access.ts` documents it.
 */
import type { FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../../schemas/errors.js'
import type { RepoQuestion } from '../../features/workspaces/queries/matches.js'
import type { Database } from '../database/client.js'

export type Access =
  /** No caller needed. */
  | { kind: 'anyone' }
  /** No caller needed, and a session that comes along counts for nothing. */
  | { kind: 'nobody' }
  /** Any valid session. */
  | { kind: 'anyCaller' }
  /** A member, or only an admin, of the workspace that the request names. */
  | WorkspaceAccess
  /** Whoever has a right to the repository that the request names (rules R1 to R5). */
  | RepoAccess
  /** One of the configured admin keys, in the query or the header. */
  | { kind: 'adminKey' }
  /** The billing provider's signature over the raw body. */
  | { kind: 'billingSignature' }

export interface WorkspaceAccess {
  kind: 'workspace'
  role: 'member' | 'admin'
  source: WorkspaceSource
  workspaceOf: (request: FastifyRequest) => string
}

/** What a request asks of a repository; `owner` and `repo` are spelt as the caller did. */
export interface RepoRequest {
  owner: string
  repo: string
  question: RepoQuestion
  ifNoneMatch: string | undefined
}

/** How the right to a repository is decided (`features/settings/policies/repo-access.ts`), and what is found on the way. */
export interface RepoDecision<Found> {
  decide: (database: Database, request: RepoRequest) => Promise<Found>
  /** The codes that `decide` can throw. */
  errors: readonly ErrorCode[]
}

/** `Found` is what a handler gets from `request.granted`. */
export interface RepoAccess<Found = unknown> extends RepoDecision<Found> {
  kind: 'repo'
  role: 'member' | 'admin'
  source: RepoSource
}

export const anyone: Access = { kind: 'anyone' }
export const nobody: Access = { kind: 'nobody' }
export const anyCaller: Access = { kind: 'anyCaller' }
export const adminKey: Access = { kind: 'adminKey' }
export const billingSignature: Access = { kind: 'billingSignature' }

/** Where a request names its workspace. */
type WorkspaceSource = 'params.id' | 'query.workspace' | 'body.workspace'
export type RequestPart = 'params' | 'query' | 'body'

export const memberOf = (source: WorkspaceSource): Access => workspaceAccess('member', source)
export const adminOf = (source: WorkspaceSource): Access => workspaceAccess('admin', source)

const workspaceAccess = (role: 'member' | 'admin', source: WorkspaceSource): Access => {
  const [part, name] = source.split('.') as [RequestPart, string]
  return {
    kind: 'workspace',
    role,
    source,
    // As the database writes it, so that a workspace is one however its id is spelled: for locks and for ETags.
    workspaceOf: (request) => (request[part] as Record<string, string>)[name]?.toLowerCase() ?? '',
  }
}

/** Where a request names its repository: `:owner/:repo` of the path, or `owner/repo` in the query. */
type RepoSource = 'params' | 'query.repo'

export const repoMember = <Found>(source: RepoSource, decision: RepoDecision<Found>): RepoAccess<Found> => ({
  kind: 'repo',
  role: 'member',
  source,
  ...decision,
})
export const repoAdmin = <Found>(source: RepoSource, decision: RepoDecision<Found>): RepoAccess<Found> => ({
  kind: 'repo',
  role: 'admin',
  source,
  ...decision,
})

export const needsSession = ({ kind }: Access): boolean =>
  kind === 'anyCaller' || kind === 'workspace' || kind === 'repo'

/** Where a session that a browser sent by itself could do something. */
export const mayUseSession = ({ kind }: Access): boolean => kind !== 'nobody' && kind !== 'billingSignature'
