import type { Database } from '../db/client.js'
import { date, statement } from '../db/statement.js'

const READ_TODAY = statement(
  'read today',
  { today: date },
  `select (now() at time zone 'UTC')::date as today`,
)

/** The UTC day by the database's clock, which all instances share. */
export const readToday = async ({ hot }: Database): Promise<string> => {
  const [row] = await hot.rows(READ_TODAY, [])
  if (!row) throw new Error('The database has no clock')
  return row.today
}
