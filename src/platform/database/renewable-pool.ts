import type postgres from 'postgres'

/** Connections that can be replaced by new ones. */
export interface RenewablePool {
  current(): postgres.Sql
  /** @param timeout seconds to wait for work under way; by default without a limit */
  renew(timeout?: number): void
}

export const renewablePool = (connect: () => postgres.Sql): RenewablePool => {
  let current = connect()
  return {
    current: () => current,
    renew: (timeout) => {
      const former = current
      current = connect()
      void former.end(timeout === undefined ? {} : { timeout })
    },
  }
}
