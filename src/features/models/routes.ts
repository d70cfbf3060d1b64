import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { limits } from '../../../schemas/limits.js'
import { ModelList, ModelsQuery } from '../../../schemas/models.js'
import { tooMany } from '../../errors.js'
import { anyCaller } from '../../platform/access/access.js'
import { KeyedSemaphore } from '../../platform/process/semaphore.js'
import { payerOf } from '../../platform/rate-limits/payers.js'

/** How many look-ups of a caller may wait, and for how long. */
const WAITING = 20
const WAIT_MS = 10_000

export const modelRoutes: FastifyPluginAsyncTypebox = async (app) => {
  /** A look-up may take 10 s, so each caller has only a few at a time. */
  const turns = new KeyedSemaphore(limits.assistant_lookups_per_caller, WAITING, WAIT_MS, () =>
    tooMany('model_lookups', limits.assistant_lookups_per_caller, 1),
  )

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
        asksDatabase: false,
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
      handler: async (request) => ({
        models: await turns.run(await payerOf(request), () =>
          assistant.listModels(request.query.apiKey, request.trace),
        ),
      }),
    })
  }
}
