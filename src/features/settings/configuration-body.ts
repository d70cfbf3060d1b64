/** How the configuration is received: a large one waits for memory, and is parsed in pieces between other requests. */
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../../../schemas/limits.js'
import { IncomingBody } from '../../platform/http/incoming-body.js'
import { parseBodyInTurns } from '../../platform/http/json-body.js'
import { onResponseEnd } from '../../platform/http/response-end.js'
import { holdMemory } from '../../platform/process/request-memory.js'
import { readStorage } from './queries/storage-quota.js'

/** What a change needs, in times of what is sent and what is stored. Measured with `bench/configuration`. */
const MEMORY_FACTOR = 20
/** Less than this is no reason to wait. */
const SMALL_BYTES = limits.body_bytes
/** A character of a string has up to six bytes, as `\u0041`. */
const bounds = {
  depth: limits.json_depth,
  values: limits.configuration_json_values,
  token: 6 * limits.settings_bytes,
}

const reserved = new WeakSet<FastifyRequest>()

/**
 * Waits for the memory that a change needs, once, and holds it until the answer has ended or the client has gone.
 * @param bytes of the body
 * @throws {ApiError} `unavailable`
 */
export const reserveMemory = async (
  request: FastifyRequest,
  reply: FastifyReply,
  workspaceId: string,
  bytes = 0,
): Promise<void> => {
  if (reserved.has(request)) return
  reserved.add(request)
  const stored = (await readStorage(request.server.db, [workspaceId])).get(workspaceId) ?? 0
  if (bytes + stored <= SMALL_BYTES) return
  onResponseEnd(request, reply, await holdMemory(bytes + stored, MEMORY_FACTOR))
}

/** @param findWorkspace rejects callers who may not send one, before it is received */
export const receiveConfigurations = (
  app: FastifyInstance,
  findWorkspace: (request: FastifyRequest) => Promise<string>,
): void => {
  const replies = new WeakMap<FastifyRequest, FastifyReply>()
  app.addHook('preParsing', (request, reply, _payload, done) => {
    replies.set(request, reply)
    done()
  })

  const receive = async (request: FastifyRequest, payload: Readable): Promise<unknown> => {
    const declared = request.headers['content-length']
    const incoming = new IncomingBody(payload, declared, limits.configuration_body_bytes)
    try {
      if (!(await incoming.receive(SMALL_BYTES))) {
        const workspaceId = await findWorkspace(request)
        await reserveMemory(
          request,
          replies.get(request) as FastifyReply,
          workspaceId,
          incoming.expectedBytes,
        )
        await incoming.receive()
      }
    } finally {
      await incoming.leave()
    }
    // An empty body counts as absent.
    return incoming.bytes.length === 0 ? undefined : parseBodyInTurns(incoming.bytes, bounds)
  }
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', receive)
}
