/** A server that speaks PostgreSQL's protocol and doesn't know the password: it asks for it. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

const message = (type: string, ...parts: (number | string | Buffer)[]): Buffer => {
  const body = Buffer.concat(
    parts.map((part) => {
      if (typeof part !== 'number') return Buffer.from(part as string)
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(part)
      return bytes
    }),
  )
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const salt = Buffer.from('salt'.repeat(4))
const authenticationOk = message('R', 0)
const ready = message('Z', 'I')
/** The response to any statement: one row, in which `n` is 1. */
const response = Buffer.concat([
  message('1'),
  message('t', Buffer.from([0, 0])),
  message(
    'T',
    Buffer.from([0, 1]),
    'n\0',
    Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 23, 0, 4, 255, 255, 255, 255, 0, 0]),
  ),
  message('2'),
  message('D', Buffer.from([0, 1]), 1, '1'),
  message('C', 'SELECT 1\0'),
  ready,
])
const asksForScram = message('R', 10, 'SCRAM-SHA-256\0\0')
const continues = (
  clientFirst: string,
  { iterations = '4096', nonce = clientFirst.replace(/^.*r=/s, '') } = {},
) =>
  message('R', 11, `r=${nonce}${randomBytes(6).toString('hex')},s=${salt.toString('base64')},i=${iterations}`)
const proves = () => message('R', 12, `v=${randomBytes(32).toString('base64')}`)

/** Its messages: first, and after each password message that arrives. */
const demands = {
  'clear text': [message('R', 3)],
  'clear text, and answers without waiting': [
    Buffer.concat([message('R', 3), authenticationOk, ready, response]),
  ],
  MD5: [message('R', 5, Buffer.from('salt'))],
  'SCRAM with a wrong proof': [asksForScram, continues, proves],
  'SCRAM without a proof': [asksForScram, continues, () => Buffer.concat([authenticationOk, ready])],
  'SCRAM with the nonce of another session': [
    asksForScram,
    (first: string) => continues(first, { nonce: 'another' }),
  ],
  'SCRAM with endless iterations': [
    asksForScram,
    (first: string) => continues(first, { iterations: '2147483647' }),
  ],
  'SCRAM twice': [asksForScram, (first: string) => Buffer.concat([continues(first), continues(first)])],
  'no password': [Buffer.concat([authenticationOk, ready])],
  'nothing, and answers as if it had': [Buffer.concat([ready, response])],
  'nothing, with a message without end': [
    Buffer.concat([Buffer.from('R'), Buffer.from([127, 255, 255, 255])]),
  ],
  'clear text, and lets the client in': [message('R', 3), () => Buffer.concat([authenticationOk, ready])],
  'MD5, and lets the client in': [
    message('R', 5, Buffer.from('salt')),
    () => Buffer.concat([authenticationOk, ready]),
  ],
}

export type Demand = keyof typeof demands
export const allDemands = Object.keys(demands) as Demand[]

export interface Impostor {
  port: number
  demand: Demand
  /** The type of each message that came after the one that starts a session. */
  heard: string
  /** The received passwords, of any kind. */
  passwords: string[]
  connections: number
}

interface Options {
  /** The path of a Unix socket; without it, a free port of 127.0.0.1. */
  path?: string
  /** With which it does TLS, if it is asked to. */
  certificate?: { key: string; cert: string }
}

export const startImpostor = async (
  test: { teardown(work: () => unknown): void },
  demand: Demand,
  { path, certificate }: Options = {},
): Promise<Impostor> => {
  const impostor: Impostor = { port: 0, demand, heard: '', passwords: [], connections: 0 }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    impostor.connections++
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    socket.once('data', (bytes) => {
      if (bytes.readUInt32BE(4) !== SSL_REQUEST) return greet(socket, bytes)
      socket.write(certificate ? 'S' : 'N')
      const next = certificate ? new TLSSocket(socket, { isServer: true, ...certificate }) : socket
      next.on('error', () => {}).once('data', (first: Buffer) => greet(next, first))
    })
  })
  /** Begins with the message that starts a session, whose length is all of it. */
  const greet = (socket: Socket, start: Buffer) => {
    const script = [...demands[impostor.demand]]
    const send = (said = '') => {
      const next = script.shift()
      if (next !== undefined) socket.write(typeof next === 'function' ? next(said) : next)
    }
    let left = start.subarray(start.readUInt32BE(0))
    socket.on('data', (bytes) => {
      left = Buffer.concat([left, bytes])
      while (left.length > 4 && left.length > left.readUInt32BE(1)) {
        const end = left.readUInt32BE(1) + 1
        const [type, text] = [left.toString('latin1', 0, 1), left.toString('latin1', 5, end)]
        left = left.subarray(end)
        impostor.heard += type
        if (type === 'S') socket.write(response)
        if (type !== 'p') continue
        impostor.passwords.push(text)
        send(text)
      }
    })
    send()
  }
  server.listen(path ?? { port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  if (path === undefined) impostor.port = (server.address() as AddressInfo).port
  test.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return impostor
}

const SSL_REQUEST = 80_877_103

/** Whether what came is, or gives away, this password: in a form that could be used, not one that has to be guessed. */
export const receivedPassword = ({ passwords }: Impostor, password: string): boolean =>
  passwords.some((text) => text.includes(password) || text.startsWith('md5'))
