/** SQL that reads activity by local day. Other activity is read by UTC day. */
import { countNames } from '../../../../schemas/counts.js'
import { HOURS } from '../../../platform/time/days.js'
import { COUNTS, countsOf, hasActivity } from './count-columns.js'

/** SQL: the UTC days with hours on these local days. @param days an array */
export const utcDaysOf = (days: string): string =>
  `array(select d.day + n from unnest(${days}) as d (day), generate_series(-1, 1) as n)`

const eachHour = (write: (index: number) => string, separator = ', ') =>
  Array.from({ length: HOURS }, (_, index) => write(index + 1)).join(separator)

const MINUTES_IN_HOURS = `(${eachHour((hour) => `a.hours[${hour}]`, ' + ')})`

type Shares = [before: string, on: string, after: string]

const sharesOf = (columns: Shares[]) =>
  [-1, 0, 1]
    .map((later, index) => `(${[later, ...columns.map((column) => column[index])].join(', ')})`)
    .join(', ')

/** Counts belong to the row's day. */
const SHARES_OF_COUNTS = countNames.map((count): Shares => ['0', `a.${count}`, '0'])

/** SQL: rows of activity by local day, with any minutes, commits or issues. @param where about `activity a` */
export const localActivity = (days: string, where: string): string => `(
    select a.workspace_id, a.user_id, a.repo_key, a.day + s.later as day, s.minutes, ${countsOf('s')}
    from activity a cross join lateral (values ${sharesOf([
      ['a.minutes_before', 'a.minutes - a.minutes_before - a.minutes_after', 'a.minutes_after'],
      ...SHARES_OF_COUNTS,
    ])}) as s (later, minutes, ${COUNTS})
    where ${where} and a.day = any(${utcDaysOf(days)}) and a.day + s.later = any(${days})
      and ${hasActivity('s')}
  )`

/** SQL: the same, and whether a row has minutes with an hour, which takes longer. */
export const localActivityWithHours = (days: string, where: string): string => `(
    select a.workspace_id, a.user_id, a.repo_key, a.day + s.later as day, s.minutes, ${countsOf('s')}, s.in_hours > 0 as has_hours
    from activity a cross join lateral (values ${sharesOf([
      ['a.minutes_before', 'a.minutes - a.minutes_before - a.minutes_after', 'a.minutes_after'],
      ...SHARES_OF_COUNTS,
      [
        'case when a.hours is not null then a.minutes_before else 0 end',
        `coalesce(${MINUTES_IN_HOURS} - a.minutes_before - a.minutes_after, 0)`,
        'case when a.hours is not null then a.minutes_after else 0 end',
      ],
    ])}) as s (later, minutes, ${COUNTS}, in_hours)
    where ${where} and a.day = any(${utcDaysOf(days)}) and a.day + s.later = any(${days})
      and ${hasActivity('s')}
  )`

/** SQL: on which local days people have minutes with an hour, and in which repositories. */
export const localHourDays = (days: string, where: string): string => `(
    select a.user_id, a.repo_key, a.day + s.later as day
    from activity a cross join lateral (values ${sharesOf([
      ['a.minutes_before', `${MINUTES_IN_HOURS} - a.minutes_before - a.minutes_after`, 'a.minutes_after'],
    ])}) as s (later, minutes)
    where ${where} and a.day = any(${utcDaysOf(days)}) and a.day + s.later = any(${days})
      and a.hours is not null and s.minutes > 0
  )`

/**
 * SQL: hours of UTC days by the time zone in which they were recorded. Rows of the same zone are to be added up.
 * @param where about `a`, a row of activity or of its other zones
 */
export const zoneHours = (where: string): string => `(
    select a.workspace_id, a.user_id, a.day, a.repo_key, coalesce(a.timezone, 'UTC') as timezone, a.hours
    from activity a where ${where} and a.hours is not null
    union all
    select a.workspace_id, a.user_id, a.day, a.repo_key, a.timezone, a.hours
    from activity_other_zones a where ${where}
    union all
    select a.workspace_id, a.user_id, a.day, a.repo_key, r.timezone, array[${eachHour((hour) => `-a.hours[${hour}]`)}]
    from activity_other_zones a
    join activity r on r.workspace_id = a.workspace_id and r.user_id = a.user_id and r.day = a.day and r.repo_key = a.repo_key
    where ${where}
  )`

/** SQL: the 24 hourly sums of `a`. */
export const SUM_OF_HOURS = `array[${eachHour((hour) => `sum(a.hours[${hour}])::int`)}]`
