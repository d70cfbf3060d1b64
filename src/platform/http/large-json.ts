/**
 * Large JSON bodies of known callers. A reader defines how they're read, and their routes declare its schema and limit.
 */
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { payerOf } from '../rate-limits/payers.js'
import type { JsonReader } from './body-reader.js'
import { LargeBody } from './large-body.js'
import { beginWork, disableBodyParsing, type Scope } from './own-body.js'
import { RequestMemory } from './request-memory.js'

interface ReadJson<Read extends object> {
  body: Read
  /** Counts the body's buffers (`buffersOf`) as what was sent, until the handler releases them or has responded. */
  memory: RequestMemory
}

export interface LargeJson<Read extends object> {
  /** Receives and reads the body. The caller's work begins once it has been read. @throws as `LargeBody` and `beginWork` */
  read(request: FastifyRequest, reply: FastifyReply): Promise<ReadJson<Read>>
  /** The first step of `read`, for a handler that looks at the body while it arrives. The handler closes it. */
  open(request: FastifyRequest, reply: FastifyReply): Promise<LargeBody>
  /** The last step of `read`. */
  finish(request: FastifyRequest, received: LargeBody): Promise<ReadJson<Read>>
}

/**
 * For all bodies in `scope`: its handlers read them, after access and everything else has been checked. The service doesn't
 * boot if a route in the scope takes another body.
 */
export const largeJson = <Read extends object>(scope: Scope, reader: JsonReader<Read>): LargeJson<Read> => {
  const { schema, maxBytes } = reader
  const { repohost, settingsKeys } = scope.config
  const context = { keys: settingsKeys, kind: repohost.kind }
  disableBodyParsing(scope, ['application/json'])
  scope.addHook('onRoute', (route) => {
    if (!acceptsBody(route) || (route.config?.readsBody === schema && route.bodyLimit === maxBytes)) return
    throw new Error(`${route.method} ${route.url} doesn’t take the large body of its scope`)
  })
  const open = async (request: FastifyRequest, reply: FastifyReply) => {
    const memory = new RequestMemory(request, reply, await payerOf(request))
    return new LargeBody(request, { maxBytes, memory })
  }
  const finish = async (request: FastifyRequest, received: LargeBody) => {
    const { memory } = received
    const body = await received.read(reader, context)
    // Its bytes don't count in addition to the result, and its sender may send the next one while this one's work waits.
    received.close()
    for (const { byteLength } of reader.buffersOf?.(body) ?? []) memory.sent.add(byteLength)
    await beginWork(request)
    return { body, memory }
  }
  const read = async (request: FastifyRequest, reply: FastifyReply) => {
    const incoming = await open(request, reply)
    try {
      await incoming.receive()
      return await finish(request, incoming)
    } finally {
      incoming.close()
    }
  }
  return { read, open, finish }
}

const acceptsBody = ({ method }: RouteOptions): boolean =>
  [method].flat().some((one) => !['GET', 'HEAD', 'DELETE'].includes(one))
