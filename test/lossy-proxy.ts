/** A network between clients and the service that loses a share of what is sent, one request per connection. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What is lost: the request, the answer, or the connection while the service is still at work. */
const losses = ['request', 'connection', 'answer'] as const
type Loss = (typeof losses)[number]

export interface LossyProxy {
  url: string
  /** How often each was lost. */
  lost: Record<Loss, number>
}

/** Each connection's fate is drawn when it comes: each of the losses in one of ten, the same ones in every run. */
const SHARE = 0.1
const drawFates = () => {
  let seed = 1
  return (): Loss | undefined => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return losses[Math.floor(seed / 2_147_483_648 / SHARE)]
  }
}

/** Whether a request with a `Content-Length` has come to its end. */
const isWhole = (request: string): boolean => {
  const end = request.indexOf('\r\n\r\n')
  const length = Number(request.match(/^content-length: (\d+)/im)?.[1] ?? 0)
  return end >= 0 && request.length >= end + 4 + length
}

export const startLossyProxy = async (
  test: { teardown(work: () => unknown): void },
  target: string,
): Promise<LossyProxy> => {
  const { hostname, port } = new URL(target)
  const drawFate = drawFates()
  const lost: LossyProxy['lost'] = { request: 0, connection: 0, answer: 0 }
  const sockets = new Set<Socket>()
  /** A socket whose end, however it comes, is nobody's failure. */
  const keep = (socket: Socket) => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }

  const server = createServer((client) => {
    keep(client)
    const loss = drawFate()
    const lose = (what: Loss) => {
      if (loss !== what || client.destroyed) return
      lost[what]++
      client.destroy()
    }
    if (loss === 'request') {
      client.once('data', () => lose('request'))
      return
    }
    const service = keep(connect(Number(port), hostname))
    let request = ''
    client.on('data', (chunk) => {
      request += chunk.toString('latin1')
      const whole = isWhole(request)
      // What was written has reached the service, which answers nobody.
      service.write(chunk, () => whole && lose('connection'))
    })
    service.on('data', (chunk) => {
      lose('answer')
      if (!client.destroyed) client.write(chunk)
    })
    service.on('close', () => client.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, lost }
}
