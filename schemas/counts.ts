/**
 * The counts beside a day's minutes, such as commits: the names of their columns and properties, in order.
 * [Add a figure](../docs/add-a-feature.md#add-a-figure) says what else belongs to a count.
 */

/** The counts, each with its number in examples. */
export const countExamples = { commits: 7, closed_issues: 2 }

export type CountName = keyof typeof countExamples
export const countNames = Object.keys(countExamples) as CountName[]

/** A value for each count. */
export type PerCount<Value> = Record<CountName, Value>

export const perCount = <Value>(make: (count: CountName) => Value): PerCount<Value> =>
  Object.fromEntries(countNames.map((count) => [count, make(count)])) as PerCount<Value>
