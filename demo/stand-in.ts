/** Shared by all stand-ins: a server on loopback that records its requests, and misbehaves on request. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How a stand-in misbehaves instead of answering. */
export type Fault = 'hang' | 'reset' | 'drip' | 'status-500' | 'html' | 'redirect' | 'huge' | 'rate-limited'

export interface StandIn {
  url: string
  /** `METHOD /path?query` of every request, in order. */
  requests: string[]
  /** The `traceparent` header of each of these requests. */
  traces: (string | undefined)[]
  fault: Fault | undefined
  close(): Promise<void>
}

type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => unknown

export const serveStandIn = async (handler: Handler): Promise<StandIn> => {
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://stand-in')
    standIn.requests.push(`${request.method} ${request.url}`)
    standIn.traces.push(request.headers.traceparent as string | undefined)
    if (standIn.fault) misbehave(standIn.fault, request, response)
    else await handler(request, response, url)
  }
  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const standIn: StandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    traces: [],
    fault: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return standIn
}

export const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}

export const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

const misbehave = (fault: Fault, request: IncomingMessage, response: ServerResponse) => {
  switch (fault) {
    case 'hang':
      return
    case 'reset':
      request.socket.destroy()
      return
    case 'status-500':
      sendJson(response, 500, { message: 'internal' })
      return
    case 'html':
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>maintenance</html>')
      return
    case 'redirect':
      response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end()
      return
    case 'rate-limited':
      response.writeHead(403, { 'X-RateLimit-Remaining': '0', 'Retry-After': '17' }).end('{}')
      return
    case 'drip': {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      const timer = setInterval(() => response.write(' '), 1_000)
      response.on('close', () => clearInterval(timer))
      return
    }
    case 'huge': {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      const chunk = Buffer.alloc(65_536, ' ')
      const pour = () => {
        while (!response.destroyed && response.write(chunk)) {}
        if (!response.destroyed) response.once('drain', pour)
      }
      pour()
    }
  }
}
