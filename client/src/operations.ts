/** The types of calls and responses, derived from the generated types. */
import type { Operations } from './api.js'

/** The method and path as in the OpenAPI document, such as `GET /api/me`. */
export type Operation = keyof Operations

type RequestOf<K extends Operation> = Operations[K]['request']
/** The response of an operation that succeeds. */
export type AnswerOf<K extends Operation> = Operations[K]['answer']
/** The problem documents of an operation, one for each code. */
export type ProblemOf<K extends Operation> = Operations[K]['problem']

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** Milliseconds for each attempt. Default: 15,000. */
  timeoutMs?: number
  /** Whether to retry calls that are safe to repeat. Default: true. */
  retry?: boolean
}

export type RequestOptions<K extends Operation> = RequestOf<K> & CallOptions

/** The options are optional if nothing in them is required. */
export type RequestArguments<K extends Operation> =
  Record<string, never> extends RequestOf<K> ? [options?: RequestOptions<K>] : [options: RequestOptions<K>]

export interface Answer<T> {
  data: T
  status: number
  /** The ETag of the state that was read or written, if the service sends one. */
  etag: string | undefined
  /** True after a 304: `data` is the response stored earlier. */
  notModified: boolean
  requestId: string | undefined
}
