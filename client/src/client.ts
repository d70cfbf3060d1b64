import { type AnswerCache, memoryCache } from './cache.js'
import type {
  Answer,
  AnswerOf,
  CallOptions,
  Operation,
  RequestArguments,
  RequestOptions,
} from './operations.js'
import { ApiProblem, problemOf } from './problem.js'
import { retryDelay, secondsOf, sleep } from './retries.js'

export interface ClientOptions {
  /** Where the service is, without `/api`: `https://settings.example.com`. Empty for the page's own origin. */
  baseUrl: string
  /** The session token that `POST /api/auth/verify` gave, or the secret of an access key. */
  token?: string | undefined
  /** Use the browser's cookie instead of a token. */
  cookie?: boolean
  /** Another one than the global `fetch`. */
  fetch?: typeof globalThis.fetch
  /** Asked once for a new token when the service no longer takes the old one; the call is then made once more. */
  onUnauthorized?: () => Promise<string | undefined> | string | undefined
  /** Where answers are kept for conditional reads; default: memory. */
  cache?: AnswerCache
  /** How to wait between attempts. */
  wait?: (ms: number, signal?: AbortSignal) => Promise<void>
}

export interface Client {
  /**
   * Calls the service. Throws `ApiProblem` for an answer that is an error, what `fetch` threw where there was none,
   * a `TimeoutError` after 15 s without an answer, and the reason of `signal`.
   */
  request<K extends Operation>(operation: K, ...options: RequestArguments<K>): Promise<Answer<AnswerOf<K>>>
  /** The answer as the text that came: a dashboard as CSV. */
  request<K extends Operation>(
    operation: K,
    options: RequestOptions<K> & { as: 'text' },
  ): Promise<Answer<string>>
  readonly token: string | undefined
  setToken(token: string | undefined): void
}

interface Parts extends CallOptions {
  as?: 'text'
  path?: Record<string, string | number>
  query?: Record<string, string | number | boolean | undefined>
  headers?: Record<string, string | undefined>
  body?: unknown
}

const TIMEOUT_MS = 15_000
/** Characters of an answer, and of one that is an error. */
const LONGEST_ANSWER = 64 * 2 ** 20
const LONGEST_PROBLEM = 2 ** 18

/** 401s that a new session token can heal. */
const staleSession = new Set(['unauthenticated', 'token_invalid', 'token_expired', 'token_revoked'])

const fill = (path: string, values: Record<string, string | number> = {}) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values[name] ?? '')
    // A URL takes these for steps to elsewhere, also when they are encoded.
    if (value === '' || value === '.' || value === '..')
      throw new TypeError(`The path needs a value for ${name}.`)
    return encodeURIComponent(value)
  })

const present = <T>(values: Record<string, T | undefined> = {}) =>
  Object.entries(values).filter((entry): entry is [string, T & {}] => entry[1] !== undefined)

const queryOf = (query: Parts['query']) => {
  const text = new URLSearchParams(
    Object.fromEntries(present(query).map(([name, value]) => [name, String(value)])),
  ).toString()
  return text && `?${text}`
}

/** A page's own scripts may send other pages' services no `If-None-Match`; the browser then asks conditionally itself. */
const isElsewhere = (baseUrl: string) => {
  const page = (globalThis as { location?: { origin: string; href: string } }).location
  return page !== undefined && new URL(baseUrl || '/', page.href).origin !== page.origin
}

/** The text of an answer, or undefined when it is longer than allowed. */
const read = async (response: Response, limit: number): Promise<string | undefined> => {
  const reader = response.body?.getReader()
  if (reader === undefined) return response.text()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    text += decoder.decode(value, { stream: true })
    if (text.length > limit) {
      await reader.cancel()
      return undefined
    }
  }
}

