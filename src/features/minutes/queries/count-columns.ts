/** SQL about the minutes and counts of a row. */
import { type CountName, countNames } from '../../../../schemas/counts.js'

/** SQL: a list with an item for each count. */
export const eachCount = (write: (count: CountName) => string, separator = ', '): string =>
  countNames.map(write).join(separator)

/** SQL: `commits, closed_issues`, or `a.commits, a.closed_issues` for a row `a`. */
export const countsOf = (row?: string): string =>
  eachCount((count) => (row === undefined ? count : `${row}.${count}`))

/** SQL: parameters with an array for each count. @param first the number of the first one */
export const countParameters = (first: number, type: string): string =>
  countNames.map((_, index) => `$${first + index}::${type}`).join(', ')

/** SQL: whether a row has any minutes or counts. */
export const hasActivity = (row: string): string =>
  `${row}.minutes + ${eachCount((count) => `${row}.${count}`, ' + ')} > 0`

/** SQL: the sums of the minutes and counts of rows `a`, by their names. */
export const sumsOf = (row: string): string =>
  `sum(${row}.minutes) as minutes, ${eachCount((count) => `sum(${row}.${count}) as ${count}`)}`
