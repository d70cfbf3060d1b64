/** The database's clock, which all instances share. */
import type { Database, Db } from '../database/client.js'
import { date, moment, singleRow, statement } from '../database/statement.js'
import { toTimestamp } from './timestamps.js'

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
  'read the moment',
  { moment },
  'select clock_timestamp()::timestamptz(3) as moment',
)

/** The current time, even inside a transaction. */
export const readMoment = async (db: Db): Promise<string> =>
  toTimestamp(singleRow(await db.rows(READ_MOMENT, [])).moment)
