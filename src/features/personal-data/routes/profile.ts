import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../../../../schemas/common.js'
import { Profile } from '../../../../schemas/profile.js'
import { anyCaller } from '../../../platform/access/access.js'
import { readProfile } from '../read-profile.js'

export const profileRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/me',
    config: { access: anyCaller, core: true },
    schema: {
      operationId: 'getProfile',
      tags: ['profile'],
      summary: "Get the caller's profile",
      response: { 200: ref(Profile) },
    },
    handler: (request) => readProfile(app.database, app.config, request.caller.userId),
  })
}
