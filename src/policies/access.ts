/**
 * Who may call a route, as data on the route (`config.access`). `plugins/access.ts` enforces it, refuses to boot without
 * it, and derives the document's `security` and error answers from it.
 */
import type { FastifyRequest } from 'fastify'

export type Access =
  /** No caller needed. */
  | { kind: 'anyone' }
  /** Any valid session. */
  | { kind: 'anyCaller' }
  /** A member, or only an admin, of the workspace that the request names. */
  | WorkspaceAccess
  /** A valid session; the operation decides by the repository (rules R1 to R5, `policies/repo-access.ts`). */
  | { kind: 'repo'; role: 'member' | 'admin' }
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

export const anyone: Access = { kind: 'anyone' }
export const anyCaller: Access = { kind: 'anyCaller' }
export const repoMember: Access = { kind: 'repo', role: 'member' }
export const repoAdmin: Access = { kind: 'repo', role: 'admin' }
export const adminKey: Access = { kind: 'adminKey' }
export const billingSignature: Access = { kind: 'billingSignature' }

/** Where a request names its workspace. */
type WorkspaceSource = 'params.id' | 'query.workspace' | 'body.workspace'
export type WorkspacePart = 'params' | 'query' | 'body'

export const memberOf = (source: WorkspaceSource): Access => workspaceAccess('member', source)
export const adminOf = (source: WorkspaceSource): Access => workspaceAccess('admin', source)

const workspaceAccess = (role: 'member' | 'admin', source: WorkspaceSource): Access => {
  const [part, name] = source.split('.') as [WorkspacePart, string]
  return {
    kind: 'workspace',
    role,
    source,
    workspaceOf: (request) => (request[part] as Record<string, string>)[name] ?? '',
  }
}

export const needsSession = ({ kind }: Access): boolean =>
  kind === 'anyCaller' || kind === 'workspace' || kind === 'repo'
