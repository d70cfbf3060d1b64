/** The database's clock, which all instances share, and the format of its times. */
import type { Database, Db } from '../database/client.js'
import { date, moment, singleRow, statement } from '../database/statement.js'

const READ_TODAY = statement(
  'read today',
  { today: date },
  `select (now() at time zone 'UTC')::date as today`,
)

/** The UTC day. */
export const readToday = ({ hot }: Pick<Database, 'hot'>): Promise<string> => readTodayIn(hot)

/** The UTC day in which a transaction began. */
export const readTodayIn = async (db: Db): Promise<string> => singleRow(await db.rows(READ_TODAY, [])).today

const READ_MOMENT = statement(
  'read current time',
  { moment },
  'select clock_timestamp()::timestamptz(3) as moment',
)

/** The current time, even inside a transaction. */
export const readMoment = async (db: Db): Promise<string> =>
  toTimestamp(singleRow(await db.rows(READ_MOMENT, [])).moment)

/**
 * The database's text for a time in UTC (`2026-11-21 09:30:00.12+00`) as RFC 3339 with milliseconds. Written by
 * hand, because it runs for every row of every response, and parsing a date costs ten times as much.
 */
export const toTimestamp = (moment: string): string => {
  const fraction = moment.slice(20, moment.indexOf('+', 19))
  return `${moment.slice(0, 10)}T${moment.slice(11, 19)}.${fraction.padEnd(3, '0')}Z`
}

/** A database row with its timestamp as RFC 3339. */
export const withUpdatedAt = <Row extends { updatedAt: string }>(row: Row): Row => ({
  ...row,
  updatedAt: toTimestamp(row.updatedAt),
})
