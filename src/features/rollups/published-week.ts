/**
 * Decides what may be shown of a week at the privacy level `team`, so that no shown number, and no number that can be
 * computed from all of them, is about fewer people than the group. `docs/decisions/14-published-weeks.md` explains why these
 * rules are enough, and `test/published-weeks.test.ts` plays the adversary.
 *
 * The file is long because the rules depend on each other: totals, days, repositories and cells are all sums over the same
 * people, so hiding one can reveal another. It has no SQL and no I/O, so that the test can run it on thousands of random
 * weeks. The functions are generators, so that other requests run while a large team is computed.
 */
import { groupBy } from '../../platform/process/group-by.js'
import { DAYS_OF_WEEK, HOURS } from '../../platform/time/days.js'

/** The work of one person on one day in one repository. */
export interface Work {
  /** Null: all erased people together. Their work counts, but they do not count as people. */
  userId: string | null
  /** From 0, Monday. */
  day: number
  repoKey: string
  minutes: number
  commits: number
  closedIssues: number
  /** Minutes in cells of the heatmap: from 0, Monday 0:00. */
  cells: { cell: number; minutes: number }[]
}

/** Null: hidden. */
export interface ShownSums {
  minutes: number | null
  commits: number | null
  closedIssues: number | null
  /** People with minutes. Commits do not count, or an admin could upload them for all but one person to learn about that one. */
  activeMembers: number | null
}

export interface PublishedWeek extends ShownSums {
  /** None, or all seven. */
  days: (ShownSums & { day: number })[]
  /** Days with something to show. */
  repos: (ShownSums & { repoKey: string })[]
  /** Cells that are shown. */
  cells: { cell: number; minutes: number }[]
}

/** Each is needed: a test leaves out one after the other, and finds a hole. */
export const rules = [
  /** Enough people stand behind a total, */
  'total',
  /** behind every repository, */
  'repos',
  /** and behind what the repositories leave of the total. */
  'other_repos',
  /** Enough people stand behind every day. */
  'days',
  /** Enough people stand behind every cell of the heatmap, */
  'cells',
  /** and behind what the cells leave of the total. */
  'other_cells',
  /** Repositories, days and cells are connected by enough people, so that their differences reveal no one. */
  'joined',
] as const
export type Rule = (typeof rules)[number]

/** An amount of one person, on a day, in a repository and in a cell. */
interface Amount {
  person: number
  day: number
  repoKey: string
  cell: number
  amount: number
}

/** The index of all erased people. */
const NO_ONE = -1
/** The cell of minutes without an hour, after the last real one. */
const NO_CELL = DAYS_OF_WEEK * HOURS
const PLACES = NO_CELL + 1

/** Work with pauses, so that a large team does not block other requests. */
type Paced<Result> = Generator<undefined, Result>
/** After how many steps. */
const PACE = 5_000

/** The people behind a number. */
class People {
  private readonly people = new Set<number>()
  /** Whether there is no work, not even of erased people. */
  isNothing = true

  get size() {
    return this.people.size
  }

  add(person: number): void {
    this.isNothing = false
    if (person !== NO_ONE) this.people.add(person)
  }

  addAll(others: People): void {
    this.isNothing &&= others.isNothing
    for (const person of others.people) this.people.add(person)
  }
}

