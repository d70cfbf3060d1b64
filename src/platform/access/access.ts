/**
 * Access to a route, as data on the route (`config.access`). `plugin.ts` enforces it, `route-checks.ts` prevents a
 * start without it, and `platform/openapi/access.ts` documents it. Each kind of access comes from the feature that owns
 * the data: `memberOf` from workspaces, `repoMember` from settings.
 */
import type { FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../../schemas/errors.js'
import type { Scope } from '../../../schemas/keys.js'
import type { ApiError } from '../../errors.js'

export interface Access<Found = unknown> {
  /** Completes "Who may call:" in the reference. */
  readonly callers: string
  /** A caller's credential. */
  readonly credential: 'none' | 'session' | 'adminKey' | 'signature' | 'webhookSecret'
  /** Whether a browser's session cookie is accepted here. */
  readonly usesSession: boolean
  /** Whether the cookie is accepted without the headers that say which page the request comes from. */
  readonly takesUnknownOrigin?: boolean
  /** The scopes that admit an access key, any one of which is enough. Without this property, no key is admitted. */
  readonly scopes?: readonly Scope[]
  /** More scopes that admit an access key to a dry run, which changes nothing (`isDryRun`). */
  readonly dryRunScopes?: readonly Scope[]
  /** Whether only personal keys are admitted, because workspace keys have no person. */
  readonly personalKeysOnly?: boolean
  /** Where a caller's token comes from, if not from the `Authorization` header or the cookie. */
  readonly tokenOf?: (request: FastifyRequest) => string | undefined
  /** The codes that `admit` and `find` can throw. */
  readonly errors: readonly ErrorCode[]
  /** Runs before the body is read. @returns why the request is rejected */
  readonly admit?: (request: FastifyRequest) => ApiError | undefined | Promise<ApiError | undefined>
  /** Runs before validation, for a body that is read as bytes. @throws {ApiError} */
  readonly openBody?: (request: FastifyRequest) => Promise<void>
  /**
   * Runs after validation, or with a valid path before the body is read (`accessBeforeBody`). Handlers read the result
   * from `request.granted(access)`. @throws {ApiError}
   */
  readonly find?: (request: FastifyRequest) => Promise<Found>
  /** What's wrong with a route that declares this access, if anything. Checked when the service boots. */
  readonly faultOf?: (schemaOf: SchemaOf) => string | undefined
}

export type RequestPart = 'params' | 'query' | 'body'

/** The schema of a required request property. Undefined if the property is optional or unknown. */
export type SchemaOf = (part: RequestPart, name: string) => { format?: string } | undefined

/** Requests without a caller are admitted. */
export const anyone: Access = { callers: 'anyone', credential: 'none', usesSession: true, errors: [] }
/** Requests without a caller are admitted. A session is ignored. */
export const anonymous: Access = { ...anyone, usesSession: false }
/** Any valid session. */
export const anyCaller: Access = {
  callers: 'any signed-in caller',
  credential: 'session',
  usesSession: true,
  errors: [],
}
/** Any valid session, and access keys with one of these scopes. */
export const anyCallerWith = (...scopes: Scope[]): Access => ({ ...anyCaller, scopes })
/** Like `anyCallerWith`, but without workspace keys, for handlers that read `request.caller`. */
export const anyPersonWith = (...scopes: Scope[]): Access => ({
  ...anyCallerWith(...scopes),
  personalKeysOnly: true,
})
