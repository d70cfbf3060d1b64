import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { limits } from '../../../schemas/limits.js'
import { ModelList, ModelsQuery } from '../../../schemas/models.js'
import { anyCaller } from '../../platform/access/access.js'

export const modelRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const providers = [
    {
      url: '/assistant-a-models',
      operationId: 'listAssistantAModels',
      name: 'assistant A',
      assistant: app.clients.assistants.a,
    },
    {
      url: '/assistant-b-models',
      operationId: 'listAssistantBModels',
      name: 'assistant B',
      assistant: app.clients.assistants.b,
    },
  ] as const
  for (const { url, operationId, name, assistant } of providers) {
    app.route({
      method: 'GET',
      url,
      config: {
        access: anyCaller,
        usesDatabase: false,
        errors: ['assistant_key_rejected', 'upstream_failed', 'upstream_timeout'],
      },
      schema: {
        operationId,
        tags: ['models'],
        summary: `List the models of ${name}`,
        description: `All models that the key can use, newest first. A caller can have at most ${limits.assistant_lookups_per_caller} lookups at the same time. Further lookups wait.`,
        querystring: ModelsQuery,
        response: { 200: ModelList },
      },
      handler: async (request) => {
        const releasePermit = await app.rateLimits.acquirePermit(request, 'model_lookups')
        try {
          return { models: await assistant.listModels(request.query.apiKey, request.trace) }
        } finally {
          releasePermit()
        }
      },
    })
  }
}