function* peopleBy<Key>(amounts: Amount[], keyOf: (amount: Amount) => Key): Paced<Map<Key, People>> {
  const groups = new Map<Key, People>()
  for (const [index, amount] of amounts.entries()) {
    if (index % PACE === 0) yield
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

const together = (groups: Iterable<[unknown, People]>): People => {
  const all = new People()
  for (const [, people] of groups) all.addAll(people)
  return all
}

/** Most people first: the last is held back first. The order never depends on amounts, because it would reveal something about them. */
const largestFirst = <Key extends string | number>(groups: Map<Key, People>): [Key, People][] =>
  [...groups].sort(([a, x], [b, y]) => y.size - x.size || (a < b ? -1 : 1))

/** Decides what may be shown of one kind of amount. */
interface Choice {
  total: boolean
  days: boolean
  repos: Set<string>
  cells: Set<number>
}

class Chooser {
  constructor(
    private readonly group: number,
    private readonly given: readonly Rule[],
  ) {}

  private tooFew(people: People, rule: Rule): boolean {
    return this.given.includes(rule) && !people.isNothing && people.size < this.group
  }

  /** @param allowed what may be shown at the most */
  *choose(amounts: Amount[], allowed: { days: boolean; repos: Set<string> }): Paced<Choice> {
    // Without any work, zeros are shown, which reveal nothing about one person.
    if (amounts.length === 0) return { total: true, ...allowed, cells: new Set() }
    const ofRepos = yield* peopleBy(amounts, ({ repoKey }) => repoKey)
    if (this.tooFew(together(ofRepos), 'total'))
      return { total: false, days: false, repos: new Set(), cells: new Set() }
    const shown = this.chooseRepos(ofRepos, allowed.repos)
    const ofDays = yield* peopleBy(amounts, ({ day }) => day)
    const days =
      allowed.days &&
      ![...ofDays.values()].some((people) => this.tooFew(people, 'days')) &&
      (yield* this.cellsApart(amounts, shown, new Set(), true)).length === 0
    const cells = yield* this.chooseCells(amounts, shown, days)
    const repos = [...allowed.repos].filter((repo) => shown.has(repo) || !ofRepos.has(repo))
    return { total: true, days, repos: new Set(repos), cells }
  }

  private chooseRepos(ofRepos: Map<string, People>, allowed: Set<string>): Set<string> {
    const isCandidate = ([repo, people]: [string, People]) =>
      allowed.has(repo) && !this.tooFew(people, 'repos')
    const shown = largestFirst(ofRepos).filter(isCandidate)
    const left = together([...ofRepos].filter((entry) => !isCandidate(entry)))
    while (this.tooFew(left, 'other_repos')) {
      const smallest = shown.pop()
      if (!smallest) break
      left.addAll(smallest[1])
    }
    return new Set(shown.map(([repo]) => repo))
  }

  /**
   * Holds back cells until no rule is broken. Where days are shown, the part of a cell that lies on a day counts as a number,
   * and so does what the cells leave of a day: a local hour may lie on two UTC days.
   */
  private *chooseCells(amounts: Amount[], repos: Set<string>, byDay: boolean): Paced<Set<number>> {
    const ofCells = yield* peopleBy(amounts, ({ cell }) => cell)
    ofCells.delete(NO_CELL)
    const shown = new Set(largestFirst(ofCells).map(([cell]) => cell))
    const ofPlaces = yield* peopleBy(amounts, ({ day, cell }) => (byDay ? day * PLACES : 0) + cell)
    const cellsOf = groupBy(ofPlaces, ([place]) => Math.floor(place / PLACES))
    const days = Array.from(cellsOf.values(), (cells) =>
      cells.map(([place, people]): [number, People] => [place % PLACES, people]),
    )
    const tooSmall = () =>
      days.flatMap((cells) =>
        cells
          .filter(([cell, people]) => shown.has(cell) && this.tooFew(people, 'cells'))
          .map(([cell]) => cell),
      )
    const nextSmallest = () =>
      days.flatMap((cells) => {
        const left = together(cells.filter(([cell]) => !shown.has(cell)))
        if (!this.tooFew(left, 'other_cells')) return []
        const candidates = new Set(cells.map(([cell]) => cell))
        return [...shown].findLast((cell) => candidates.has(cell)) ?? []
      })
    while (shown.size > 0) {
      yield
      let held = tooSmall()
      if (held.length === 0) held = nextSmallest()
      if (held.length === 0) held = yield* this.cellsApart(amounts, repos, shown, byDay)
      if (held.length === 0) break
      for (const cell of held) shown.delete(cell)
    }
    return shown
  }

  /**
   * The cells, or `NO_CELL` for what is in none of the shown ones, that are not joined with the rest, though there is
   * work that connects them.
   */
  private *cellsApart(
    amounts: Amount[],
    repos: Set<string>,
    shown: Set<number>,
    byDay: boolean,
  ): Paced<number[]> {
    if (!this.given.includes('joined')) return []
    const repoNodes = new Map([...repos].map((repo, index) => [repo, index + 1]))
    const slotOf = ({ day, cell }: Amount) => (byDay ? day * PLACES : 0) + (shown.has(cell) ? cell : NO_CELL)
    const islands = yield* islandsOf(amounts, (amount) => [
      repoNodes.get(amount.repoKey) ?? 0,
      -1 - slotOf(amount),
    ])
    const apart = yield* nodesApart(islands, this.group)
    const cells = apart.filter((node) => node < 0).map((node) => (-1 - node) % PLACES)
    const held = cells.filter((cell) => cell !== NO_CELL)
    // If only repositories, or minutes without a cell, are separate, all cells are hidden.
    return apart.length > 0 && held.length === 0 ? [...shown, NO_CELL] : held
  }
}

/** The connections that the work of one person makes between repositories and slots: days, cells, or cells on days. */
interface Island {
  person: number
  nodes: number[]
}

function* islandsOf(
  amounts: Amount[],
  link: (amount: Amount) => [repo: number, slot: number],
): Paced<Island[]> {
  const islands = new Map<number, Map<number, number[]>>()
  for (const [index, amount] of amounts.entries()) {
    if (index % PACE === 0) yield
    const own = islands.get(amount.person) ?? new Map<number, number[]>()
    islands.set(amount.person, own)
    const [a, b] = link(amount).map((node) => own.get(node) ?? [node]) as [number[], number[]]
    if (a === b) continue
    const joined = [...a, ...b]
    for (const node of joined) own.set(node, joined)
  }
  return [...islands].flatMap(([person, own]) =>
    [...new Set(own.values())].map((nodes) => ({ person, nodes })),
  )
}

/**
 * The nodes of islands that are not in one class. A class grows from its first node by whatever enough people connect
 * with it, or all that there are.
 */
function* nodesApart(islands: Island[], group: number): Paced<number[]> {
  const islandsAt = new Map<number, Island[]>()
  let steps = 0
  for (const island of islands) {
    if (steps++ % (PACE / 10) === 0) yield
    for (const node of island.nodes) {
      const there = islandsAt.get(node)
      if (there) there.push(island)
      else islandsAt.set(node, [island])
    }
  }
  const peopleAt = new Map(
    [...islandsAt].map(([node, there]) => [node, there.filter(({ person }) => person !== NO_ONE).length]),
  )
  const sizeOf = (node: number) => peopleAt.get(node) ?? 0
  const classes = new Map<number, number>()
  for (const first of [...islandsAt.keys()].sort((a, b) => sizeOf(b) - sizeOf(a))) {
    const reached = new Set<Island>()
    const connecting = new Map<number, number>()
    const next = [first]
    for (let node = next.pop(); node !== undefined; node = next.pop()) {
      if (classes.has(node)) continue
      classes.set(node, first)
      for (const island of islandsAt.get(node) ?? []) {
        if (reached.has(island)) continue
        reached.add(island)
        if (steps++ % (PACE / 10) === 0) yield
        for (const other of island.nodes) {
          const people = (connecting.get(other) ?? 0) + (island.person === NO_ONE ? 0 : 1)
          connecting.set(other, people)
          if (people >= Math.min(group, sizeOf(other))) next.push(other)
        }
      }
    }
  }
  const main = classes.values().next().value
  const crossing = islands.filter(({ nodes }) => new Set(nodes.map((node) => classes.get(node))).size > 1)
  return [...new Set(crossing.flatMap(({ nodes }) => nodes))].filter((node) => classes.get(node) !== main)
}

/** A sum of amounts, and how many people it is of. */
interface Part {
  sum: number | null
  people: number | null
}

const HIDDEN: Part = { sum: null, people: null }

function* partsBy<Key>(amounts: Amount[], keyOf: (amount: Amount) => Key): Paced<Map<Key, Part>> {
  const sums = new Map<Key, number>()
  for (const [index, amount] of amounts.entries()) {
    if (index % PACE === 0) yield
    const key = keyOf(amount)
    sums.set(key, (sums.get(key) ?? 0) + amount.amount)
  }
  const people = yield* peopleBy(amounts, keyOf)
  return new Map([...sums].map(([key, sum]) => [key, { sum, people: people.get(key)?.size ?? 0 }]))
}

/** The parts of one kind of amounts, as far as they are chosen. */
interface Shown {
  whole: Part
  ofDay(day: number): Part
  ofRepo(repoKey: string): Part
  cells: { cell: number; minutes: number }[]
}

function* show(amounts: Amount[], { total, days, repos, cells }: Choice): Paced<Shown> {
  const nothing: Part = { sum: 0, people: 0 }
  const ofDays = yield* partsBy(amounts, ({ day }) => day)
  const ofRepos = yield* partsBy(amounts, ({ repoKey }) => repoKey)
  const ofCells = yield* partsBy(amounts, ({ cell }) => cell)
  return {
    whole: total ? ((yield* partsBy(amounts, () => 0)).get(0) ?? nothing) : HIDDEN,
    ofDay: (day: number) => (days ? (ofDays.get(day) ?? nothing) : HIDDEN),
    ofRepo: (repo: string) => (repos.has(repo) ? (ofRepos.get(repo) ?? nothing) : HIDDEN),
    cells: [...cells].map((cell) => ({ cell, minutes: ofCells.get(cell)?.sum ?? 0 })),
  }
}

const sumsOf = (minutes: Part, commits: Part, closedIssues: Part): ShownSums => ({
  minutes: minutes.sum,
  commits: commits.sum,
  closedIssues: closedIssues.sum,
  activeMembers: minutes.people,
})

const hidden: PublishedWeek = {
  minutes: null,
  commits: null,
  closedIssues: null,
  activeMembers: null,
  days: [],
  repos: [],
  cells: [],
}

/**
 * The week as it is shown: every number, and all that can be computed from them, is about so many people at least. Pauses now
 * and then; `finish` runs it to its end.
 */
export function* publishWeek(
  works: Work[],
  group: number,
  given: readonly Rule[] = rules,
): Paced<PublishedWeek> {
  const persons = new Map<string, number>()
  const toAmount = ({ userId, day, repoKey }: Work, amount: number, cell = NO_CELL): Amount => {
    if (userId !== null && !persons.has(userId)) persons.set(userId, persons.size)
    return { person: userId === null ? NO_ONE : (persons.get(userId) ?? NO_ONE), day, repoKey, cell, amount }
  }
  const minutes: Amount[] = []
  const commits: Amount[] = []
  const closedIssues: Amount[] = []
  const anything: Amount[] = []
  for (const [index, work] of works.entries()) {
    if (index % PACE === 0) yield
    let withoutHour = work.minutes
    for (const cell of work.cells) {
      minutes.push(toAmount(work, cell.minutes, cell.cell))
      withoutHour -= cell.minutes
    }
    if (withoutHour > 0) minutes.push(toAmount(work, withoutHour))
    if (work.commits > 0) commits.push(toAmount(work, work.commits))
    if (work.closedIssues > 0) closedIssues.push(toAmount(work, work.closedIssues))
    anything.push(toAmount(work, 1))
  }
  const active = together(yield* peopleBy(minutes, () => 0)).size
  if (active === 0 || (given.includes('total') && active < group)) return hidden

  const chooser = new Chooser(group, given)
  const ofRepos = yield* peopleBy(anything, ({ repoKey }) => repoKey)
  const most = yield* chooser.choose(anything, { days: true, repos: new Set(ofRepos.keys()) })
  const ofMinutes = yield* show(minutes, yield* chooser.choose(minutes, most))
  const ofCommits = yield* show(commits, yield* chooser.choose(commits, most))
  const ofIssues = yield* show(closedIssues, yield* chooser.choose(closedIssues, most))
  const days = Array.from({ length: DAYS_OF_WEEK }, (_, day) => ({
    day,
    ...sumsOf(ofMinutes.ofDay(day), ofCommits.ofDay(day), ofIssues.ofDay(day)),
  }))
  const repos = [...most.repos].map((repoKey) => ({
    repoKey,
    ...sumsOf(ofMinutes.ofRepo(repoKey), ofCommits.ofRepo(repoKey), ofIssues.ofRepo(repoKey)),
  }))
  const isShown = (sums: ShownSums) =>
    sums.minutes !== null || sums.commits !== null || sums.closedIssues !== null
  return {
    ...sumsOf(ofMinutes.whole, ofCommits.whole, ofIssues.whole),
    days: days.filter(isShown),
    repos: repos.filter(isShown),
    cells: ofMinutes.cells,
  }
}

/** Runs what pauses to its end, and in each pause what is given. */
export const finish = async <Result>(work: Paced<Result>, pause: () => Promise<unknown>): Promise<Result> => {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await pause()
  }
}
