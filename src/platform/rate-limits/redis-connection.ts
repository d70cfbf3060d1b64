/**
 * A connection to Redis that takes only what the commands of this service are answered with: short words, numbers, and short
 * lists of numbers. A server that sends anything else is cut off before it can use up memory.
 */
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export type Reply = string | number | number[]

interface Waiting {
  resolve(reply: Reply): void
  reject(reason: Error): void
}

const DEFAULT_PORT = 6_379
/** Longer than any reply or error, in characters. */
const LINE_LENGTH = 1_024

/** The server is no Redis, or a hostile one. */
export class UnknownReply extends Error {
  constructor() {
    super('Redis sent a reply that this service does not understand')
  }
}

export class RedisConnection {
  private readonly socket: Socket
  /** The commands that are not answered yet. Redis answers in their order. */
  private readonly waiting: Waiting[] = []
  /** The beginning of a line. */
  private rest = ''
  /** A list whose numbers have not all arrived. */
  private list: { length: number; numbers: number[] } | undefined

  /** Resolves when the server has accepted the login. */
  readonly ready: Promise<unknown>

  /** @param url `redis[s]://[user[:password]@]host[:port][/database]` */
  constructor(url: string) {
    const { protocol, hostname, port, username, password, pathname } = new URL(url)
    const host = hostname.replace(/^\[|\]$/g, '') || 'localhost'
    const place = { host, port: Number(port) || DEFAULT_PORT, noDelay: true, keepAlive: true }
    this.socket =
      protocol === 'rediss:'
        ? connectTls({ ...place, ...(isIP(host) === 0 && { servername: host }) })
        : connectTcp(place)
    this.socket.setEncoding('latin1')
    this.socket.on('data', (text: string) => this.read(text))
    this.socket.on('error', (error) => this.destroy(error))
    this.socket.on('close', () => this.destroy(new Error('Redis has closed the connection')))

    const user = decodeURIComponent(username)
    const login = [...(user ? [user] : []), decodeURIComponent(password)]
    const database = Number(pathname.slice(1))
    this.ready = Promise.all([
      ...(username || password ? [this.send(['AUTH', ...login])] : []),
      ...(database > 0 ? [this.send(['SELECT', String(database)])] : []),
    ])
    this.ready.catch(() => {})
  }

  get isOpen(): boolean {
    return !this.socket.destroyed
  }

  /** @throws the error of Redis, or the reason why there is no answer */
  send(command: string[]): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (!this.isOpen) return reject(new Error('There is no connection to Redis'))
      this.waiting.push({ resolve, reject })
      const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`)
      this.socket.write(`*${command.length}\r\n${parts.join('')}`)
    })
  }

  /** Rejects all pending commands with the reason. */
  destroy(reason = new Error('The connection to Redis was closed')): void {
    this.socket.destroy()
    for (const { reject } of this.waiting.splice(0)) reject(reason)
  }

  private read(text: string): void {
    const lines = (this.rest + text).split('\r\n')
    this.rest = lines.pop() ?? ''
    const areReplies = lines.every((line) => this.take(line))
    if (!areReplies || this.rest.length > LINE_LENGTH) this.destroy(new UnknownReply())
  }

  /** @returns whether the line is valid here */
  private take(line: string): boolean {
    const [next] = this.waiting
    if (!next || line.length > LINE_LENGTH) return false
    const content = line.slice(1)
    switch (line[0]) {
      case '+':
        return this.settle(() => next.resolve(content))
      case '-':
        return this.settle(() => next.reject(new Error(content.replace(/[^ -~]/g, '?'))))
      case ':':
        return /^-?[0-9]{1,15}$/.test(content) && this.takeNumber(next, Number(content))
      case '*':
        if (this.list || !/^[1-9]$/.test(content)) return false
        this.list = { length: Number(content), numbers: [] }
        return true
      default:
        return false
    }
  }

  private takeNumber(next: Waiting, number: number): boolean {
    if (!this.list) return this.settle(() => next.resolve(number))
    const { length, numbers } = this.list
    if (numbers.push(number) < length) return true
    this.list = undefined
    return this.settle(() => next.resolve(numbers))
  }

  private settle(tell: () => void): boolean {
    if (this.list) return false
    this.waiting.shift()
    tell()
    return true
  }
}
