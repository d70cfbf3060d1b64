import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ConditionalReadHeaders, NotModified, ref } from '../../../../schemas/common.js'
import { EffectiveConfig, EffectiveConfigQuery } from '../../../../schemas/effective-config.js'
import { overlaySettings } from '../../workspaces/index.js'
import { repoMember } from '../access.js'
import { toReadEffectiveConfig } from '../policies/repo-access.js'

const effectiveConfig = repoMember('query.repo', toReadEffectiveConfig)

export const effectiveConfigRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/effective-config',
    config: { access: effectiveConfig },
    schema: {
      operationId: 'getEffectiveConfig',
      tags: ['team'],
      summary: 'The settings that hold for a repository',
      description:
        'Of the best of the caller’s matching workspaces, whatever the role there: its settings, with the override of the repository laid over them. The order is that of pulling settings: where the caller is admin first, then an exact pattern before a wildcard, the longer literal part, the older workspace.',
      querystring: EffectiveConfigQuery,
      headers: ConditionalReadHeaders,
      response: { 200: ref(EffectiveConfig), 304: NotModified },
    },
    handler: async (request, reply) => {
      const config = request.granted(effectiveConfig)
      reply.header('ETag', config.etag)
      if (config.settings === null) return reply.code(304).send(undefined)
      const { settings, sources } = overlaySettings(
        JSON.parse(config.settings),
        JSON.parse(config.override ?? '{}'),
      )
      return {
        repo: config.owner === null ? request.query.repo : `${config.owner}/${config.repo}`,
        workspace_id: config.workspaceId,
        matched_pattern: config.pattern,
        idle_window_minutes: config.idleWindowMinutes,
        settings,
        sources,
        also_matched: config.alsoMatched,
      }
    },
  })
}
