/** Tells an operator how far a long migration is, in rows of the tables that its steps read or rewrite. */
import type postgres from 'postgres'
import type { Step } from './migration-plan.js'

/** Receives a line. */
export type Say = (line: string) => void

/** Fewer rows take seconds at most. */
const MANY_ROWS = 100_000
const SAY_EVERY_MS = 5_000
/** Until it is known how fast this database is. */
const ROWS_PER_MS = 500
/** The bytes of a row of activity with its header, for a table that was never analysed. */
const BYTES_PER_ROW = 100

/** @param rows of each step, in their order */
export const followMigration = (rows: number[], say: Say) => {
  const total = rows.reduce((sum, each) => sum + each, 0)
  let done = 0
  let next = 0
  const began = performance.now()
  let beganStep = began

  const tell = () => {
    const now = performance.now()
    const rowsPerMs = done > 0 ? done / (beganStep - began) : ROWS_PER_MS
    // The database does not report the progress of a statement, so it is estimated.
    const ofStep = Math.min(rows[next] ?? 0, (now - beganStep) * rowsPerMs)
    const secondsLeft = Math.ceil((total - done - ofStep) / rowsPerMs / 1_000)
    say(
      `Migrating the database: step ${next + 1} of ${rows.length}, ${count(done + ofStep)} of ${count(total)} rows, about ${secondsLeft} s left.`,
    )
  }
  const timer = total < MANY_ROWS ? undefined : setInterval(tell, SAY_EVERY_MS)
  if (timer) tell()
  return {
    /** Runs the next step. */
    run: async <T>(step: () => Promise<T>): Promise<T> => {
      beganStep = performance.now()
      const result = await step()
      done += rows[next] ?? 0
      next++
      return result
    },
    end: () => clearInterval(timer),
  }
}

export const count = (rows: number) => Math.round(rows).toLocaleString('en')

/** How many rows each table has, as the planner estimates it. */
export const readSizes = async (sql: postgres.ISql): Promise<Map<string, number>> => {
  const found = await sql<{ name: string; rows: number }[]>`
    select relname as name,
      (case when reltuples < 0 then pg_relation_size(oid) / ${BYTES_PER_ROW}::float8 else reltuples end)::float8 as rows
    from pg_class where relnamespace = to_regnamespace('public') and relkind in ('r', 'p')`
  return new Map(found.map(({ name, rows }) => [name, rows]))
}

/** How many rows a step reads or writes, of its largest table. */
export const rowsOf = ({ scans }: Step, sizes: Map<string, number>): number =>
  Math.max(0, ...scans.map((table) => sizes.get(table) ?? 0))
