/** Constant SQL with the columns that it returns, so that a test can hold both against the database. */

/** What a column holds: as PostgreSQL names its type, and as the driver reads it. */
interface Column<Value> {
  types: readonly string[]
  /** Only to carry the type. */
  value?: Value
}

const column = <Value>(...types: string[]): Column<Value> => ({ types })

export const text = column<string>('text')
export const uuid = column<string>('uuid')
/** Of a calendar day, as `YYYY-MM-DD`. */
export const date = column<string>('date')
/** As the database writes it; see `domain/time.ts`. */
export const moment = column<string>('timestamptz')
export const integer = column<number>('int2', 'int4')
/** Sums and large numbers, which a double holds exactly up to 2^53. */
export const double = column<number>('float8')
export const bool = column<boolean>('bool')
export const integers = column<number[]>('_int2', '_int4')
export const texts = column<string[]>('_text')
export const jsonb = column<unknown>('jsonb')

export const orNull = <Value>({ types }: Column<Value>): Column<Value | null> => ({ types })

type Columns = Record<string, Column<unknown>>
type RowOf<C extends Columns> = { [Name in keyof C]: C[Name] extends Column<infer Value> ? Value : never }

/** What `Db.rows` runs; `Row` is what it returns. */
export interface Statement<Row> {
  /** Unique, and says what it does. */
  readonly name: string
  readonly text: string
  readonly columns: Columns
  /** Only to carry the type. */
  readonly row?: Row
}

/** All that the service has. */
export const statements: Statement<unknown>[] = []

/** @param columns by name; `{}` for a statement whose rows nobody reads */
export const statement = <const C extends Columns>(
  name: string,
  columns: C,
  text: string,
): Statement<RowOf<C>> => {
  if (statements.some((known) => known.name === name)) throw new Error(`Two statements are called ${name}`)
  const made = { name, columns, text }
  statements.push(made)
  return made
}
