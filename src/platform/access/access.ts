/**
 * Who may call a route, as data on the route (`config.access`). `plugin.ts` enforces it, `route-checks.ts` refuses to boot
 * without it, and `platform/openapi/access.ts` documents it. A kind of access comes from the feature that owns the data
 * which it reads: `memberOf` from workspaces, `repoMember` from settings.
 */
import type { FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../../schemas/errors.js'
import type { ApiError } from '../../errors.js'

export interface Access<Found = unknown> {
  /** Completes "Who may call:" in the reference. */
  readonly callers: string
  /** What a caller authenticates with. */
  readonly credential: 'none' | 'session' | 'adminKey' | 'signature'
  /** Whether a session that a browser sent by itself can do something here. */
  readonly usesSession: boolean
  /** The codes that `admit` and `find` can throw. */
  readonly errors: readonly ErrorCode[]
  /** Before the body is read. @returns why the request is rejected */
  readonly admit?: (request: FastifyRequest) => ApiError | undefined
  /** After validation. Handlers read the result from `request.granted(access)`. @throws {ApiError} */
  readonly find?: (request: FastifyRequest) => Promise<Found>
  /** What is wrong with a route that declares this access; checked when the service boots. */
  readonly faultOf?: (schemaOf: SchemaOf) => string | undefined
}

export type RequestPart = 'params' | 'query' | 'body'

/** The schema of a required member of the request; undefined when the member is optional or unknown. */
export type SchemaOf = (part: RequestPart, name: string) => { format?: string } | undefined

/** No caller needed. */
export const anyone: Access = { callers: 'anyone', credential: 'none', usesSession: true, errors: [] }
/** No caller needed, and a session that comes along counts for nothing. */
export const nobody: Access = { ...anyone, usesSession: false }
/** Any valid session. */
export const anyCaller: Access = {
  callers: 'any signed-in caller',
  credential: 'session',
  usesSession: true,
  errors: [],
}
