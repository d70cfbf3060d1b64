/** The days of a dashboard. */
import { limits } from '../../../schemas/limits.js'
import { ApiError, validationError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { readMoment } from '../../platform/time/clock.js'
import { addDays, countDays, type Range, rangeOf, resolveRange } from '../../platform/time/days.js'
import { dayAt } from '../../platform/time/zones.js'

const DEFAULT_DAYS = 30

interface RangeInput {
  from?: string | undefined
  to?: string | undefined
}

/** A dashboard's range. Days after `today` are still to come: comparisons leave them out. */
export interface DashboardRange {
  range: Range
  today: string
}

/**
 * The range in a query, or none, in which case the response ends on the caller's own today. `endsLater`: it ends after
 * today (UTC), so the caller's time zone decides which of its days are still to come.
 */
export type RequestedRange =
  | { kind: 'given'; range: Range; today: string; endsLater: boolean }
  | { kind: 'default' }

/** @throws {ApiError} `validation_failed`, `invalid_range` */
export const readRequestedRange = async (
  { hot }: Pick<Database, 'hot'>,
  { from, to }: RangeInput,
): Promise<RequestedRange> => {
  if (from === undefined && to === undefined) return { kind: 'default' }
  const today = dayAt('UTC', Date.parse(await readMoment(hot)))
  const last = addDays(today, limits.range_days_ahead)
  for (const [name, day] of Object.entries({ from, to }))
    if (day !== undefined && day > last)
      throw validationError(
        `/query/${name}`,
        `must be at most ${limits.range_days_ahead} days after today (UTC)`,
      )
  // With one end given, the default for today doesn't matter.
  const found = resolveRange({ from, to }, today, {
    defaultDays: DEFAULT_DAYS,
    maxDays: limits.range_days,
  })
  if (!found) throw new ApiError('invalid_range')
  const range = found.to <= last ? found : rangeOf(found.from, last)
  return { kind: 'given', range, today, endsLater: range.to > today }
}

/** The range for a caller in this time zone. */
export const rangeIn = async (
  { hot }: Pick<Database, 'hot'>,
  requested: RequestedRange,
  timezone: string,
): Promise<DashboardRange> => {
  const today = dayAt(timezone, Date.parse(await readMoment(hot)))
  if (requested.kind === 'given') return { range: requested.range, today }
  return { range: rangeOf(addDays(today, 1 - DEFAULT_DAYS), today), today }
}

/** The same number of days just before a range, days to come left out. Undefined: no day of the range has begun. */
export const rangeBefore = ({ from, to }: Range, today: string): Range | undefined => {
  const last = to < today ? to : today
  if (last < from) return undefined
  return rangeOf(addDays(from, -countDays(from, last)), addDays(from, -1))
}
