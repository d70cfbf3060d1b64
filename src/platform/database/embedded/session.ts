/** The owner of a running server is the session that holds its lock. */
import type postgres from 'postgres'
import { openClient } from '../driver.js'
import { locks } from '../locks.js'
import type { Address } from './socket.js'

/** A server that can't prove that it knows the password isn't the embedded one. */
export const urlOf = ({ host, port }: Address, password: string): string =>
  `postgres://postgres:${password}@${encodeURIComponent(host)}:${port}/postgres?require_auth=scram-sha-256`

/** One session, used for the owner's lock. */
export const session = (url: string): postgres.Sql =>
  openClient(url, {
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
