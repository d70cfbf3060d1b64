/**
 * Large JSON bodies of known callers. A reader defines how they're read, and their routes declare its schema and limit.
 */
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { payerOf } from '../rate-limits/payers.js'
import type { JsonReader } from './body-reader.js'
import { readLargeBody } from './large-body.js'
import { beginWork, disableBodyParsing, type Scope } from './own-body.js'
import { RequestMemory } from './request-memory.js'

export interface LargeJson<Read extends object> {
  /**
   * Reads and validates the body. The caller's work begins once it has been read.
   * @param inspect gets each chunk before it is kept, and throws to reject the body
   * @returns the body, and the memory that counts it
   * @throws as `readLargeBody`
   */
  read(
    request: FastifyRequest,
    reply: FastifyReply,
    inspect?: (chunk: Buffer) => void,
  ): Promise<{ body: Read; memory: RequestMemory }>
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
  return {
    read: async (request, reply, inspect) => {
      const memory = new RequestMemory(request, reply, await payerOf(request))
      const body = await readLargeBody(request, { reader, context, maxBytes, memory, inspect })
      await beginWork(request)
      return { body, memory }
    },
  }
}

const acceptsBody = ({ method }: RouteOptions): boolean =>
  [method].flat().some((one) => !['GET', 'HEAD', 'DELETE'].includes(one))
