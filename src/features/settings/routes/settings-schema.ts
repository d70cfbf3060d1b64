import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ConditionalReadHeaders, NotModified, ref } from '../../../../schemas/common.js'
import { SettingsSchema } from '../../../../schemas/settings-schema.js'
import { ApiError } from '../../../errors.js'
import { anyone } from '../../../platform/access/access.js'
import { sendJsonText } from '../../../platform/http/content.js'
import { etagOfText, isUnchanged } from '../../../platform/http/etag.js'

export const settingsSchemaRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const rules = app.config.settingsRules
  // Written once: it never changes while the service runs, and can be large.
  const text = JSON.stringify({
    ...rules?.schema.document,
    'x-validation': rules?.enforced ? 'enforce' : 'warn',
  })
  const etag = etagOfText(text)

  app.route({
    method: 'GET',
    url: '/settings-schema',
    config: { access: anyone, usesDatabase: false, errors: ['schema_not_configured'] },
    schema: {
      operationId: 'getSettingsSchema',
      tags: ['settings'],
      summary: 'Get the settings schema',
      description:
        "The operator's description of the extension's settings (`SETTINGS_SCHEMA`). The service checks pushes, workspace settings and overrides against it.",
      headers: ConditionalReadHeaders,
      response: { 200: ref(SettingsSchema), 304: NotModified },
    },
    handler: async (_request, reply) => {
      if (!rules) throw new ApiError('schema_not_configured')
      if (isUnchanged(reply, etag)) return reply.code(304).send(undefined)
      return sendJsonText(reply, text)
    },
  })
}
