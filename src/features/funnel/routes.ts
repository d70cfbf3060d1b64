import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Ok, ref } from '../../../schemas/common.js'
import { EventBody, Funnel, FunnelQuery } from '../../../schemas/funnel.js'
import { ApiError } from '../../errors.js'
import { anyCaller } from '../../platform/access/access.js'
import { adminKey } from './access.js'
import { insertFunnelEvent, readFunnel } from './queries.js'

export const funnelRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { config, database } = app

  app.route({
    method: 'POST',
    url: '/events',
    config: { access: anyCaller },
    schema: {
      operationId: 'recordEvent',
      tags: ['funnel'],
      summary: 'Record an activation event',
      description: 'What was answered with 202 is counted.',
      body: EventBody,
      response: { 202: ref(Ok) },
    },
    handler: async (request, reply) => {
      const { userId } = request.caller
      if (!(await insertFunnelEvent(database.write, userId, request.body)))
        throw new ApiError('token_invalid')
      reply.code(202)
      return { ok: true } as const
    },
  })

  app.route({
    method: 'GET',
    url: '/admin/funnel',
    config: { access: adminKey, errors: ['invalid_range'] },
    schema: {
      operationId: 'getFunnel',
      tags: ['funnel'],
      summary: 'How many users come how far',
      description:
        'The steps are configured (`FUNNEL_STEPS`). A step counts the users with that event, in whatever order they had them; a conversion those who have both. With `from` or `to`, only events of these UTC days exist.',
      querystring: FunnelQuery,
      response: { 200: ref(Funnel) },
    },
    handler: async (request) => {
      const { from, to, source } = request.query
      if (from !== undefined && to !== undefined && from > to) {
        throw new ApiError('invalid_range', { detail: '`from` must not be after `to`.' })
      }
      await app.milestones.flush()
      return database.readAnywhere((tx) => readFunnel(tx, config.funnelSteps, { from, to, source }))
    },
  })
}
