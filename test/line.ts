/** A network to the database that can stop carrying anything without closing a connection. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Line {
  /** The database at the other end. */
  url: string
  freeze(): void
  thaw(): void
}

export const startLine = async (
  test: { teardown(work: () => unknown): void },
  databaseUrl: string,
): Promise<Line> => {
  const { hostname, port } = new URL(databaseUrl)
  const pairs: [Socket, Socket][] = []
  let isFrozen = false
  const server = createServer((client) => {
    const pair: [Socket, Socket] = [client, connect(Number(port), hostname)]
    pairs.push(pair)
    for (const socket of pair)
      socket.on('error', () => {}).on('close', () => pair.map((one) => one.destroy()))
    if (!isFrozen) client.pipe(pair[1]).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.teardown(() => {
    server.close()
    for (const socket of pairs.flat()) socket.destroy()
  })
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
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
