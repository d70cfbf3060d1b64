import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { WorkspaceParams } from '../../../../schemas/common.js'
import { Patterns, PatternsBody } from '../../../../schemas/workspaces.js'
import { adminOf, memberOf } from '../access.js'
import { listPatterns } from '../queries/workspaces.js'
import { replacePatterns } from '../replace-patterns.js'

export const patternRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/workspaces/:id/patterns',
    config: { access: memberOf('params.id', 'settings:read') },
    schema: {
      operationId: 'listPatterns',
      tags: ['team'],
      summary: 'List the repository patterns',
      params: WorkspaceParams,
      response: { 200: Patterns },
    },
    handler: async ({ membership }) => ({ patterns: await listPatterns(app.db, membership.workspaceId) }),
  })

  app.route({
    method: 'PUT',
    url: '/workspaces/:id/patterns',
    config: {
      access: adminOf('params.id', 'settings:write'),
      errors: ['pattern_outside_organization', 'workspace_limit'],
    },
    schema: {
      operationId: 'replacePatterns',
      tags: ['team'],
      summary: 'Replace the repository patterns',
      description:
        'Settings and overrides of repositories that no longer match a pattern are kept. They appear again when a pattern matches.',
      params: WorkspaceParams,
      body: PatternsBody,
      response: { 200: Patterns },
    },
    handler: async (request) => ({
      patterns: await replacePatterns(
        app.database,
        request.membership,
        request.body.patterns,
        app.config.limits,
      ),
    }),
  })
}
