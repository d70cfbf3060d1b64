import type postgres from 'postgres'

/** Connections that can be replaced by new ones. */
export interface Renewable {
  now(): postgres.Sql
  /** @param timeout seconds for what is under way to end; without it as long as that takes */
  renew(timeout?: number): void
}

export const renewable = (connect: () => postgres.Sql): Renewable => {
  let current = connect()
  return {
    now: () => current,
    renew: (timeout) => {
      const former = current
      current = connect()
      void former.end(timeout === undefined ? {} : { timeout })
    },
  }
}
