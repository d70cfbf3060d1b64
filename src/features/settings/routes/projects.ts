import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { PageQuery } from '../../../../schemas/common.js'
import { ProjectPage } from '../../../../schemas/projects.js'
import { anyCaller } from '../../../platform/access/access.js'
import { pagesOf } from '../../../platform/http/pagination.js'
import { listProjects } from '../queries/projects.js'

const pages = pagesOf('text', 'text', 'uuid')

export const projectRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/projects',
    config: { access: anyCaller, core: true },
    schema: {
      operationId: 'listProjects',
      tags: ['settings'],
      summary: "List the repositories of the caller's workspaces",
      description:
        'Repositories that have settings or an override, and match a pattern of the workspace now. There is one row per workspace and repository, ordered by owner, repository and workspace. A page can hold fewer rows than `limit`, or none, before the last page.',
      querystring: PageQuery,
      response: { 200: ProjectPage },
    },
    handler: async (request) => {
      const page = await pages.readBounded(
        request.query,
        (after, limit) => listProjects(app.db, request.caller.userId, after, limit),
        ({ owner, repo, workspace_id }) => [owner.toLowerCase(), repo.toLowerCase(), workspace_id],
      )
      return { projects: page.rows, next_cursor: page.next_cursor }
    },
  })
}
