/** A proxy between clients and the service that loses some of the traffic. Each connection carries one request. */
import { startRelay } from './relay.js'

/** The loss: of the request, of the response, or of the connection while the service still works. */
const losses = ['request', 'connection', 'answer'] as const
/** Other faults of a network: it delivers a request twice, or late. */
const oddities = ['duplicate', 'delay'] as const
type Loss = (typeof losses)[number]
type Oddity = (typeof oddities)[number]

export interface LossyProxy {
  url: string
  /** How often each was lost. */
  lost: Record<Loss, number>
  /** How often each has happened. */
  odd: Record<Oddity, number>
}

/** Each connection's fate is drawn when it comes: each of them in one of ten, the same ones in every run. */
const SHARE = 0.1
const DELAY_MS = 50
const drawFates = (fates: readonly (Loss | Oddity)[]) => {
  let seed = 1
  return (): Loss | Oddity | undefined => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return fates[Math.floor(seed / 2_147_483_648 / SHARE)]
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
  { rough = false } = {},
): Promise<LossyProxy> => {
  const drawFate = drawFates(rough ? [...losses, ...oddities] : losses)
  const lost: LossyProxy['lost'] = { request: 0, connection: 0, answer: 0 }
  const odd: LossyProxy['odd'] = { duplicate: 0, delay: 0 }
  const url = await startRelay(test, target, (client, reach) => {
    const loss = drawFate()
    const lose = (what: Loss) => {
      if (loss !== what || client.destroyed) return
      lost[what]++
      if (rough) client.resetAndDestroy()
      else client.destroy()
    }
    if (loss === 'request') {
      client.once('data', () => lose('request'))
      return
    }
    const service = reach()
    let request = ''
    client.on('data', (chunk) => {
      request += chunk.toString('latin1')
      const whole = isWhole(request)
      const pass = () => service.write(chunk, () => whole && lose('connection'))
      if (whole && loss === 'duplicate') {
        odd.duplicate++
        // No one waits for the response to the second one.
        reach().end(request, 'latin1')
      }
      // The service has received the request, and its response reaches no one.
      if (loss !== 'delay') return pass()
      odd.delay++
      setTimeout(pass, DELAY_MS)
    })
    service.on('data', (chunk) => {
      lose('answer')
      if (!client.destroyed) client.write(chunk)
    })
    service.on('close', () => client.end())
  })
  return { url, lost, odd }
}
