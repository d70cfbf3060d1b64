import { limits } from '../../../schemas/limits.js'
import { ApiError, invalid } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { readMoment, readToday } from '../../platform/time/clock.js'
import { addDays, type Range, rangeOf, resolveRange } from '../../platform/time/days.js'
import { dayAt } from '../../platform/time/zones.js'

const DEFAULT_DAYS = 30

interface Given {
  from?: string | undefined
  to?: string | undefined
}

const rangeFrom = (given: Given, today: string, defaultDays: number): Range => {
  const range = resolveRange(given, today, { defaultDays, maxDays: limits.range_days })
  if (!range) throw new ApiError('invalid_range')
  return range
}

/** The days in a query's range, both ends included. @throws {ApiError} `invalid_range` */
export const chooseRange = async (
  database: Database,
  given: Given,
  defaultDays = DEFAULT_DAYS,
): Promise<Range> => rangeFrom(given, given.from ?? given.to ?? (await readToday(database)), defaultDays)

/**
 * The same for a dashboard. It ends tomorrow (UTC) at the latest, so that clients ahead of UTC can ask for their own
 * today. For a later range, `previous_totals` would show days that the access log lists only as a comparison.
 * @param timezone decides which day is today
 * @throws {ApiError} `invalid_range`, `validation_failed`
 */
export const chooseDashboardRange = async (
  database: Database,
  given: Given,
  timezone: string,
): Promise<Range> => {
  const now = Date.parse(await readMoment(database.hot))
  const last = addDays(dayAt('UTC', now), 1)
  for (const end of ['from', 'to'] as const) {
    const day = given[end]
    if (day !== undefined && day > last)
      throw invalid(`/query/${end}`, 'must not be later than tomorrow (UTC)')
  }
  const range = rangeFrom(given, dayAt(timezone, now), DEFAULT_DAYS)
  return range.to <= last ? range : rangeOf(range.from, last)
}
