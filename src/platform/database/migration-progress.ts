/** Tells an operator how far a long migration is, in rows of the tables that its statements read or rewrite. */
import type postgres from 'postgres'

/** Receives a line. */
export type Say = (line: string) => void

export interface Progress {
  /** Runs the next statement. */
  run<T>(statement: () => PromiseLike<T>): Promise<T>
  end(): void
}

/** Fewer rows take seconds at most. */
const MANY_ROWS = 100_000
const SAY_EVERY_MS = 5_000
/** Until it is known how fast this database is. */
const ROWS_PER_MS = 500
/** The bytes of a row of activity with its header, for a table that was never analysed. */
const BYTES_PER_ROW = 100

/** Other statements change no rows. */
const changesRows =
  /^\s*(insert|update|delete|with|create (unique )?index|alter table .*(add constraint|set not null|set data type|generated always|type \w+ using))/is

/** @param statements all that will run, in their order */
export const followMigration = async (
  tx: postgres.TransactionSql,
  statements: string[],
  say: Say,
): Promise<Progress> => {
  const sizes = await readSizes(tx)
  const rowsOf = (statement: string) => {
    if (!changesRows.test(statement)) return 0
    const named = Array.from(statement.matchAll(/\b[a-z_]+\b/g), ([name]) => sizes.get(name) ?? 0)
    return Math.max(0, ...named)
  }
  const rows = statements.map(rowsOf)
  const total = rows.reduce((sum, each) => sum + each, 0)
  let done = 0
  let next = 0
  const began = performance.now()
  let beganStatement = began

  const tell = () => {
    const now = performance.now()
    const rowsPerMs = done > 0 ? done / (beganStatement - began) : ROWS_PER_MS
    // The database does not report the progress of a statement, so it is estimated.
    const ofStatement = Math.min(rows[next] ?? 0, (now - beganStatement) * rowsPerMs)
    const secondsLeft = Math.ceil((total - done - ofStatement) / rowsPerMs / 1_000)
    say(
      `Migrating the database: step ${next + 1} of ${statements.length}, ${count(done + ofStatement)} of ${count(total)} rows, about ${secondsLeft} s left.`,
    )
  }
  const timer = total < MANY_ROWS ? undefined : setInterval(tell, SAY_EVERY_MS)
  if (timer) tell()
  return {
    run: async (statement) => {
      beganStatement = performance.now()
      const result = await statement()
      done += rows[next] ?? 0
      next++
      return result
    },
    end: () => clearInterval(timer),
  }
}

const count = (rows: number) => Math.round(rows).toLocaleString('en')

/** How many rows each table has, as the planner estimates it. */
const readSizes = async (tx: postgres.TransactionSql): Promise<Map<string, number>> => {
  const found = await tx<{ name: string; rows: number }[]>`
    select relname as name,
      (case when reltuples < 0 then pg_relation_size(oid) / ${BYTES_PER_ROW}::float8 else reltuples end)::float8 as rows
    from pg_class where relnamespace = to_regnamespace('public') and relkind in ('r', 'p')`
  return new Map(found.map(({ name, rows }) => [name, rows]))
}
