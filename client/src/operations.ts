/** What can be called, and what comes of it: read from the generated types, so that nothing is said twice. */
import type { Operations } from './api.js'

/** `GET /api/me`: the method and the path as the document has it. */
export type Operation = keyof Operations

type RequestOf<K extends Operation> = Operations[K]['request']
/** What an operation answers when all is well. */
export type AnswerOf<K extends Operation> = Operations[K]['answer']
/** The problem documents of an operation, one for each code. */
export type ProblemOf<K extends Operation> = Operations[K]['problem']

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** For each attempt; default 15,000. */
  timeoutMs?: number
  /** Whether to try again what is safe to repeat; default true. */
  retry?: boolean
}

export type RequestOptions<K extends Operation> = RequestOf<K> & CallOptions

/** The options may be left out where nothing in them is required. */
export type RequestArguments<K extends Operation> =
  Record<string, never> extends RequestOf<K> ? [options?: RequestOptions<K>] : [options: RequestOptions<K>]

export interface Answer<T> {
  data: T
  status: number
  /** Of the state that was read or written, where the service gives one. */
  etag: string | undefined
  /** The service said 304: `data` is what was kept from the last time. */
  notModified: boolean
  requestId: string | undefined
}
