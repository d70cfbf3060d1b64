/** How the configuration is received: a large one needs a permit, and is parsed in pieces between other requests. */
import { finished, type Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import { parseBodyInTurns } from '../../platform/http/json-body.js'
import { Semaphore } from '../../platform/process/semaphore.js'

/** Large configurations in memory. The others wait. */
const LARGE_AT_ONCE = 2
const WAITING = 16
const WAIT_MS = 10_000
const bounds = { depth: limits.json_depth, values: limits.configuration_json_values }

/** @param requireRight rejects callers who may not send one, before it is received */
export const receiveConfigurations = (
  app: FastifyInstance,
  requireRight: (request: FastifyRequest) => Promise<unknown>,
): void => {
  const permits = new Semaphore(LARGE_AT_ONCE, WAITING, WAIT_MS, () => new ApiError('unavailable'))
  const replies = new WeakMap<FastifyRequest, FastifyReply>()
  app.addHook('preParsing', (request, reply, _payload, done) => {
    replies.set(request, reply)
    done()
  })

  /** Holds a permit until the answer has ended, or the client has gone. */
  const hold = async (request: FastifyRequest): Promise<void> => {
    await requireRight(request)
    await permits.acquire()
    finished((replies.get(request) as FastifyReply).raw, () => permits.release())
  }

  const receive = async (request: FastifyRequest, payload: Readable): Promise<unknown> => {
    const declared = Number(request.headers['content-length'] ?? 0)
    if (declared > limits.configuration_body_bytes) throw new ApiError('payload_too_large')
    const chunks: Buffer[] = []
    let bytes = 0
    let isHeld = false
    // The rest of a rejected body is read like other bodies, so that its connection stays open for the answer.
    for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > limits.configuration_body_bytes) throw new ApiError('payload_too_large')
      chunks.push(chunk)
      if (bytes <= limits.body_bytes || isHeld) continue
      await hold(request)
      isHeld = true
    }
    // An empty body counts as absent.
    return bytes === 0 ? undefined : parseBodyInTurns(Buffer.concat(chunks), bounds)
  }
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', receive)
}
