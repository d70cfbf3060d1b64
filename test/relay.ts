/** Shared by the faulty proxies: a proxy in front of a server, whose sockets close with the test. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * @param begin is given each client, and what connects it to the server behind
 * @returns the target's URL, through the relay
 */
export const startRelay = async (
  test: { teardown(work: () => unknown): void },
  target: string,
  begin: (client: Socket, reach: () => Socket) => void,
): Promise<string> => {
  const { hostname, port } = new URL(target)
  const host = decodeURIComponent(hostname)
  const place = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port: Number(port) }
  const sockets = new Set<Socket>()
  /** Keeps a socket from throwing, however it ends. */
  const keep = (socket: Socket) => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => begin(keep(client), () => keep(connect(place))))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const url = new URL(target)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return url.href.replace(/\/$/, '')
}
