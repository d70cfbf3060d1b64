/** The database's text of a moment (in UTC) as RFC 3339 with milliseconds. */
export const toTimestamp = (moment: string): string => new Date(moment).toISOString()