const parse = (text: string | undefined): unknown => {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A signal of its own for one attempt, which the caller's ends as well. */
const attemptSignal = (ms: number, outer: AbortSignal | undefined) => {
  const controller = new AbortController()
  const stop = () => controller.abort(outer?.reason)
  const timer = setTimeout(
    () => controller.abort(new DOMException(`No answer within ${ms} ms.`, 'TimeoutError')),
    ms,
  )
  outer?.addEventListener('abort', stop, { once: true })
  if (outer?.aborted) stop()
  const done = () => {
    clearTimeout(timer)
    outer?.removeEventListener('abort', stop)
  }
  return { signal: controller.signal, done }
}

/** Typed calls of one installation of the service. */
export const createClient = (options: ClientOptions): Client => {
  const { cookie = false, onUnauthorized, cache = memoryCache(), wait = sleep } = options
  const baseUrl = options.baseUrl.replace(/\/+$/, '')
  // Called late, so that it can be replaced, and without a receiver, which browsers refuse.
  const send: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init))
  const conditional = !isElsewhere(baseUrl)
  let token = options.token
  let renewal: Promise<void> | undefined

  const setToken = (next: string | undefined) => {
    if (next === token) return
    token = next
    void cache.clear()
  }

  /** Whether there is another token now than the one that was refused. Many calls at once ask once. */
  const renewed = async (refused: string | undefined) => {
    if (token === refused && onUnauthorized !== undefined) {
      renewal ??= (async () => setToken((await onUnauthorized()) ?? token))().finally(() => {
        renewal = undefined
      })
      await renewal
    }
    return token !== refused
  }

  /** One attempt: the answer, or a thrown problem. */
  const attempt = async (operation: Operation, method: string, path: string, parts: Parts) => {
    const { body, as, signal: outer, timeoutMs = TIMEOUT_MS } = parts
    const key = `${method} ${path}${as === undefined ? '' : ` ${as}`}`
    const cached = method === 'GET' && conditional ? await cache.get(key) : undefined
    const { signal, done } = attemptSignal(timeoutMs, outer)
    try {
      signal.throwIfAborted()
      const response = await send(baseUrl + path, {
        method,
        headers: {
          accept: as === 'text' ? 'text/csv, text/*;q=0.9, */*;q=0.1' : 'application/json',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(cached && { 'if-none-match': cached.etag }),
          ...Object.fromEntries(present(parts.headers)),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        credentials: cookie ? 'include' : 'omit',
        // A token of the repository host must not follow to where a redirect leads.
        redirect: 'manual',
        signal,
      })
      const { status, headers, ok } = response
      const text = await read(response, ok ? LONGEST_ANSWER : LONGEST_PROBLEM)
      const requestId = headers.get('x-request-id') ?? undefined
      const etag = headers.get('etag') ?? undefined
      const notModified = status === 304 && cached !== undefined
      const content = notModified ? cached.text : text
      const data = as === 'text' && ok ? content : parse(content)
      if ((ok || notModified) && data !== undefined) {
        if (ok && method === 'GET' && etag !== undefined && conditional && text !== undefined) {
          await cache.set(key, { etag, text })
        }
        return { data, status, etag: etag ?? cached?.etag, notModified, requestId }
      }
      const problem = data as { code?: unknown; detail?: unknown } | null | undefined
      const retryAfter = secondsOf(headers.get('retry-after'))
      if (!ok && typeof problem?.code === 'string' && typeof problem.detail === 'string') {
        throw problemOf(
          operation,
          { ...(problem as { code: string; detail: string }), status },
          { requestId, retryAfter },
        )
      }
      const detail = 'This answer is not one of the service. Check its address, and what stands before it.'
      throw problemOf(operation, { code: 'unexpected_answer', status, detail }, { requestId, retryAfter })
    } catch (error) {
      // Engines differ in what they throw for an abort; its reason says which of the two it was.
      throw signal.aborted ? signal.reason : error
    } finally {
      done()
    }
  }

  const request = async (operation: Operation, parts: Parts = {}) => {
    const [method = '', template = ''] = operation.split(' ')
    const path = fill(template, parts.path) + queryOf(parts.query)
    let askedForToken = false
    for (let attempts = 0; ; attempts++) {
      const used = token
      try {
        return await attempt(operation, method, path, parts)
      } catch (error) {
        if (parts.signal?.aborted) throw error
        const problem = error instanceof ApiProblem ? error : {}
        if (error instanceof ApiProblem && staleSession.has(error.code) && !askedForToken) {
          askedForToken = true
          if (await renewed(used)) continue
        }
        const pause =
          parts.retry === false
            ? undefined
            : retryDelay(attempts, { method, ...parts, path: template }, problem)
        if (pause === undefined) throw error
        await wait(pause, parts.signal)
      }
    }
  }

  return {
    request: request as Client['request'],
    get token() {
      return token
    },
    setToken,
  }
}
