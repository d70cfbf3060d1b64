/** The days of a dashboard. */
import { limits } from '../../../schemas/limits.js'
import { ApiError, validationError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { readMoment } from '../../platform/time/clock.js'
import { addDays, type Range, rangeOf, resolveRange } from '../../platform/time/days.js'
import { dayAt } from '../../platform/time/zones.js'

const DEFAULT_DAYS = 30

interface RangeInput {
  from?: string | undefined
  to?: string | undefined
}

/** The range in a query, or none, in which case the response ends on the caller's own today. */
export type RequestedRange = { kind: 'given'; range: Range } | { kind: 'default' }

/**
 * The range that a query names. Clients ahead of UTC can ask for their own today. No day can be
 * later than tomorrow (UTC), because `previous_totals` would show days that the access log lists only as a comparison.
 * @throws {ApiError} `validation_failed`, `invalid_range`
 */
export const readRequestedRange = async (
  { hot }: Pick<Database, 'hot'>,
  { from, to }: RangeInput,
): Promise<RequestedRange> => {
  if (from === undefined && to === undefined) return { kind: 'default' }
  const tomorrow = addDays(dayAt('UTC', Date.parse(await readMoment(hot))), 1)
  for (const [name, day] of Object.entries({ from, to }))
    if (day !== undefined && day > tomorrow)
      throw validationError(`/query/${name}`, 'must not be later than tomorrow (UTC)')
  // With one end given, the default for today doesn't matter.
  const range = resolveRange({ from, to }, tomorrow, {
    defaultDays: DEFAULT_DAYS,
    maxDays: limits.range_days,
  })
  if (!range) throw new ApiError('invalid_range')
  return { kind: 'given', range: range.to <= tomorrow ? range : rangeOf(range.from, tomorrow) }
}

/** Today in the time zone, and the days before. */
export const defaultRange = async ({ hot }: Pick<Database, 'hot'>, timezone: string): Promise<Range> => {
  const today = dayAt(timezone, Date.parse(await readMoment(hot)))
  return rangeOf(addDays(today, 1 - DEFAULT_DAYS), today)
}
