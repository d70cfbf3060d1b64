/** A proxy between the service and its database that can cut connections at any byte. */
import type { Socket } from 'node:net'
import { startRelay } from './relay.js'

export interface TcpProxy {
  /** The database's URL, through the proxy. */
  url: string
  /** Resets every connection, as the network does when a machine on the way is restarted. */
  reset(): void
  /** Connections that have been made through it. */
  connections(): number
  /** Gets all data that passes, and returns whether to reset the connection instead. */
  cut: ((from: 'client' | 'server', bytes: Buffer) => boolean) | undefined
}

export const startTcpProxy = async (
  test: { teardown(work: () => unknown): void },
  target: string,
): Promise<TcpProxy> => {
  const pairs = new Set<[Socket, Socket]>()
  let connections = 0
  const url = await startRelay(test, target, (client, reach) => {
    connections++
    const database = reach()
    const pair: [Socket, Socket] = [client, database]
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      database.destroy()
    }
    const relay = (from: 'client' | 'server', source: Socket, destination: Socket) => {
      source.setNoDelay(true)
      source.on('close', end)
      source.on('data', (bytes) => {
        if (!proxy.cut?.(from, bytes)) return void (destination.destroyed || destination.write(bytes))
        client.resetAndDestroy()
        end()
      })
    }
    relay('client', client, database)
    relay('server', database, client)
  })
  const reset = () => {
    for (const [client, database] of pairs) {
      client.resetAndDestroy()
      database.destroy()
    }
  }
  const proxy: TcpProxy = { url, reset, connections: () => connections, cut: undefined }
  return proxy
}
