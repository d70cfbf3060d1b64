/** The days of a dashboard. */
import { limits } from '../../../schemas/limits.js'
import { ApiError, invalid } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { readMoment } from '../../platform/time/clock.js'
import { addDays, type Range, rangeOf, resolveRange } from '../../platform/time/days.js'
import { dayAt } from '../../platform/time/zones.js'

const DEFAULT_DAYS = 30

interface Given {
  from?: string | undefined
  to?: string | undefined
}

/** Clients ahead of UTC can ask for their own today. */
const tomorrow = (moment: string): string => addDays(dayAt('UTC', Date.parse(moment)), 1)

/**
 * No given day can be later than tomorrow (UTC), because `previous_totals` would show days that the access log lists only
 * as a comparison.
 * @throws {ApiError} `validation_failed`, `invalid_range`
 */
export const requireDashboardRange = async (
  { hot }: Pick<Database, 'hot'>,
  { from, to }: Given,
): Promise<void> => {
  if (from === undefined && to === undefined) return
  const last = tomorrow(await readMoment(hot))
  for (const [name, day] of Object.entries({ from, to }))
    if (day !== undefined && day > last)
      throw invalid(`/query/${name}`, 'must not be later than tomorrow (UTC)')
  // With one end given, today doesn't matter.
  rangeIn({ from, to }, last)
}

/**
 * @param given days that `requireDashboardRange` has accepted
 * @param timezone decides which day is today
 */
export const chooseDashboardRange = async (
  { hot }: Pick<Database, 'hot'>,
  given: Given,
  timezone: string,
): Promise<Range> => {
  if (given.to !== undefined) return rangeIn(given, given.to)
  const moment = await readMoment(hot)
  const range = rangeIn(given, dayAt(timezone, Date.parse(moment)))
  const last = tomorrow(moment)
  return range.to <= last ? range : rangeOf(range.from, last)
}

const rangeIn = (given: Given, today: string): Range => {
  const range = resolveRange(given, today, { defaultDays: DEFAULT_DAYS, maxDays: limits.range_days })
  if (!range) throw new ApiError('invalid_range')
  return range
}
