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
  /** The address of the service without `/api`, such as `https://settings.example.com`. Empty for the page's own origin. */
  baseUrl: string
  /** The session token from `POST /api/auth/verify`, or the secret of an access key. */
  token?: string | undefined
  /** Use the browser's cookie instead of a token. */
  cookie?: boolean
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch
  /**
   * Called once for a new token when the service rejects the old one. The client then repeats the call. With `token_revoked`, ask
   * the person first: they signed out.
   */
  onUnauthorized?: (code: string) => Promise<string | undefined> | string | undefined
  /** Stores responses for conditional reads. Default: memory. */
  cache?: AnswerCache
  /** Waits between attempts. */
  wait?: (ms: number, signal?: AbortSignal) => Promise<void>
}

export interface Client {
  /**
   * Calls the service. Throws `ApiProblem` for an error response, the error of `fetch` if there is no response, a
   * `TimeoutError` after 15 s without a response, and the reason of `signal`.
   */
  request<K extends Operation>(operation: K, ...options: RequestArguments<K>): Promise<Answer<AnswerOf<K>>>
  /** Returns the response as text, such as a dashboard as CSV. */
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
/** The maximum length of a response and of an error response, in characters. */
const MAX_RESPONSE_LENGTH = 64 * 2 ** 20
const MAX_PROBLEM_LENGTH = 2 ** 18

/** The 401 codes that a new session token can resolve. */
const staleSession = new Set(['unauthenticated', 'token_invalid', 'token_expired', 'token_revoked'])

const fill = (path: string, values: Record<string, string | number> = {}) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values[name] ?? '')
    // In a URL, these segments would change the path, even if they are encoded.
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

/** Pages can't send `If-None-Match` to another origin. The browser then makes conditional requests by itself. */
const isElsewhere = (baseUrl: string) => {
  const page = (globalThis as { location?: { origin: string; href: string } }).location
  return page !== undefined && new URL(baseUrl || '/', page.href).origin !== page.origin
}

/** The text of a response, or undefined when it is longer than allowed. */
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

/** Advice about a redirect, which isn't followed, because its target may be someone else's. */
const redirectOf = (location: string | null, baseUrl: string, path: string) => {
  if (location === null) return undefined
  try {
    const { origin, pathname } = new URL(location, baseUrl + path)
    const [own = ''] = path.split('?')
    return pathname.endsWith(own)
      ? `${baseUrl} redirects to ${origin}${pathname.slice(0, -own.length)}. Set the address to that.`
      : `${baseUrl} redirects to ${origin}${pathname}, which isn’t the service. Check the address.`
  } catch {
    return undefined
  }
}

/** A signal for one attempt. It also follows the caller's signal. */
const attemptSignal = (ms: number, outer: AbortSignal | undefined) => {
  const controller = new AbortController()
  const stop = () => controller.abort(outer?.reason)
  const timer = setTimeout(
    () => controller.abort(new DOMException(`No response within ${ms} ms.`, 'TimeoutError')),
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

const NO_ETAG =
  'Responses arrive without a strong ETag header, so changes by others couldn’t be noticed. Nothing was changed. A proxy in front of the service removes or weakens the header: let it pass as it is.'

/** Whether a write has the condition that nothing has changed, but without an ETag that can prove it. */
const lacksEtag = (values: Parts['query'] = {}, name: string) =>
  Object.hasOwn(values, name) && !/^(\*$|")/.test(String(values[name] ?? ''))

/** Creates a client for one installation of the service. */
export const createClient = (options: ClientOptions): Client => {
  const { cookie = false, onUnauthorized, cache = memoryCache(), wait = sleep } = options
  const baseUrl = options.baseUrl.replace(/\/+$/, '')
  // Looked up at each call, so that it can be replaced. Called without a receiver, because browsers reject one.
  const send: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init))
  const conditional = !isElsewhere(baseUrl)
  let token = options.token
  let renewal: Promise<void> | undefined

  const setToken = (next: string | undefined) => {
    if (next === token) return
    token = next
    void cache.clear()
  }

  /** Whether the token has changed since it was rejected. Simultaneous calls ask once. */
  const renewed = async (rejected: string | undefined, code: string) => {
    if (token === rejected && onUnauthorized !== undefined) {
      renewal ??= (async () => setToken((await onUnauthorized(code)) ?? token))().finally(() => {
        renewal = undefined
      })
      await renewal
    }
    return token !== rejected
  }

  /** One attempt: the response, or a thrown problem. */
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
        // A redirect's target must not receive the repository-host token.
        redirect: 'manual',
        signal,
      })
      const { status, headers, ok } = response
      const text = await read(response, ok ? MAX_RESPONSE_LENGTH : MAX_PROBLEM_LENGTH)
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
      const detail =
        redirectOf(headers.get('location'), baseUrl, path) ??
        'This response isn’t from the service. Check the address, and any proxy in front of it.'
      throw problemOf(operation, { code: 'unexpected_answer', status, detail }, { requestId, retryAfter })
    } catch (error) {
      // JavaScript engines throw different errors for an abort. The signal's reason says which signal it was.
      throw signal.aborted ? signal.reason : error
    } finally {
      done()
    }
  }

  const request = async (operation: Operation, parts: Parts = {}) => {
    if (lacksEtag(parts.headers, 'If-Match') || lacksEtag(parts.query, 'if_match'))
      throw problemOf(operation, { code: 'no_strong_etag', status: 0, detail: NO_ETAG }, {})
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
          if (await renewed(used, error.code)) continue
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
