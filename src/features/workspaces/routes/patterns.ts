import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { WorkspaceParams } from '../../../../schemas/common.js'
import { Patterns, PatternsBody } from '../../../../schemas/workspaces.js'
import { adminOf, memberOf } from '../access.js'
import { listPatterns } from '../queries/workspaces.js'
import { replacePatterns } from '../replace-patterns.js'

const reading = memberOf('params.id', 'settings:read')
const writing = adminOf('params.id', 'settings:write')

export const patternRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/workspaces/:id/patterns',
    config: { access: reading },
    schema: {
      operationId: 'listPatterns',
      tags: ['team'],
      summary: 'List the repository patterns',
      params: WorkspaceParams,
      response: { 200: Patterns },
    },
    handler: async (request) => ({
      patterns: await listPatterns(app.db, request.granted(reading).workspaceId),
    }),
  })

  app.route({
    method: 'PUT',
    url: '/workspaces/:id/patterns',
    config: {
      access: writing,
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
        request.granted(writing),
        request.body.patterns,
        app.config.limits,
      ),
    }),
  })
}
