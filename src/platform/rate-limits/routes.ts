import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../../../schemas/common.js'
import { Limits } from '../../../schemas/limit-list.js'
import { limits } from '../../../schemas/limits.js'
import { anyone } from '../access/access.js'

export const limitRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/limits',
    config: { access: anyone, usesDatabase: false },
    schema: {
      operationId: 'getLimits',
      tags: ['service'],
      summary: 'List the limits',
      description: 'The numbers that requests are checked against.',
      response: { 200: ref(Limits) },
    },
    handler: async () => {
      const { prefixes, denied, allowed, restricted } = app.config.settingsKeys
      return {
        ...limits,
        ...app.config.limits,
        extension_prefix: app.config.extensionPrefix,
        settings_prefixes: prefixes,
        settings_denied: [...denied, ...restricted.map((key) => `!${key}`)],
        settings_allowed: allowed,
        settings_restricted: restricted,
      }
    },
  })
}
