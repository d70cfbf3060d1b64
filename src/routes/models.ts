import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { limits } from '../../schemas/limits.js'
import { ModelList, ModelsQuery } from '../../schemas/models.js'
import type { Assistant } from '../clients/assistants.js'
import { ApiError } from '../errors.js'
import { callerOf } from '../plugins/session.js'
import { anyCaller } from '../policies/access.js'

export const modelRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const underWay = new Map<string, number>()

  /** A look-up may take 10 s: one caller must not have us wait for the provider in any number of them. */
  const takeTurn = (userId: string, reply: FastifyReply) => {
    const running = underWay.get(userId) ?? 0
    if (running >= limits.assistant_lookups_per_caller) {
      reply.header('RateLimit-Limit', limits.assistant_lookups_per_caller)
      reply.header('RateLimit-Remaining', 0)
      reply.header('RateLimit-Reset', 1)
      throw new ApiError('rate_limited', { retryAfter: 1 })
    }
    underWay.set(userId, running + 1)
    return () => {
      const others = (underWay.get(userId) ?? 1) - 1
      if (others === 0) underWay.delete(userId)
      else underWay.set(userId, others)
    }
  }

  const serve = (url: string, operationId: string, name: string, assistant: Assistant) =>
    app.route({
      method: 'GET',
      url,
      config: {
        access: anyCaller,
        errors: ['assistant_key_rejected', 'upstream_failed', 'upstream_timeout'],
      },
      schema: {
        operationId,
        tags: ['models'],
        summary: `The models of ${name}`,
        description: `All that the key may use, newest first. At most ${limits.assistant_lookups_per_caller} look-ups of a caller at the same time.`,
        querystring: ModelsQuery,
        response: { 200: ModelList },
      },
      handler: async (request, reply) => {
        const endTurn = takeTurn(callerOf(request).userId, reply)
        try {
          return { models: await assistant.listModels(request.query.apiKey) }
        } finally {
          endTurn()
        }
      },
    })

  const { a, b } = app.clients.assistants
  serve('/assistant-a-models', 'listAssistantAModels', 'assistant A', a)
  serve('/assistant-b-models', 'listAssistantBModels', 'assistant B', b)
}
