/** A person's one time zone: the one they chose, or else the last one that a client named. */
import type { Db } from '../../platform/database/client.js'
import { replaceTimezone, type Timezone } from './queries/users.js'

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
  { timezone, timezoneChosen }: Timezone,
  named: string | undefined,
): string | null => {
  if (named === undefined || timezoneChosen) return timezone
  return timezone !== null && meansUtc(named) ? timezone : named
}

/** Stores the time zone that a client names, if it's the person's from now on. Recorded minutes keep theirs. */
export const nameTimezone = async (
  tx: Db,
  userId: string,
  person: Timezone,
  named: string | undefined,
): Promise<void> => {
  const next = nextTimezone(person, named)
  if (next !== null && next !== person.timezone) await replaceTimezone(tx, userId, person.timezone, next)
}
