/** Undeclared SQL, for tests and benchmarks. */
import type { Database, Db, Parameter, TransactionOptions, Tx } from '../src/platform/database/client.js'

interface AdHocDb extends Db {
  statement<Row>(text: string, parameters: Parameter[]): Promise<Row[]>
}

export interface AdHocDatabase extends Database {
  read: AdHocDb
  hot: AdHocDb
  write: AdHocDb
  reserved: AdHocDb
  transaction<T>(work: (tx: AdHocDb & Tx) => Promise<T>, options?: TransactionOptions): Promise<T>
}

const withStatement = <D extends Db>(db: D): D & AdHocDb =>
  Object.assign(db, {
    statement: <Row>(text: string, parameters: Parameter[]) =>
      db.rows<Row>({ name: 'ad hoc', columns: {}, text }, parameters),
  })

/** A database that also runs undeclared SQL. */
export const withAdHocSql = (database: Database): AdHocDatabase => ({
  ...database,
  read: withStatement(database.read),
  hot: withStatement(database.hot),
  write: withStatement(database.write),
  reserved: withStatement(database.reserved),
  transaction: (work, options) => database.transaction((tx) => work(withStatement(tx)), options),
})
