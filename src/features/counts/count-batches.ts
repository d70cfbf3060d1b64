/**
 * Daily counts in columns, as array literals for PostgreSQL. Each batch is small enough that neither side is busy with
 * it for long. A request can have 100,000 rows, so rows don't become objects.
 */
import { CountsBody } from '../../../schemas/activity.js'
import { limits } from '../../../schemas/limits.js'
import { COMPARISON_COST } from '../../../schemas/repo-pattern.js'
import { jsonReader } from '../../platform/http/body-reader.js'

const ROWS_PER_BATCH = 5_000

/**
 * An array literal of PostgreSQL in ASCII. Bytes move between threads without a copy, and don't burden the garbage
 * collector, which would pause all requests.
 */
export type ArrayLiteral = Uint8Array<ArrayBuffer>

/** Arrays with one element per row. */
export interface CountBatch {
  /** Positions in `members`, from 1. */
  members: ArrayLiteral
  repos: ArrayLiteral
  counts: ArrayLiteral
}

export interface CountedMember {
  login: string
  /** Some of these may be 0. */
  counts: number
  /** Whether any count isn't 0. */
  hasMore: boolean
}

export interface CountBatches {
  workspace: string
  day: string
  members: CountedMember[]
  /** How many distinct repositories there are, and the cost of comparing their names. */
  named: { repos: number; characters: number }
  /** The distinct repositories with a count, sorted, in parts. */
  repos: ArrayLiteral[]
  batches: CountBatch[]
}

const encoder = new TextEncoder()
// Repository names contain nothing to escape. The quotes keep a repository named `null` from becoming NULL.
const toArrayLiteral = (elements: (string | number)[]): ArrayLiteral =>
  encoder.encode(
    `{${elements.map((element) => (typeof element === 'string' ? `"${element}"` : element)).join()}}`,
  )

const inParts = <Row>(rows: Row[]): Row[][] =>
  Array.from({ length: Math.ceil(rows.length / ROWS_PER_BATCH) }, (_, part) =>
    rows.slice(part * ROWS_PER_BATCH, (part + 1) * ROWS_PER_BATCH),
  )

/** Rows are sorted by repository and login, so that simultaneous uploads lock them in the same order. */
export const toCountBatches = ({ workspace, day, members }: CountsBody): CountBatches => {
  const rows = members.flatMap(({ login, repos }, member) =>
    repos.map(({ repo, count }) => ({ key: `${repo} ${login}`.toLowerCase(), member, repo, count })),
  )
  rows.sort((a, b) => (a.key < b.key ? -1 : 1))
  const repos = new Map<string, string>()
  const named = { repos: 0, characters: 0 }
  let last: string | undefined
  for (const { repo, count } of rows) {
    const repoKey = repo.toLowerCase()
    if (repoKey !== last) {
      named.repos++
      named.characters += COMPARISON_COST + repo.length
      last = repoKey
    }
    if (count > 0 && !repos.has(repoKey)) repos.set(repoKey, repo)
  }
  return {
    workspace,
    day,
    members: members.map(({ login, repos: { length }, repos }) => ({
      login,
      counts: length,
      hasMore: repos.some(({ count }) => count > 0),
    })),
    named,
    repos: inParts([...repos.values()]).map(toArrayLiteral),
    batches: inParts(rows).map((part) => ({
      members: toArrayLiteral(part.map(({ member }) => member + 1)),
      repos: toArrayLiteral(part.map(({ repo }) => repo)),
      counts: toArrayLiteral(part.map(({ count }) => count)),
    })),
  }
}

export const reader = jsonReader({
  module: import.meta.url,
  schema: CountsBody,
  maxBytes: limits.counts_body_bytes,
  convert: toCountBatches,
  buffersOf: ({ repos, batches }) =>
    [...repos, ...batches.flatMap(({ members, repos, counts }) => [members, repos, counts])].map(
      ({ buffer }) => buffer,
    ),
})
