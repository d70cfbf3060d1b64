/** The caller of a request. `features/sessions` determines it. The platform and every feature read it here. */
import type { FastifyRequest } from 'fastify'
import type { Scope } from '../../../schemas/keys.js'
import type { ApiError } from '../../errors.js'

/** The caller according to the token. */
export interface Session {
  userId: string
  jti: string
  generation: number
  /** Seconds since the epoch. */
  expiresAt: number
}

/** An access key that still works. */
export interface KeyInUse {
  keyId: string
  name: string
  scopes: readonly Scope[]
  /** The person who owns the key. Null: a workspace owns it. */
  userId: string | null
  /** The workspace that owns the key, which is the only one that it reaches. Null: a person owns it. */
  workspaceId: string | null
  /** The person whose memberships decide what the key may do. For a workspace key, that's the admin who created it. */
  createdBy: string
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The session or the access key, or why there's neither. */
    session: Session | KeyInUse | ApiError
    /** The access key that the request was made with. Null: with a session, or without either. */
    readonly key: KeyInUse | null
    /** The person who calls. Throws if there is none, or if the caller is a workspace key, which has no person. */
    readonly caller: { userId: string }
    /** The person whose memberships decide: the caller, or the admin who created the workspace key. */
    readonly memberId: string
  }
}

/** Also works before the query is validated, when `true` is still text. */
export const isDryRun = ({ query }: Pick<FastifyRequest, 'query'>): boolean =>
  String((query as { dry_run?: unknown }).dry_run) === 'true'

/** Whether the call comes from a dashboard or the service's own pages, judged by headers that pages can't forge. */
export const isFromTrustedOrigin = ({ headers, server }: FastifyRequest): boolean =>
  headers.origin === undefined
    ? headers['sec-fetch-site'] === 'same-origin'
    : server.config.trustedOrigins.includes(headers.origin)

/** Whether nothing says where the call comes from, as with clients that aren't browsers. */
export const isFromUnknownOrigin = ({ headers }: FastifyRequest): boolean =>
  headers.origin === undefined && headers['sec-fetch-site'] === undefined
