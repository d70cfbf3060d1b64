/** API calls through the typed client, and a cache of the responses that screens have shown. */
import { effect, signal } from '@preact/signals'
import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { type Client, createClient } from '../client/src/client.js'
import type { Answer, AnswerOf, Operation, RequestOptions } from '../client/src/operations.js'
import { ApiProblem, fieldOf } from '../client/src/problem.js'
import { own } from '../schemas/own.js'
import type { Text } from './failure-texts.js'
import { count } from './format.js'
import { start } from './start.js'

type Reading = Extract<Operation, `GET ${string}`>

export const signedIn = signal(start.signed_in)
/** The scope that the token of this sign-in lacked, so that the host didn't name the person's organizations. */
export const missingScope = signal<string | undefined>(undefined)
/** The service ended the session while the page was open. */
export const ended = signal(false)
/** The sign-in dialog is open on top of the page. It can be closed. */
export const expired = signal(false)
export const offline = signal(!navigator.onLine)
/** The number of pending requests whose responses are new to the page. */
export const loading = signal(0)

const client = createClient({ baseUrl: '', cookie: true })

/** A failed call, as text that says what happened and what to do. */
export interface Failure {
  title: string
  advice: string
  code: string
  status: number
  requestId: string | undefined
  /** A retry can help, so reads are retried automatically. */
  canRetry: boolean
  /** The session has ended. The remedy is to sign in. */
  isEnd: boolean
  /** Seconds to wait, from the `Retry-After` header. */
  retryAfter: number | undefined
  /** The problem document's properties. */
  problem: Record<string, unknown>
}

const ENDED: Text = ['Your session has ended', 'Sign in again to continue. Your input is kept.']

/** Texts for calls without a response, and for the end of the session. */
const texts: Record<string, Text> = {
  unreachable: ['Can’t reach the service', 'Your input is kept. Try again once the service is back.'],
  no_answer: ['The request timed out', 'The service or your connection may be slow. Try again.'],
  perhaps_done: [
    'The request timed out',
    'The service may have made the change. Check before you try again.',
  ],
  unexpected_answer: [
    'The response didn’t come from the service',
    'It may come from a proxy or a network sign-in page. Try again in a moment, then reload the page.',
  ],
  no_strong_etag: [
    'A proxy removes or weakens the ETag header',
    'Nothing was changed, because changes by others couldn’t be noticed. Ask the person who runs this server to let the header pass.',
  ],
  unauthenticated: ENDED,
  token_invalid: ENDED,
  token_expired: ENDED,
  token_revoked: ENDED,
}

const codeOf = (error: unknown, operation: Operation): string => {
  if (error instanceof ApiProblem) return error.code
  if (!(error instanceof DOMException && error.name === 'TimeoutError')) return 'unreachable'
  return operation.startsWith('GET ') ? 'no_answer' : 'perhaps_done'
}

const UNEXPLAINED: Text = ['The request failed', 'Reload the page, then try again.']

/** The texts about rejected calls are loaded with the first one. */
const explain = async (problem: ApiProblem | undefined): Promise<Text> => {
  const texts = await import('./failure-texts.js').catch(() => undefined)
  return texts?.explainProblem(problem, { own, fieldOf, host: start.repohost_name }) ?? UNEXPLAINED
}

const failureOf = async (error: unknown, operation: Operation): Promise<Failure> => {
  const problem = error instanceof ApiProblem ? error : undefined
  const code = codeOf(error, operation)
  const status = problem?.status ?? 0
  const retryAfter = problem?.retryAfter
  const [title, advice] = own(texts, code) ?? (await explain(problem))
  return {
    title,
    advice: retryAfter ? `${advice} Wait at least ${count(Math.ceil(retryAfter))} s.` : advice,
    code,
    status,
    requestId: problem?.requestId,
    canRetry:
      (status === 0 && code !== 'no_strong_etag') ||
      status === 429 ||
      status >= 500 ||
      code === 'unexpected_answer',
    isEnd: status === 401 && !['repohost_token_invalid', 'admin_key_invalid'].includes(code),
    retryAfter,
    problem: (problem ?? {}) as Record<string, unknown>,
  }
}

const KEY_ENDED = { title: 'The access key was revoked', advice: 'Try again.', isEnd: false }

const HEALTH = 'GET /api/health'

/** A call, through the session or `via` another client. @throws {Failure} */
export const call = async <O extends Operation>(
  operation: O,
  options: RequestOptions<O>,
  via: Client = client,
): Promise<Answer<AnswerOf<O>>> => {
  try {
    // A failure is shown at once. The screen retries, not the client.
    const answer = await via.request(operation, { ...options, retry: false })
    offline.value = false
    return answer
  } catch (error) {
    if (options.signal?.aborted) throw error
    const failure = await failureOf(error, operation)
    if (failure.status > 0) offline.value = false
    // A browser extension may block only this call, so the health check decides.
    else if (failure.code === 'unreachable' && operation !== HEALTH) checkConnection()
    // If an access key expires or is revoked, the session stays valid.
    if (failure.isEnd && via.token) throw { ...failure, ...KEY_ENDED }
    if (failure.isEnd && signedIn.value) {
      ended.value = true
      expired.value = true
    }
    throw failure
  }
}

/**
 * The delay before a retry in ms: exponential backoff, never shorter than `Retry-After`, with jitter so that clients
 * don't all return at once.
 */
const retryDelay = (failures: number, retryAfter = 0): number => {
  const seconds = Math.max(Math.min(60, 2 * 2 ** failures), Math.min(86_400, retryAfter))
  return seconds * (1 + Math.random() / 4) * 1_000
}

/** Fetches everything on screen again. */
export const refreshes = signal(0)
export const refresh = () => {
  refreshes.value++
}

