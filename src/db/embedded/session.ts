/** Who owns a running server: the session that holds its lock. */
import postgres from 'postgres'
import { locks } from '../locks.js'

export const urlOf = (port: number, password: string) =>
  `postgres://postgres:${password}@127.0.0.1:${port}/postgres`

/** One session, used for the owner's lock. */
export const session = (url: string) =>
  postgres(url, {
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 2,
    fetch_types: false,
    onnotice: () => {},
  })

export const lockOwnership = async (sql: postgres.Sql): Promise<boolean> => {
  const [row] = await sql<{ locked: boolean }[]>`select pg_try_advisory_lock(${locks.owner}) as locked`
  return row?.locked === true
}
