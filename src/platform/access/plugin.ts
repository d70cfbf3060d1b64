/**
 * Enforces `config.validate` and `config.access`, and puts the results on the request. Handlers have no other way to get access. Authentication
 * and the cookie's origin are checked before the body is read. Membership and role are read from the database on every
 * request: before a large body is read, so that a stranger can't send it, and otherwise after validation.
 */
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Scope } from '../../../schemas/keys.js'
import { ApiError } from '../../errors.js'
import type { Access } from './access.js'
import { isDryRun, isFromTrustedOrigin, isFromUnknownOrigin } from './caller.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The result of the route's access check. */
    grant: { access: Access; found: unknown } | null
    /** @throws when the route has another access */
    granted<Found>(access: Access<Found>): Found
    /** The result of the route's `validate`. */
    validation: { validate: Validate<unknown>; found: unknown } | null
    /** @throws when the route has another `validate` */
    validated<Found>(validate: Validate<Found>): Found
  }
}

type Validate<Found> = (request: FastifyRequest) => Promise<Found> | Found

const unsafeMethods = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Why an access key is rejected: the route admits no keys, or the key lacks the scope. */
const keyRejectionOf = (
  { scopes = [], dryRunScopes = [], personalKeysOnly = false }: Access,
  key: { scopes: readonly Scope[]; userId: string | null },
  request: FastifyRequest,
): ApiError | undefined => {
  const sufficient = isDryRun(request) ? [...scopes, ...dryRunScopes] : scopes
  const admitting = personalKeysOnly && key.userId === null ? [] : sufficient
  if (admitting.some((scope) => key.scopes.includes(scope))) return undefined
  return new ApiError('scope_missing', { scope: admitting[0] ?? null })
}

/** The framework validates the path only once it has read the body. */
const invalidParams = (request: FastifyRequest) => {
  const validate = request.getValidationFunction('params')
  if (!validate || validate(request.params)) return undefined
  return Object.assign(new Error('The path isn’t valid.'), {
    validation: validate.errors,
    validationContext: 'params',
  })
}

/** Why a request is rejected before its body is read. */
export const callerFault = (
  request: FastifyRequest,
): ApiError | undefined | Promise<ApiError | undefined> => {
  const { access } = request.routeOptions.config
  if (!access) return undefined
  const { session, key, headers } = request
  if (session instanceof ApiError) {
    if (access.credential === 'session') return session
  } else if (
    // In that case the session comes from the cookie, which browsers send automatically.
    headers.authorization === undefined &&
    access.tokenOf === undefined &&
    access.usesSession &&
    unsafeMethods.has(request.method) &&
    !isFromTrustedOrigin(request) &&
    !(access.takesUnknownOrigin && isFromUnknownOrigin(request))
  ) {
    return new ApiError('csrf_rejected')
  }
  return (key && keyRejectionOf(access, key, request)) ?? access.admit?.(request)
}

export const isDecidedBeforeBody = ({ routeOptions }: FastifyRequest): boolean =>
  routeOptions.config.accessBeforeBody === true

/** @throws {ApiError} */
export const decideBeforeBody = async (request: FastifyRequest): Promise<void> => {
  const invalid = invalidParams(request)
  if (invalid) throw invalid
  await decide(request)
}

/** Whether a route has checks that run after validation. */
export const isDecidedAfterValidation = ({ routeOptions }: FastifyRequest): boolean =>
  routeOptions.config.validate !== undefined || routeOptions.config.access?.find !== undefined

/** @throws {ApiError} */
export const decideAfterValidation = async (request: FastifyRequest): Promise<void> => {
  const { validate } = request.routeOptions.config
  if (validate) request.validation = { validate, found: await validate(request) }
  if (!request.grant) await decide(request)
}

const decide = async (request: FastifyRequest) => {
  const { access } = request.routeOptions.config
  if (access) request.grant = { access, found: await access.find?.(request) }
}

export default fp(
  async (app) => {
    app.decorateRequest('grant', null)
    app.decorateRequest('granted', function <Found>(this: FastifyRequest, access: Access<Found>) {
      if (this.grant?.access !== access) throw new Error('The route has another access')
      return this.grant.found as Found
    })
    app.decorateRequest('validation', null)
    app.decorateRequest('validated', function <Found>(this: FastifyRequest, validate: Validate<Found>) {
      if (this.validation?.validate !== validate) throw new Error('The route has another validation')
      return this.validation.found as Found
    })
  },
  { name: 'access', dependencies: ['session'] },
)
