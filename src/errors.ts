import { STATUS_CODES } from 'node:http'
import {
  ERROR_PAGE,
  type ErrorCode,
  errorCatalogue,
  type Problem,
  type ProblemExtras,
} from '../schemas/errors.js'
import { type LimitName, quotaOf } from './platform/limits.js'

/** A failure that is sent to the caller, with its code in the catalogue. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly extras: ProblemExtras
  /** Seconds for `Retry-After`. Absent if only the operator can fix it. */
  readonly retryAfter: number | undefined
  /** The value of `RateLimit-Limit`. */
  readonly limit: number | undefined
  /** Which limit it is, for the operator. */
  readonly limitName: LimitName | undefined

  constructor(
    code: ErrorCode,
    options: ProblemExtras & {
      retryAfter?: number
      limit?: number
      limitName?: LimitName
      cause?: unknown
    } = {},
  ) {
    const { retryAfter, limit, limitName = quotaOf(code), cause, ...extras } = options
    const [status, detail] = errorCatalogue[code]
    super(extras.detail ?? detail, { cause })
    this.code = code
    this.status = status
    this.extras = extras
    this.retryAfter = retryAfter ?? (code === 'unavailable' ? 1 : undefined)
    this.limit = limit
    this.limitName = limitName
  }
}

/** A request that breaks a rule that no schema can express. `path` is a JSON pointer that starts with the part. */
export const validationError = (path: string, message: string) =>
  new ApiError('validation_failed', { errors: [{ path, message }] })

/** The caller is over the limit for this many more seconds. */
export const tooMany = (limitName: LimitName, limit: number, seconds: number, detail?: string) =>
  new ApiError('rate_limited', {
    limitName,
    limit,
    retryAfter: Math.max(1, Math.ceil(seconds)),
    ...(detail !== undefined && { detail }),
  })

export const toProblem = (error: ApiError, requestId: string): Problem => ({
  type: `${ERROR_PAGE}#${error.code}`,
  status: error.status,
  title: STATUS_CODES[error.status] ?? 'Error',
  code: error.code,
  detail: error.message,
  request_id: requestId,
  ...error.extras,
})

/** A name as one part of a JSON pointer (RFC 6901). */
export const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

const NAME_LENGTH = 300

/** The caller chose the name, which can be as long as the body. */
export const shorten = (name: string): string =>
  name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH)}…` : name
