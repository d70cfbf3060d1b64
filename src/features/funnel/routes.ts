import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Ok, ref } from '../../../schemas/common.js'
import { EventBody, Funnel, FunnelQuery } from '../../../schemas/funnel.js'
import { ApiError } from '../../errors.js'
import { anyCaller } from '../../platform/access/access.js'
import { adminKey } from './access.js'
import { insertFunnelEvent, readFunnel } from './queries.js'

export const funnelRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { config, database, db } = app

  app.route({
    method: 'POST',
    url: '/events',
    config: { access: anyCaller },
    schema: {
      operationId: 'recordEvent',
      tags: ['funnel'],
      summary: 'Record an activation event',
      description: 'A 202 response means that the event was counted.',
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
      summary: 'Read the funnel',
      description:
        'Shows how many users reach each step. The operator configures the steps (`FUNNEL_STEPS`). A step counts the users who have its event, in any order. A conversion counts the users who have both events. With `from` or `to`, only events within that range of UTC days count.',
      querystring: FunnelQuery,
      response: { 200: ref(Funnel) },
    },
    handler: async (request) => {
      const { from, to, source } = request.query
      if (from !== undefined && to !== undefined && from > to) {
        throw new ApiError('invalid_range', { detail: '`from` must not be after `to`.' })
      }
      await app.milestones.flush()
      return readFunnel(db, config.funnelSteps, { from, to, source })
    },
  })
}
