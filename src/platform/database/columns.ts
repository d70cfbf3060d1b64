import { customType, timestamp } from 'drizzle-orm/pg-core'

/** A moment to the millisecond, as text. */
export const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' })

/** Ranges of days that don't touch, as text. */
export const dayRanges = customType<{ data: string }>({ dataType: () => 'datemultirange' })
