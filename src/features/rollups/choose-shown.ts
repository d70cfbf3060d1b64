/** Chooses what may be shown of a week. */
import { groupBy } from '../../platform/process/maps.js'
import {
  type Amount,
  CELL_COUNT,
  type Interruptible,
  NO_CELL,
  type People,
  peopleBy,
  unionOf,
} from './amounts.js'
import { islandsOf, splitIslandNodes } from './islands.js'

/** Every rule is needed: a test leaves each one out and finds a leak. */
export const rules = [
  /** A total covers enough people, */
  'total',
  /** and so does every repository, */
  'repos',
  /** and the part of the total that no shown repository has. */
  'other_repos',
  /** Every day covers enough people. */
  'days',
  /** Every cell of the heatmap covers enough people, */
  'cells',
  /** and so does the part of the total that no shown cell has. */
  'other_cells',
  /** Repositories, days and cells are connected by enough people, so that their differences reveal no one. */
  'joined',
] as const
export type Rule = (typeof rules)[number]

/**
 * Most people first; the last is hidden first. The order never depends on amounts, because it would reveal something
 * about them.
 */
const largestFirst = <Key extends string | number>(groups: Map<Key, People>): [Key, People][] =>
  [...groups].sort(([a, x], [b, y]) => y.size - x.size || (a < b ? -1 : 1))

/** Decides what may be shown of one kind of amount. */
export interface Choice {
  total: boolean
  days: boolean
  repos: Set<string>
  cells: Set<number>
}

export class Chooser {
  constructor(
    private readonly group: number,
    private readonly given: readonly Rule[],
  ) {}

  /** If no one worked, zeros are shown, which reveal nothing about any one person. */
  private tooFew(people: People, rule: Rule): boolean {
    return this.given.includes(rule) && !people.isNothing && people.size < this.group
  }

  /**
   * @param allowed the most that can be shown
   * @param zeros the repositories that are shown if no one worked in them
   */
  *choose(
    amounts: Amount[],
    allowed: { days: boolean; repos: Set<string> },
    zeros: Set<string>,
  ): Interruptible<Choice> {
    const ofRepos = yield* peopleBy(amounts, ({ repoKey }) => repoKey)
    if (this.tooFew(unionOf(ofRepos), 'total'))
      return { total: false, days: false, repos: new Set(), cells: new Set() }
    const shown = this.chooseRepos(ofRepos, allowed.repos)
    const ofDays = yield* peopleBy(amounts, ({ day }) => day)
    const days =
      allowed.days &&
      ![...ofDays.values()].some((people) => this.tooFew(people, 'days')) &&
      (yield* this.cellsApart(amounts, shown, new Set(), true)).length === 0
    const cells = yield* this.chooseCells(amounts, shown, days)
    const repos = [...allowed.repos].filter(
      (repo) => shown.has(repo) || (zeros.has(repo) && !ofRepos.has(repo)),
    )
    return { total: true, days, repos: new Set(repos), cells }
  }

  private chooseRepos(ofRepos: Map<string, People>, allowed: Set<string>): Set<string> {
    const isCandidate = ([repo, people]: [string, People]) =>
      allowed.has(repo) && !this.tooFew(people, 'repos')
    const shown = largestFirst(ofRepos).filter(isCandidate)
    const left = unionOf([...ofRepos].filter((entry) => !isCandidate(entry)))
    // Hiding one more is enough, because every shown repository has enough people.
    if (this.tooFew(left, 'other_repos')) shown.pop()
    return new Set(shown.map(([repo]) => repo))
  }

  /**
   * Hides cells until no rule is broken. Where days are shown, the part of a cell on a day counts as a number, and so
   * does the rest of the day, because a local hour may lie on two UTC days.
   */
  private *chooseCells(amounts: Amount[], repos: Set<string>, byDay: boolean): Interruptible<Set<number>> {
    const ofCells = yield* peopleBy(amounts, ({ cell }) => cell)
    ofCells.delete(NO_CELL)
    const shown = new Set(largestFirst(ofCells).map(([cell]) => cell))
    const ofPlaces = yield* peopleBy(amounts, ({ day, cell }) => (byDay ? day * CELL_COUNT : 0) + cell)
    const cellsOf = groupBy(ofPlaces, ([place]) => Math.floor(place / CELL_COUNT))
    const days = Array.from(cellsOf.values(), (cells) =>
      cells.map(([place, people]): [number, People] => [place % CELL_COUNT, people]),
    )
    const tooSmall = () =>
      days.flatMap((cells) =>
        cells
          .filter(([cell, people]) => shown.has(cell) && this.tooFew(people, 'cells'))
          .map(([cell]) => cell),
      )
    const nextSmallest = () =>
      days.flatMap((cells) => {
        const left = unionOf(cells.filter(([cell]) => !shown.has(cell)))
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
   * The shown cells that are connected to the rest by some people, but by fewer than the group requires. `NO_CELL` stands for
   * minutes outside of the shown cells.
   */
  private *cellsApart(
    amounts: Amount[],
    repos: Set<string>,
    shown: Set<number>,
    byDay: boolean,
  ): Interruptible<number[]> {
    if (!this.given.includes('joined')) return []
    const repoNodes = new Map([...repos].map((repo, index) => [repo, index + 1]))
    const slotOf = ({ day, cell }: Amount) =>
      (byDay ? day * CELL_COUNT : 0) + (shown.has(cell) ? cell : NO_CELL)
    const islands = yield* islandsOf(amounts, (amount) => [
      repoNodes.get(amount.repoKey) ?? 0,
      -1 - slotOf(amount),
    ])
    const apart = yield* splitIslandNodes(islands, this.group)
    const cells = apart.filter((node) => node < 0).map((node) => (-1 - node) % CELL_COUNT)
    const held = cells.filter((cell) => cell !== NO_CELL)
    // If only repositories, or minutes without a cell, are separate, all cells are hidden.
    return apart.length > 0 && held.length === 0 ? [...shown, NO_CELL] : held
  }
}
