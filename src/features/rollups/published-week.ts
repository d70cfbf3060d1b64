/**
 * Decides what may be shown of a week at the privacy level `team`, so that no shown number, and no number that can be
 * computed from all of them, is about fewer people than the group. `docs/decisions/14-published-weeks.md` explains why these
 * rules are enough, and `test/published-weeks.test.ts` plays the adversary.
 *
 * The rules in `choose-shown.ts` depend on each other: totals, days, repositories and cells are all sums over the same people,
 * so hiding one can reveal another. There is no SQL and no I/O here, so the test can run thousands of random weeks. The
 * functions are generators, so other requests run while a large team is computed.
 */
import { countNames, type PerCount, perCount } from '../../../schemas/counts.js'
import { DAYS_OF_WEEK } from '../../platform/time/days.js'
import {
  type Amount,
  ERASED_PERSON,
  type Interruptible,
  NO_CELL,
  peopleBy,
  STEPS_PER_PAUSE,
  unionOf,
} from './amounts.js'
import { type Choice, Chooser, type Rule, rules } from './choose-shown.js'

/** One person's work on one day in one repository. */
export interface Work extends PerCount<number> {
  /** Null: all erased people together. Their work counts, but they don't count as people. */
  userId: string | null
  /** 0 is Monday. */
  day: number
  repoKey: string
  minutes: number
  /** Minutes in cells of the heatmap: from 0, Monday 0:00. */
  cells: { cell: number; minutes: number }[]
}

/** Null: hidden. */
export interface ShownSums extends PerCount<number | null> {
  minutes: number | null
  /**
   * People with minutes. Counts make no one active. Otherwise an admin could upload them for everyone except one person
   * to learn about that person.
   */
  activeMembers: number | null
}

export interface PublishedWeek extends ShownSums {
  /** Either no day or all seven. */
  days: (ShownSums & { day: number })[]
  /** Repositories with something to show. */
  repos: (ShownSums & { repoKey: string })[]
  /** Cells that are shown. */
  cells: { cell: number; minutes: number }[]
}

/** A sum of amounts, and how many people it covers. */
interface Total {
  sum: number | null
  people: number | null
}

const HIDDEN: Total = { sum: null, people: null }

function* totalsBy<Key>(amounts: Amount[], keyOf: (amount: Amount) => Key): Interruptible<Map<Key, Total>> {
  const sums = new Map<Key, number>()
  for (const [index, amount] of amounts.entries()) {
    if (index % STEPS_PER_PAUSE === 0) yield
    const key = keyOf(amount)
    sums.set(key, (sums.get(key) ?? 0) + amount.amount)
  }
  const people = yield* peopleBy(amounts, keyOf)
  return new Map([...sums].map(([key, sum]) => [key, { sum, people: people.get(key)?.size ?? 0 }]))
}

/** The totals of one kind of amount that have been chosen so far. */
interface Shown {
  whole: Total
  ofDay(day: number): Total
  ofRepo(repoKey: string): Total
  cells: { cell: number; minutes: number }[]
}

function* show(amounts: Amount[], { total, days, repos, cells }: Choice): Interruptible<Shown> {
  const noTotal: Total = { sum: 0, people: 0 }
  const ofDays = yield* totalsBy(amounts, ({ day }) => day)
  const ofRepos = yield* totalsBy(amounts, ({ repoKey }) => repoKey)
  const ofCells = yield* totalsBy(amounts, ({ cell }) => cell)
  return {
    whole: total ? ((yield* totalsBy(amounts, () => 0)).get(0) ?? noTotal) : HIDDEN,
    ofDay: (day: number) => (days ? (ofDays.get(day) ?? noTotal) : HIDDEN),
    ofRepo: (repo: string) => (repos.has(repo) ? (ofRepos.get(repo) ?? noTotal) : HIDDEN),
    cells: [...cells].map((cell) => ({ cell, minutes: ofCells.get(cell)?.sum ?? 0 })),
  }
}

const sumsOf = (minutes: Total, counts: PerCount<Total>): ShownSums => ({
  minutes: minutes.sum,
  ...perCount((count) => counts[count].sum),
  activeMembers: minutes.people,
})

const hidden: PublishedWeek = {
  minutes: null,
  ...perCount(() => null),
  activeMembers: null,
  days: [],
  repos: [],
  cells: [],
}

/**
 * The week as shown: every number, and everything that can be computed from them, covers at least that many people.
 * Pauses now and then. `finish` runs it to the end.
 */
export function* publishWeek(
  works: Work[],
  group: number,
  given: readonly Rule[] = rules,
): Interruptible<PublishedWeek> {
  const persons = new Map<string | null, number>()
  const toAmount = ({ userId, day, repoKey }: Work, amount: number, cell = NO_CELL): Amount => {
    if (userId !== null && !persons.has(userId)) persons.set(userId, persons.size)
    return { person: persons.get(userId) ?? ERASED_PERSON, day, repoKey, cell, amount }
  }
  const minutes: Amount[] = []
  const counts = perCount((): Amount[] => [])
  const anything: Amount[] = []
  for (const [index, work] of works.entries()) {
    if (index % STEPS_PER_PAUSE === 0) yield
    let withoutHour = work.minutes
    for (const cell of work.cells) {
      minutes.push(toAmount(work, cell.minutes, cell.cell))
      withoutHour -= cell.minutes
    }
    if (withoutHour > 0) minutes.push(toAmount(work, withoutHour))
    for (const count of countNames) if (work[count] > 0) counts[count].push(toAmount(work, work[count]))
    anything.push(toAmount(work, 1))
  }
  const active = unionOf(yield* peopleBy(minutes, () => 0)).size
  if (given.includes('total') && active < group) return hidden

  const chooser = new Chooser(group, given)
  const ofRepos = yield* peopleBy(anything, ({ repoKey }) => repoKey)
  const most = yield* chooser.choose(anything, { days: true, repos: new Set(ofRepos.keys()) }, new Set())
  // An admin can have a repository listed by uploading commits for others. A zero would then tell that none of them
  // worked in it, so zeros are shown only where enough people have minutes.
  const choice = yield* chooser.choose(minutes, most, new Set())
  const ofMinutes = yield* show(minutes, choice)
  const ofCounts = {} as PerCount<Shown>
  for (const count of countNames)
    ofCounts[count] = yield* show(counts[count], yield* chooser.choose(counts[count], most, choice.repos))
  const days = Array.from({ length: DAYS_OF_WEEK }, (_, day) => ({
    day,
    ...sumsOf(
      ofMinutes.ofDay(day),
      perCount((count) => ofCounts[count].ofDay(day)),
    ),
  }))
  const repos = [...most.repos].map((repoKey) => ({
    repoKey,
    ...sumsOf(
      ofMinutes.ofRepo(repoKey),
      perCount((count) => ofCounts[count].ofRepo(repoKey)),
    ),
  }))
  const isShown = (sums: ShownSums) =>
    sums.minutes !== null || countNames.some((count) => sums[count] !== null)
  return {
    ...sumsOf(
      ofMinutes.whole,
      perCount((count) => ofCounts[count].whole),
    ),
    days: days.filter(isShown),
    repos: repos.filter(isShown),
    cells: ofMinutes.cells,
  }
}

/** Runs a generator to the end, calling the given function in each pause. */
export const finish = async <Result>(
  work: Interruptible<Result>,
  pause: () => Promise<unknown>,
): Promise<Result> => {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await pause()
  }
}
