import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NoBody, Ok, PageQuery, ref, WorkspaceParams } from '../../../../schemas/common.js'
import { Override, OverrideBody, OverridePage, OverrideParams } from '../../../../schemas/overrides.js'
import { sendJsonText, withSettingsText } from '../../../platform/http/json-text.js'
import { pagesOf } from '../../../platform/http/pagination.js'
import { adminOf, memberOf } from '../../workspaces/index.js'
import { removeOverride, setOverride } from '../change-overrides.js'
import { listOverrides, type StoredOverride } from '../queries/overrides.js'

const toText = ({ owner, repo, settings, updatedAt, updatedBy }: StoredOverride) =>
  withSettingsText({ owner, repo }, settings, { updated_at: updatedAt, updated_by: updatedBy })

const pages = pagesOf('text', 'text')

export const overrideRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/workspaces/:id/project-settings',
    config: { access: memberOf('params.id'), validate: pages.validate },
    schema: {
      operationId: 'listOverrides',
      tags: ['team'],
      summary: 'List the overrides of repositories',
      description:
        'Ordered by owner and repository. If settings are large, a page has fewer rows than `limit`.',
      params: WorkspaceParams,
      querystring: PageQuery,
      response: { 200: OverridePage },
    },
    handler: async ({ membership, query }, reply) => {
      const { rows, next_cursor } = await pages.readBounded(
        query,
        (after, limit) => listOverrides(app.db, membership.workspaceId, after, limit),
        ({ owner, repo }) => [owner.toLowerCase(), repo.toLowerCase()],
      )
      return sendJsonText(
        reply,
        `{"overrides":[${rows.map(toText).join(',')}],"next_cursor":${JSON.stringify(next_cursor)}}`,
      )
    },
  })

  app.route({
    method: 'PUT',
    url: '/workspaces/:id/project-settings/:owner/:repo',
    config: {
      access: adminOf('params.id'),
      errors: ['repo_outside_patterns', 'settings_too_large', 'workspace_full'],
    },
    schema: {
      operationId: 'setOverride',
      tags: ['team'],
      summary: 'Set the override of a repository',
      description:
        "Replaces the previous override. The value `null` hides the workspace's key. Sending the same content again changes nothing.",
      params: OverrideParams,
      body: OverrideBody,
      response: { 200: ref(Override) },
    },
    handler: async (request, reply) => {
      const call = { ...request.membership, ...request.params }
      return sendJsonText(reply, toText(await setOverride(app.database, call, request.body.settings)))
    },
  })

  app.route({
    method: 'DELETE',
    url: '/workspaces/:id/project-settings/:owner/:repo',
    config: { access: adminOf('params.id'), errors: ['override_not_found'] },
    schema: {
      operationId: 'removeOverride',
      tags: ['team'],
      summary: 'Remove the override of a repository',
      params: OverrideParams,
      body: NoBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      await removeOverride(app.database, { ...request.membership, ...request.params })
      return { ok: true } as const
    },
  })
}
