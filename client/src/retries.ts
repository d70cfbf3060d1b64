/** Decides whether to retry a call, and how long to wait first. */

const RETRIES = 4
const MAX_WAIT_MS = 60_000

/** Idempotent calls other than reads. */
const repeatable = (method: string, path: string, { query, headers, body }: Parts) => {
  if (method === 'GET') return true
  // If a conditional call succeeds but its response is lost, a retry would fail as if someone else had made a change
  // first.
  const conditional = Object.keys({ ...query, ...headers }).some((name) =>
    /^if[-_](none[-_])?match$/i.test(name),
  )
  if (method === 'PUT') return !conditional
  if (path === '/api/team/active-minutes')
    return typeof body === 'object' && body !== null && 'flush_id' in body
  return path === '/api/team/commits' || path === '/api/team/closed-issues'
}

interface Parts {
  query?: object | undefined
  headers?: object | undefined
  body?: unknown
}

/** A status after which another attempt may succeed. Undefined: there was no response. */
const passing = new Set<number | undefined>([undefined, 429, 502, 503, 504])

/** Seconds in `Retry-After`, which may also be a date. */
export const secondsOf = (retryAfter: string | null): number | undefined => {
  if (retryAfter === null) return undefined
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/**
 * Milliseconds until the next attempt, or undefined if there is none. The wait that the service asks for comes first. If it
 * is more than a minute, the caller has to wait. Otherwise the wait is random, below a bound that doubles.
 */
export const retryDelay = (
  attempt: number,
  call: { method: string; path: string } & Parts,
  { status, code, retryAfter }: { status?: number; code?: string; retryAfter?: number | undefined },
): number | undefined => {
  if (attempt >= RETRIES || !passing.has(status)) return undefined
  // Rate-limited calls had no effect, so a retry is safe. Missing configuration doesn't change by itself.
  if (code?.endsWith('_not_configured')) return undefined
  if (code !== 'rate_limited' && !repeatable(call.method, call.path, call)) return undefined
  const wait =
    retryAfter === undefined ? Math.random() * Math.min(MAX_WAIT_MS, 1000 * 2 ** attempt) : retryAfter * 1000
  return wait <= MAX_WAIT_MS ? wait : undefined
}

/** Waits, or throws the signal's reason. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
