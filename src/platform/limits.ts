/**
 * Every limit on what callers do within a time window, or at once. Limits on stored data and on request sizes are only
 * in `schemas/limits.ts`.
 */
import type { ErrorCode } from '../../schemas/errors.js'
import { limits, type RateLimitName } from '../../schemas/limits.js'

/** Everyone in `payersOf`, the last of them alone, or the address. */
type Payer = 'all' | 'person' | 'address'

interface Window {
  per: Payer
  max: RateLimitName
  /** The limit of a workspace that pays in addition to the person. */
  maxPerWorkspace?: RateLimitName
  windowMs: number
}

const MINUTE_MS = 60_000

/** Limits in windows that start with the first request. */
export const windows = {
  caller: { per: 'all', max: 'rate_per_caller', windowMs: MINUTE_MS },
  pages: { per: 'address', max: 'rate_pages_per_address', windowMs: MINUTE_MS },
  sign_in: { per: 'address', max: 'rate_verify_per_address', windowMs: MINUTE_MS },
  invite: { per: 'all', max: 'rate_join_per_caller', windowMs: MINUTE_MS },
  export: { per: 'all', max: 'exports_per_hour', windowMs: 60 * MINUTE_MS },
  refused_host_tokens: { per: 'person', max: 'rate_refused_tokens_per_caller', windowMs: MINUTE_MS },
  refused_keys: { per: 'address', max: 'rate_refused_keys_per_address', windowMs: MINUTE_MS },
  wrong_signatures: { per: 'address', max: 'rate_wrong_signatures_per_address', windowMs: MINUTE_MS },
  deliveries: {
    per: 'all',
    max: 'rate_deliveries_per_person',
    maxPerWorkspace: 'rate_deliveries_per_workspace',
    windowMs: MINUTE_MS,
  },
  delivered_rows: {
    per: 'all',
    max: 'delivered_rows_per_person',
    maxPerWorkspace: 'delivered_rows_per_workspace',
    windowMs: 24 * 60 * MINUTE_MS,
  },
} as const satisfies Record<string, Window>
export type WindowName = keyof typeof windows

interface ConcurrencyLimit {
  per: Payer
  maxConcurrent: number
  /** How many more requests of a payer may wait, and for how long. */
  waiting: number
  waitMs: number
  /** Sent with the error if the wait times out. */
  retryAfter: number
  detail?: string
}

/** How many requests wait for a turn, and how long. */
const requestQueue = { waiting: limits.rate_per_caller, waitMs: 5_000, retryAfter: 1 } as const
/** One at a time, and no one waits. */
const oneAtATime = { per: 'person', maxConcurrent: 1, waiting: 0, waitMs: 0, retryAfter: 10 } as const

/** Limits on what a payer does at once. Further requests wait for a permit. */
export const concurrencyLimits = {
  turns_of_caller: { ...requestQueue, per: 'all', maxConcurrent: limits.requests_at_once_per_caller },
  turns_of_address: { ...requestQueue, per: 'address', maxConcurrent: limits.requests_at_once_per_address },
  /** A lookup may take 10 s. */
  model_lookups: {
    per: 'person',
    maxConcurrent: limits.assistant_lookups_per_caller,
    waiting: 20,
    waitMs: 10_000,
    retryAfter: 1,
  },
  /** Hosts give up after 10 s. */
  turns_of_delivery: { per: 'person', maxConcurrent: 1, waiting: 512, waitMs: 8_000, retryAfter: 1 },
  large_uploads: {
    per: 'person',
    maxConcurrent: 1,
    waiting: 16,
    waitMs: 5_000,
    retryAfter: 5,
    detail: 'Send large bodies one after the other.',
  },
  export: { ...oneAtATime, detail: 'You already have an export in progress. Wait until it ends.' },
  import: {
    ...oneAtATime,
    detail: 'You already have an import in progress. Wait until it ends, or cancel it.',
  },
} as const satisfies Record<string, ConcurrencyLimit>
export type ConcurrencyLimitName = keyof typeof concurrencyLimits

/** Limits on an amount, not on a rate. Each is named after its response code. */
const quotas = [
  'workspace_limit',
  'key_limit',
  'workspace_full',
  'settings_too_large',
  'payload_too_large',
] as const satisfies ErrorCode[]

/** Everything that can refuse a request because of an amount. */
export const limitNames = [
  ...(Object.keys({ ...windows, ...concurrencyLimits }) as (WindowName | ConcurrencyLimitName)[]),
  'working_time',
  ...quotas,
] as const
export type LimitName = (typeof limitNames)[number]

/** The limit implied by a code. */
export const quotaOf = (code: ErrorCode): LimitName | undefined => quotas.find((quota) => quota === code)