/** Checks whether the service is reachable. */
export const checkConnection = () =>
  call(HEALTH, {}).then(
    () => {},
    ({ code }: Failure) => {
      if (code === 'unreachable') offline.value = true
    },
  )
addEventListener('online', checkConnection)
addEventListener('offline', () => {
  offline.value = true
})

/** Outages in a row. A minute without one resets the count. */
let outages = 0
let backSince = 0
const STABLE_MS = 60_000
// During an outage, only the health check is repeated. The screen is fetched again once it succeeds.
effect(() => {
  if (!offline.value) return
  if (Date.now() - backSince > STABLE_MS) outages = 0
  let check: ReturnType<typeof setTimeout>
  let isBack = false
  const checkLater = () => {
    if (isBack) return
    check = setTimeout(() => checkConnection().then(checkLater), retryDelay(outages++))
  }
  checkLater()
  return () => {
    isBack = true
    backSince = Date.now()
    clearTimeout(check)
    refresh()
  }
})

export interface ReadState<T> {
  data: T | undefined
  /** The version of `data`. */
  etag: string | undefined
  failure: Failure | undefined
  /** `data` is the response to an earlier request. */
  stale: boolean
  again: () => void
}

/** Responses that were already shown. They appear at once when a screen reads them again. */
const cache = new Map<string, Answer<unknown>>()
const CACHE_MAX = 60

export const clearCache = () => cache.clear()

const remember = (name: string, answer: Answer<unknown>) => {
  cache.delete(name)
  cache.set(name, answer)
  for (const oldest of cache.keys()) {
    if (cache.size <= CACHE_MAX) break
    cache.delete(oldest)
  }
}

/** Counts a pending request. @returns a function that ends it; further calls do nothing */
const startLoading = () => {
  let isLoading = true
  loading.value++
  return () => {
    if (isLoading) loading.value--
    isLoading = false
  }
}

/**
 * The response to a read. It's fetched again when `options` change. `undefined` fetches nothing. The last response
 * stays until the new one arrives.
 */
export const useRead = <O extends Reading>(
  operation: O,
  options: RequestOptions<O> | undefined,
): ReadState<AnswerOf<O>> => {
  const name = options && `${operation} ${JSON.stringify(options)}`
  const [, settled] = useReducer((n: number) => n + 1, 0)
  const [round, again] = useReducer((n: number) => n + 1, 0)
  const shown = useRef<Answer<AnswerOf<O>>>(undefined)
  const [failed, fail] = useState<{ name: string; failure: Failure }>()
  const failures = useRef({ name, count: 0 })

  useEffect(() => {
    if (!name || !options) return
    if (failures.current.name !== name) failures.current = { name, count: 0 }
    const stop = new AbortController()
    let retry: ReturnType<typeof setTimeout> | undefined
    const finishLoading = cache.has(name) ? () => {} : startLoading()
    call(operation, { ...options, signal: stop.signal }).then(
      (answer) => {
        failures.current.count = 0
        finishLoading()
        remember(name, answer)
        fail(undefined)
        settled(0)
      },
      (failure: Failure) => {
        if (stop.signal.aborted) return
        finishLoading()
        fail({ name, failure })
        if (!failure.canRetry) return
        const delay = retryDelay(failures.current.count++, failure.retryAfter)
        // When the service is back, everything is fetched again anyway.
        retry = setTimeout(() => offline.value || again(0), delay)
      },
    )
    return () => {
      stop.abort()
      finishLoading()
      clearTimeout(retry)
    }
  }, [name, round, refreshes.value])

  const known = name === undefined ? undefined : (cache.get(name) as Answer<AnswerOf<O>> | undefined)
  if (known !== undefined) shown.current = known
  return {
    data: shown.current?.data,
    etag: shown.current?.etag,
    failure: failed && failed.name === name ? failed.failure : undefined,
    stale: known === undefined && shown.current !== undefined,
    again: () => {
      // The old failure disappears, so that the person sees the new attempt.
      fail(undefined)
      again(0)
    },
  }
}

/** An action that makes calls: whether it's running, and how it failed. */
export const useAction = () => {
  const [state, set] = useState<{ busy: boolean; failure?: Failure }>({ busy: false })
  const act = async (work: () => Promise<unknown>): Promise<boolean> => {
    // Buttons stay enabled while an action runs, because a disabled button loses the focus. Another press does nothing.
    if (state.busy) return false
    set({ busy: true })
    try {
      await work()
      set({ busy: false })
      return true
    } catch (failure) {
      set({ busy: false, failure: failure as Failure })
      return false
    }
  }
  return { ...state, act, clear: () => set({ busy: false }) }
}

/** Repeats work while it's turned on and the page is visible. */
export const usePolling = (isOn: boolean, work: () => void, ms: number) =>
  useEffect(() => {
    if (!isOn) return
    const timer = setInterval(() => document.hidden || work(), ms)
    return () => clearInterval(timer)
  }, [isOn])

/** A paged list: the pages loaded so far, and `more` to load the next one if there is one. */
export const usePages = <T extends { next_cursor: string | null }>(
  read: ReadState<T>,
  load: (cursor: string) => Promise<{ data: T }>,
) => {
  const [further, set] = useState<{ after: T | undefined; pages: T[] }>({ after: undefined, pages: [] })
  const { busy, failure, act } = useAction()
  const first = read.data
  const pages = first ? [first, ...(further.after === first ? further.pages : [])] : []
  const cursor = pages.at(-1)?.next_cursor ?? null
  const more =
    cursor === null
      ? undefined
      : () =>
          act(async () => {
            const { data } = await load(cursor)
            set({ after: first, pages: [...pages.slice(1), data] })
          })
  return { pages, more, busy, failure }
}
