import { limits } from '../../../schemas/limits.js'
import { ApiError, invalid } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { readToday } from '../../platform/time/clock.js'
import { addDays, type Range, rangeOf, resolveRange } from '../../platform/time/days.js'

const DEFAULT_DAYS = 30

/** The days in a query's range, both ends included. @throws {ApiError} `invalid_range` */
export const chooseRange = async (
  database: Database,
  given: { from?: string | undefined; to?: string | undefined },
  defaultDays = DEFAULT_DAYS,
): Promise<Range> => {
  const today = given.from ?? given.to ?? (await readToday(database))
  const range = resolveRange(given, today, { defaultDays, maxDays: limits.range_days })
  if (!range) throw new ApiError('invalid_range')
  return range
}

/**
 * The same for a dashboard, which ends tomorrow at the latest, so that clients ahead of UTC can ask for their own
 * today. For a later range, `previous_totals` would show days that the access log lists only as a comparison.
 * @throws {ApiError} `invalid_range`, `validation_failed`
 */
export const chooseDashboardRange = async (
  database: Database,
  given: { from?: string | undefined; to?: string | undefined },
): Promise<Range> => {
  const last = addDays(await readToday(database), 1)
  for (const end of ['from', 'to'] as const) {
    const day = given[end]
    if (day !== undefined && day > last)
      throw invalid(`/query/${end}`, 'must not be later than tomorrow (UTC)')
  }
  const range = await chooseRange(database, given)
  return range.to <= last ? range : rangeOf(range.from, last)
}
