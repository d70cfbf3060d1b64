/** The routes that load balancers call. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Ok, ref } from '../../../schemas/common.js'
import { Health } from '../../../schemas/health.js'
import { ApiError } from '../../errors.js'
import { anyone } from '../access/access.js'
import { serviceVersion } from '../process/root.js'

export const probeRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/health',
    config: { access: anyone, limit: 'none', usesDatabase: false, isProbe: true },
    schema: {
      operationId: 'getHealth',
      tags: ['service'],
      summary: 'Check that the process is alive',
      response: { 200: Health },
    },
    handler: async () => ({ ok: true, version: serviceVersion }) as const,
  })

  app.route({
    method: 'GET',
    url: '/ready',
    config: { access: anyone, limit: 'none', isProbe: true },
    schema: {
      operationId: 'getReadiness',
      tags: ['service'],
      summary: 'Check that requests can be served',
      description:
        'The database responds and accepts writes, its schema is current, and the process isn’t stopping.',
      response: { 200: ref(Ok) },
    },
    handler: async () => {
      if (!(await app.isReady())) throw new ApiError('unavailable')
      return { ok: true } as const
    },
  })
}
