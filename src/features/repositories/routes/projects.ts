import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { PAGED, PageQuery } from '../../../../schemas/common.js'
import { ProjectPage } from '../../../../schemas/projects.js'
import { anyCallerWith } from '../../../platform/access/access.js'
import { createCursorSeal } from '../../../platform/http/cursor-seal.js'
import { paginateSealed } from '../../../platform/http/pagination.js'
import { listVisibleProjects } from '../list-projects.js'

export const projectRoutes: FastifyPluginAsyncTypebox = async (app) => {
  // A page can end with a repository that matches no pattern, which the caller doesn't see.
  const pagination = paginateSealed(createCursorSeal(app.config.jwtSecrets), 'text', 'text', 'uuid')
  app.route({
    method: 'GET',
    url: '/projects',
    config: { access: anyCallerWith('settings:read'), core: true },
    schema: {
      operationId: 'listProjects',
      tags: ['settings'],
      summary: "List the repositories of the caller's workspaces",
      description: `${PAGED} Repositories that have settings, an override or activity that the caller may know of, and currently match one of the workspace’s patterns. There is one row per workspace and repository, ordered by owner, repository and workspace. Pages before the last one can also have fewer rows than \`limit\`, or none.`,
      querystring: PageQuery,
      response: { 200: ProjectPage },
    },
    handler: async (request) => {
      const caller = { userId: request.memberId, key: request.key }
      const page = await pagination.readBounded(
        request.query,
        (after, limit) => listVisibleProjects(app.db, caller, app.config.privacy, after, limit),
        ({ owner, repo, workspace_id }) => [owner.toLowerCase(), repo.toLowerCase(), workspace_id],
      )
      return { projects: page.rows, next_cursor: page.next_cursor }
    },
  })
}
