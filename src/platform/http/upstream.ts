/** Calls to other services: bounded in time and size, without redirects, and with failures translated in one place. */

import { ApiError } from '../../errors.js'
import { type Meter, secondsSince } from '../metrics/meter.js'
import type { LabelsOf } from '../metrics/metrics.js'
import { childOf, type Trace } from './trace.js'

export type Upstream = 'repohost' | 'billing-provider' | 'assistant-a' | 'assistant-b'

export interface UpstreamResponse {
  status: number
  headers: Headers
  /** The parsed body. Undefined if it isn't JSON. */
  json: unknown
}

const MAX_BYTES = 1_048_576

type Outcome = LabelsOf<'team_settings_upstream_duration_seconds'>['outcome']

/** One round trip to another service, for the metrics. */
export const measured = async <Measured extends { status: number; headers: Headers; json?: unknown }>(
  meter: Meter,
  upstream: Upstream,
  signal: AbortSignal,
  work: () => Promise<Measured>,
): Promise<Measured> => {
  const since = performance.now()
  const end = (outcome: Outcome) =>
    meter.observe('team_settings_upstream_duration_seconds', { upstream, outcome }, secondsSince(since))
  try {
    const response = await work()
    end(outcomeOf(response))
    return response
  } catch (error) {
    end(signal.aborted ? 'timeout' : 'failed')
    throw error
  }
}

const outcomeOf = (response: { status: number; headers: Headers; json?: unknown }): Outcome => {
  const { status, headers } = response
  if (status === 429 || (status === 403 && headers.get('x-ratelimit-remaining') === '0')) return 'limited'
  if (status >= 500 || (status === 200 && 'json' in response && response.json === undefined)) return 'failed'
  return status < 300 ? 'answered' : 'refused'
}

/** Makes a call part of the trace of its request. */
export const tracing = (trace: Trace | undefined): Record<string, string> =>
  trace ? { traceparent: childOf(trace) } : {}

/** How one service is called. */
export type GetJson = (
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
  trace: Trace | undefined,
) => Promise<UpstreamResponse>

/**
 * Returns a function that sends one GET.
 * @throws {ApiError} `upstream_timeout` if `signal` ends it, `upstream_failed` if there's no complete response.
 */
export const getJsonFrom =
  (upstream: Upstream, meter: Meter): GetJson =>
  async (url, headers, signal, trace) => {
    const get = async () => {
      const response = await boundedFetch(url, { headers: { ...headers, ...tracing(trace) }, signal })
      return {
        status: response.status,
        headers: response.headers,
        json: parseOrUndefined(await response.text()),
      }
    }
    try {
      return await measured(meter, upstream, signal, get)
    } catch (cause) {
      throw new ApiError(signal.aborted ? 'upstream_timeout' : 'upstream_failed', { upstream, cause })
    }
  }

/** Node loads `fetch` at its first use, which takes 50 ms of CPU, so it is loaded at the start. */
new Response()

/** A `fetch` that follows no redirects and resolves once the body, of at most 1 MiB, has arrived. */
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
    if (size > MAX_BYTES) throw new Error(`The response has more than ${MAX_BYTES} bytes`)
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

/** The error when a provider limits the rate: 502 with `Retry-After`. */
export const rateLimitedUpstream = (upstream: Upstream, headers: Headers): ApiError => {
  const seconds =
    Number(headers.get('retry-after')) || Number(headers.get('x-ratelimit-reset')) - Date.now() / 1_000
  return new ApiError('upstream_failed', {
    upstream,
    retryAfter: Math.min(3_600, Math.max(1, Math.ceil(Number.isFinite(seconds) ? seconds : 60))),
  })
}
