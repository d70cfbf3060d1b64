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
