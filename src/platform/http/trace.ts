/** W3C Trace Context (w3.org/TR/trace-context): identifies the caller's request that some work belongs to. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export interface Trace {
  /** 32 hexadecimal digits; the caller's, if they sent any. */
  traceId: string
  /** 16 hexadecimal digits, for this request only. */
  spanId: string
  /** `01` if the caller records the trace, otherwise `00`. */
  flags: '00' | '01'
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-|$)/
const NOTHING = /^0+$/
/** The length in version 00, the only one so far. Later versions may be longer. */
const LENGTH = 55

const newTraceId = () => randomUUID().replaceAll('-', '')
/** Never 0: the second half of a UUID begins with its variant. */
const spanIn = (traceId: string) => traceId.slice(16)
const newSpanId = () => spanIn(newTraceId())

const newTrace = (): Trace => {
  const traceId = newTraceId()
  return { traceId, spanId: spanIn(traceId), flags: '00' }
}

/** The trace in a request's `traceparent` header. If there's no valid one, a new trace that isn't sampled. */
export const traceOf = (traceparent: unknown): Trace => {
  if (typeof traceparent !== 'string') return newTrace()
  const text = traceparent.slice(0, LENGTH + 1)
  const [, version = 'ff', traceId = '', parent = '', flags = ''] = TRACEPARENT.exec(text) ?? []
  const isValid =
    version !== 'ff' &&
    (version !== '00' || text.length === LENGTH) &&
    !NOTHING.test(traceId) &&
    !NOTHING.test(parent)
  if (!isValid) return newTrace()
  return { traceId, spanId: newSpanId(), flags: Number.parseInt(flags, 16) & 1 ? '01' : '00' }
}

/** The `traceparent` header of a call made for a request. */
export const childOf = ({ traceId, flags }: Trace): string => `00-${traceId}-${newSpanId()}-${flags}`

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's request id, or a new one. */
export const requestIdOf = ({ headers }: IncomingMessage): string => {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}
