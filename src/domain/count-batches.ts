/**
 * Daily counts in columns, made for the database: texts that it reads as arrays, and few enough rows in each that
 * neither side is busy with one for long. A request can bring 100,000 rows, so no object is made for each.
 */
import type { CountsBody } from '../../schemas/activity.js'

const ROWS_PER_BATCH = 5_000

/** Array literals of PostgreSQL, one element per row. */
export interface CountBatch {
  /** Positions in `logins`, from 1. */
  members: string
  repos: string
  counts: string
}

export interface CountBatches {
  workspace: string
  day: string
  logins: string[]
  batches: CountBatch[]
}

/** Rows are sorted by repository and login, so that two uploads at the same moment wait for each other in one order. */
export const toCountBatches = ({ workspace, day, members }: CountsBody): CountBatches => {
  const rows = members.flatMap(({ login, repos }, member) =>
    repos.map(({ repo, count }) => ({ key: `${repo} ${login}`.toLowerCase(), member, repo, count })),
  )
  rows.sort((a, b) => (a.key < b.key ? -1 : 1))
  const batches: CountBatch[] = []
  for (let start = 0; start < rows.length; start += ROWS_PER_BATCH) {
    const batch = rows.slice(start, start + ROWS_PER_BATCH)
    batches.push({
      members: `{${batch.map(({ member }) => member + 1).join()}}`,
      // The grammar of repositories leaves nothing to escape; the quotes keep `null` a name.
      repos: `{${batch.map(({ repo }) => `"${repo}"`).join()}}`,
      counts: `{${batch.map(({ count }) => count).join()}}`,
    })
  }
  return { workspace, day, logins: members.map(({ login }) => login), batches }
}
