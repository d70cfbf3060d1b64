/** Plain HTTP: `fetch` takes more than twice as much of the processor, and most of what tests do is requests. */
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { connectionTimeouts } from '../src/platform/http/connections.js'

interface Sent {
  method: string
  headers: Record<string, string>
  body?: string | Uint8Array | undefined
}

export interface HttpResponse {
  status: number
  headers: Headers
  text: string
}

/** Unused connections close before the service would close them, so that no request is sent into a closing one. */
const agent = new Agent({ keepAlive: true, timeout: connectionTimeouts.idle / 2 })

/** For a body that is rejected before it has been sent: Node listens for no error of the rest. */
const ignore = () => {}

/** One request. Follows no redirect, and asks for no compression. */
export const send = (url: string, { method, headers, body }: Sent): Promise<HttpResponse> =>
  new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }
    const call = request(url, { method, headers: { ...length, ...headers }, agent }, (incoming) => {
      const received = new Headers()
      for (const [name, values = []] of Object.entries(incoming.headersDistinct))
        for (const value of values) received.append(name, value)
      text(incoming).then(
        (text) => resolve({ status: incoming.statusCode ?? 0, headers: received, text }),
        reject,
      )
    })
    call.on('socket', (socket) => socket.off('error', ignore).on('error', ignore))
    call.on('error', (error) => reject(new Error(`${method} ${url}`, { cause: error })))
    call.end(body)
  })
