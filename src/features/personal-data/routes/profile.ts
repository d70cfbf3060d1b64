import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { PageQuery, ref } from '../../../../schemas/common.js'
import { Profile } from '../../../../schemas/profile.js'
import { ProjectPage } from '../../../../schemas/projects.js'
import { anyCaller } from '../../../platform/access/access.js'
import { pagesOf } from '../../../platform/http/pagination.js'
import { listProjects } from '../../settings/queries/projects.js'
import { readProfile } from '../read-profile.js'

const pages = pagesOf('text', 'text', 'uuid')

export const profileRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/me',
    config: { access: anyCaller, core: true },
    schema: {
      operationId: 'getProfile',
      tags: ['profile'],
      summary: "The caller's profile",
      response: { 200: ref(Profile) },
    },
    handler: (request) => readProfile(app.database, app.config, request.caller.userId),
  })

  app.route({
    method: 'GET',
    url: '/projects',
    config: { access: anyCaller, core: true },
    schema: {
      operationId: 'listProjects',
      tags: ['settings'],
      summary: "Repositories visible through the caller's workspace patterns",
      description:
        'Those that have settings or an override and match a pattern of that workspace now: one row per workspace and repository, ordered by owner, repo and workspace. Where many do not match, a page holds fewer rows than `limit`, or none.',
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
