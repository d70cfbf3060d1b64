/** A network between the service and its database that can be cut at any byte. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpProxy {
  /** The database's URL, through the proxy. */
  url: string
  /** Resets every connection, as the network does when a machine on the way is restarted. */
  reset(): void
  /** Connections that have been made through it. */
  connections(): number
  /** Called with what passes; answers whether the connection is to be reset instead. */
  cut: ((from: 'client' | 'server', bytes: Buffer) => boolean) | undefined
}

export const startTcpProxy = async (
  test: { teardown(work: () => unknown): void },
  target: string,
): Promise<TcpProxy> => {
  const { hostname, port } = new URL(target)
  const pairs = new Set<[Socket, Socket]>()
  let connections = 0
  const server = createServer((client) => {
    connections++
    const database = connect(Number(port), hostname)
    const pair: [Socket, Socket] = [client, database]
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      database.destroy()
    }
    const relay = (from: 'client' | 'server', source: Socket, destination: Socket) => {
      source.setNoDelay(true)
      source.on('error', end).on('close', end)
      source.on('data', (bytes) => {
        if (!proxy.cut?.(from, bytes)) return void (destination.destroyed || destination.write(bytes))
        client.resetAndDestroy()
        end()
      })
    }
    relay('client', client, database)
    relay('server', database, client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const reset = () => {
    for (const [client, database] of pairs) {
      client.resetAndDestroy()
      database.destroy()
    }
  }
  test.teardown(() => {
    server.close()
    reset()
  })
  const proxy: TcpProxy = { url: url.href, reset, connections: () => connections, cut: undefined }
  return proxy
}
