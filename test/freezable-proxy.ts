/** A proxy to the database that can stop forwarding without closing a connection. */
import type { Socket } from 'node:net'
import { startRelay } from './relay.js'

export interface FreezableProxy {
  /** The database at the other end. */
  url: string
  freeze(): void
  thaw(): void
}

export const startFreezableProxy = async (
  test: { teardown(work: () => unknown): void },
  databaseUrl: string,
): Promise<FreezableProxy> => {
  const pairs: [Socket, Socket][] = []
  let isFrozen = false
  const url = await startRelay(test, databaseUrl, (client, reach) => {
    const pair: [Socket, Socket] = [client, reach()]
    pairs.push(pair)
    for (const socket of pair) socket.on('close', () => pair.map((one) => one.destroy()))
    if (!isFrozen) client.pipe(pair[1]).pipe(client)
  })
  return {
    url,
    freeze: () => {
      isFrozen = true
      for (const socket of pairs.flat()) socket.unpipe().pause()
    },
    thaw: () => {
      isFrozen = false
      for (const [client, database] of pairs) client.pipe(database).pipe(client)
    },
  }
}
