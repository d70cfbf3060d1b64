/** An upload's counts in the order in which they are written. There can be 100,000, so other requests run meanwhile. */
import type { CountsBody } from '../../../schemas/activity.js'
import { COMPARISON_COST } from '../../../schemas/repo-pattern.js'
import { yieldIfDue } from '../../platform/process/yield-if-due.js'

const ROWS_PER_BATCH = 5_000

/** Arrays with one element per row. */
export interface CountBatch {
  /** Positions in the body's members, from 1. */
  members: number[]
  repos: string[]
  counts: number[]
}

export interface SortedCounts {
  /** How many distinct repositories there are, and the cost of comparing their names. */
  named: { repos: number; characters: number }
  /** The distinct repositories with a count, sorted, in parts. */
  repos: string[][]
  /** By repository and login, so that simultaneous uploads lock rows in the same order. */
  batches: CountBatch[]
}

export const sortCounts = async (members: CountsBody['members']): Promise<SortedCounts> => {
  const byLogin = members
    .map(({ login, repos }, index) => ({ key: login.toLowerCase(), repos, member: index + 1 }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  const byRepo = new Map<string, { member: number; repo: string; count: number }[]>()
  for (const { member, repos } of byLogin) {
    for (const { repo, count } of repos) {
      const key = repo.toLowerCase()
      const rows = byRepo.get(key)
      if (rows) rows.push({ member, repo, count })
      else byRepo.set(key, [{ member, repo, count }])
    }
    await yieldIfDue()
  }
  const keys = [...byRepo.keys()].sort()
  await yieldIfDue()
  const sorted: SortedCounts = { named: { repos: keys.length, characters: 0 }, repos: [], batches: [] }
  for (const key of keys) {
    const rows = byRepo.get(key) ?? []
    sorted.named.characters += COMPARISON_COST + key.length
    const first = rows.find(({ count }) => count > 0)
    if (first)
      lastOf(
        sorted.repos,
        (part) => part.length,
        () => [],
      ).push(first.repo)
    for (const { member, repo, count } of rows) {
      const batch = lastOf(
        sorted.batches,
        ({ members }) => members.length,
        () => ({ members: [], repos: [], counts: [] }),
      )
      batch.members.push(member)
      batch.repos.push(repo)
      batch.counts.push(count)
    }
    await yieldIfDue()
  }
  return sorted
}

/** The last of these lists, or a new one if that is full. */
const lastOf = <List>(lists: List[], lengthOf: (list: List) => number, make: () => List): List => {
  const last = lists.at(-1)
  if (last !== undefined && lengthOf(last) < ROWS_PER_BATCH) return last
  const made = make()
  lists.push(made)
  return made
}
