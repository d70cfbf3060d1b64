import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { readToday } from '../../platform/time/clock.js'
import { type Range, resolveRange } from '../../platform/time/days.js'

const DEFAULT_DAYS = 30

interface RangeInput {
  from?: string | undefined
  to?: string | undefined
}

/** The days in a query's range, both ends included. @throws {ApiError} `invalid_range` */
export const chooseRange = async (
  database: Database,
  given: RangeInput,
  defaultDays = DEFAULT_DAYS,
): Promise<Range> => {
  const today = given.from ?? given.to ?? (await readToday(database))
  const range = resolveRange(given, today, { defaultDays, maxDays: limits.range_days })
  if (!range) throw new ApiError('invalid_range')
  return range
}
