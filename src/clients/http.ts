/** Calls to other services: bounded in time and size, without redirects, their failures translated once. */
import { ApiError } from '../errors.js'

export type Upstream = 'repohost' | 'billing-provider' | 'assistant-a' | 'assistant-b'

export interface UpstreamAnswer {
  status: number
  headers: Headers
  /** The parsed body; undefined when it is not JSON. */
  json: unknown
}

const MAX_BYTES = 1_048_576

/**
 * One GET.
 * @throws {ApiError} `upstream_timeout` when `signal` ends it, `upstream_failed` when there is no whole answer.
 */
export const getJson = async (
  upstream: Upstream,
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<UpstreamAnswer> => {
  try {
    const response = await boundedFetch(url, { headers, signal })
    return {
      status: response.status,
      headers: response.headers,
      json: parseOrUndefined(await response.text()),
    }
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw new ApiError(signal.aborted ? 'upstream_timeout' : 'upstream_failed', { upstream, cause })
  }
}

/** A `fetch` that follows no redirects and answers when the body, of at most 1 MiB, is there. */
export const boundedFetch = async (url: string, init: RequestInit): Promise<Response> => {
  const response = await fetch(url, { ...init, redirect: 'manual' })
  const body = await readBounded(response)
  // Some statuses must not have a body, not even an empty one.
  return new Response(body.length > 0 ? body : null, { status: response.status, headers: response.headers })
}

const readBounded = async (response: Response): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop by throwing cancels the stream, and with it the connection.
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error(`The answer has more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const parseOrUndefined = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The provider asks to slow down: a 502 that says when to come back. */
export const rateLimitedUpstream = (upstream: Upstream, headers: Headers): ApiError => {
  const seconds =
    Number(headers.get('retry-after')) || Number(headers.get('x-ratelimit-reset')) - Date.now() / 1_000
  return new ApiError('upstream_failed', {
    upstream,
    retryAfter: Math.min(3_600, Math.max(1, Math.ceil(Number.isFinite(seconds) ? seconds : 60))),
  })
}
