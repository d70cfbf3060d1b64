import type { Operation, ProblemOf } from './operations.js'

/**
 * The response didn't come from the service (a proxy's page, a redirect, or too large), or a condition couldn't be sent, because a
 * proxy has removed or weakened `ETag`. The status is then 0.
 */
interface UnexpectedAnswer {
  code: 'unexpected_answer' | 'no_strong_etag'
  status: number
}

/**
 * The field that a JSON pointer names, such as `/body/entries/3/minutes`. For a list, includes the item number, and for a key in a
 * language block, the block.
 */
export const fieldOf = (pointer: string): string => {
  const names = pointer.split('/').slice(2)
  const start = names.findLastIndex((name) => !/^\d+$/.test(name))
  const block = names[start - 1]?.startsWith('[') ? 1 : 0
  return names
    .slice(Math.max(start - block, 0))
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('/')
}

/** The first reason in `errors`, with its field: `theme` must start with `ext.` */
const reasonIn = ({ errors }: { errors?: unknown }): string | undefined => {
  if (!Array.isArray(errors)) return undefined
  const [first, ...others] = errors as { path?: unknown; message?: unknown }[]
  if (typeof first?.path !== 'string' || typeof first.message !== 'string') return undefined
  const field = fieldOf(first.path)
  const more = others.length > 0 ? ` (and ${others.length} more)` : ''
  return `${field ? `\`${field}\` ` : 'The request '}${first.message}${more}`
}

class ProblemError extends Error {
  override readonly name = 'ApiProblem'
  /** One sentence for people that says what went wrong. */
  declare readonly message: string
  readonly code: string
  readonly status: number
  /** The service's own words, which don't name the field. */
  readonly detail: string
  /** Identifies the call in the service's log. */
  readonly requestId: string | undefined
  /** How many seconds to wait, from the `Retry-After` header. */
  readonly retryAfter: number | undefined

  constructor(
    readonly operation: Operation,
    { code, status, detail, ...members }: { code: string; status: number; detail: string },
    { requestId, retryAfter }: { requestId?: string | undefined; retryAfter?: number | undefined },
  ) {
    super(reasonIn(members) ?? detail)
    this.code = code
    this.status = status
    this.detail = detail
    this.requestId = requestId
    this.retryAfter = retryAfter
    for (const [name, value] of Object.entries(members)) {
      if (!(name in this)) Object.defineProperty(this, name, { value, enumerable: true })
    }
  }
}

/** Applied to each document of a union, so that the code still decides on the other properties. */
type OwnMembers<P> = P extends unknown ? Omit<P, 'type' | 'title' | 'request_id'> : never

/**
 * An error response. `code` decides which other properties there are: with `workspace_required`, there is
 * `suggested_pattern`. A service that is newer than this client may send codes that aren't in the types. `status` is
 * still correct then.
 */
export type ApiProblem<K extends Operation = Operation> = ProblemError &
  (OwnMembers<ProblemOf<K>> | UnexpectedAnswer)
export const ApiProblem = ProblemError as unknown as abstract new (...given: never) => ApiProblem

/** Whether an error is a problem of this operation, with its codes and no others. */
export const isProblem = <K extends Operation>(error: unknown, operation: K): error is ApiProblem<K> =>
  error instanceof ApiProblem && error.operation === operation

export const problemOf = (...given: ConstructorParameters<typeof ProblemError>) => new ProblemError(...given)
