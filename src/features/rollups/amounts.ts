/** People's activity, as amounts that are grouped and counted by the people behind them. */
import { DAYS_OF_WEEK, HOURS } from '../../platform/time/days.js'

/** One person's amount on a day, in a repository and in a cell. */
export interface Amount {
  person: number
  day: number
  repoKey: string
  cell: number
  amount: number
}

/** The index that all erased people share. */
export const ERASED_PERSON = -1
/** The cell for minutes without an hour, after the last real one. */
export const NO_CELL = DAYS_OF_WEEK * HOURS
export const CELL_COUNT = NO_CELL + 1

/** Pauses during the work, so that a large team doesn't block other requests. */
export type Interruptible<Result> = Generator<undefined, Result>
/** The number of steps between pauses. */
export const STEPS_PER_PAUSE = 5_000

/** The people behind a number. */
export class People {
  private readonly people = new Set<number>()
  /** Whether there is no activity, not even from erased people. */
  isNothing = true

  get size() {
    return this.people.size
  }

  add(person: number): void {
    this.isNothing = false
    if (person !== ERASED_PERSON) this.people.add(person)
  }

  addAll(others: People): void {
    this.isNothing &&= others.isNothing
    for (const person of others.people) this.people.add(person)
  }
}

export function* peopleBy<Key>(
  amounts: Amount[],
  keyOf: (amount: Amount) => Key,
): Interruptible<Map<Key, People>> {
  const groups = new Map<Key, People>()
  for (const [index, amount] of amounts.entries()) {
    if (index % STEPS_PER_PAUSE === 0) yield
    const key = keyOf(amount)
    let people = groups.get(key)
    if (!people) {
      people = new People()
      groups.set(key, people)
    }
    people.add(amount.person)
  }
  return groups
}

export const unionOf = (groups: Iterable<[unknown, People]>): People => {
  const all = new People()
  for (const [, people] of groups) all.addAll(people)
  return all
}
