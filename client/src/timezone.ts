/** A person's one time zone, by the rule of the service (`timezone.test.ts` compares them). */

/** What the service knows of it. Null: no client has named one yet. */
export interface PersonTimezone {
  timezone: string | null
  timezoneChosen: boolean
}

/** The names for UTC outside of `Etc/`, in lower case. */
const UTC_NAMES = new Set(['utc', 'uct', 'universal', 'zulu', 'gmt', 'gmt0', 'gmt+0', 'gmt-0', 'greenwich'])

/** Containers and servers run in UTC, so such a name says nothing about where a person is. */
const meansUtc = (name: string): boolean => {
  const key = name.toLowerCase()
  return key.startsWith('etc/') || UTC_NAMES.has(key)
}

/**
 * The person's time zone from a request on that names one, and the one in which the request's minutes are recorded.
 * @param named by the client. Undefined: none
 */
export const nextTimezone = (
  { timezone, timezoneChosen }: PersonTimezone,
  named: string | undefined,
): string | null => {
  if (named === undefined || timezoneChosen) return timezone
  return timezone !== null && meansUtc(named) ? timezone : named
}
