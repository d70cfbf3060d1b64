/**
 * SQL written by hand, declared with the columns that it returns. `test/statements.test.ts` checks every declaration
 * against the database.
 */

/** A column's type: PostgreSQL's names for it, and the driver's value. */
export interface Column<Value> {
  types: readonly string[]
  /** Exists only for its type. */
  value?: Value
}

const column = <Value>(...types: string[]): Column<Value> => ({ types })

export const text = column<string>('text')
/** A text with a fixed set of values. */
export const textOf = <Value extends string>() => column<Value>('text')
export const uuid = column<string>('uuid')
/** A calendar day, `YYYY-MM-DD`. */
export const date = column<string>('date')
/** In the database's text format; see `platform/time/clock.ts`. */
export const moment = column<string>('timestamptz')
export const integer = column<number>('int2', 'int4')
/** Sums and large numbers also have this type, because a double is exact up to 2^53. */
export const double = column<number>('float8')
export const bool = column<boolean>('bool')
export const integers = column<number[]>('_int2', '_int4')
export const texts = column<string[]>('_text')
export const uuids = column<string[]>('_uuid')
/** JSON, which the driver parses. */
export const json = <Value>() => column<Value>('json', 'jsonb')

export const orNull = <Value>({ types }: Column<Value>): Column<Value | null> => ({ types })

export type Columns = Record<string, Column<unknown>>
export type RowOf<C extends Columns> = {
  -readonly [Name in keyof C]: C[Name] extends Column<infer Value> ? Value : never
}

/** Run by `Db.rows`, which returns `Row`s. */
export interface Statement<Row> {
  /** Describes the statement. Must be unique. */
  readonly name: string
  readonly columns: Columns
  readonly text: string
  /** Exists only for its type. */
  readonly row?: Row
}

/** All statements declared by the modules loaded so far. */
export const statements: Statement<unknown>[] = []

/**
 * Declares a statement. Call it once, when the module is loaded. @param columns in order; `{}` if the rows aren't read
 */
export const statement = <const C extends Columns>(
  name: string,
  columns: C,
  text: string,
): Statement<RowOf<C>> => {
  if (statements.some((known) => known.name === name)) throw new Error(`Two statements are called “${name}”`)
  const declared = { name, columns, text }
  statements.push(declared)
  return declared
}

/** The row of a statement that always has one, such as an aggregate or an upsert. @throws if there is none */
export const singleRow = <Row>([row]: Row[]): Row => {
  if (row === undefined) throw new Error('The database returned no row where there is always one')
  return row
}

export type Parameter = string | number | boolean | Date | null | readonly (string | number | null)[]

/**
 * PostgreSQL's text format for arrays, JSON with different brackets. The driver's serializer is several times slower.
 */
export const toParameter = (value: Parameter): Parameter => {
  if (!Array.isArray(value)) return value
  const json = JSON.stringify(value)
  // Only escaped quotes and backslashes mean the same in both. Few values contain any.
  return json.includes('\\') && /\\[^"\\]/.test(json) ? value : `{${json.slice(1, -1)}}`
}
