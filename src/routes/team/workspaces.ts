import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { CreatedWorkspace, CreateWorkspaceBody, MyWorkspaces } from '../../../schemas/workspaces.js'
import { ApiError } from '../../errors.js'
import { createWorkspace } from '../../operations/create-workspace.js'
import { callerOf } from '../../plugins/session.js'
import { anyCaller } from '../../policies/access.js'
import { readUser } from '../../queries/users.js'
import { listWorkspacesOf } from '../../queries/workspaces.js'

export const workspaceRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/me',
    config: { access: anyCaller },
    schema: {
      operationId: 'listMyWorkspaces',
      tags: ['team'],
      summary: "The caller's workspaces",
      response: { 200: MyWorkspaces },
    },
    handler: async (request) => {
      const user = await readUser(app.db, callerOf(request).userId)
      if (!user) throw new ApiError('token_invalid')
      return { id: user.id, login: user.login, workspaces: await listWorkspacesOf(app.db, user.id) }
    },
  })

  app.route({
    method: 'POST',
    url: '/workspaces/create',
    config: { access: anyCaller, errors: ['workspace_limit'] },
    schema: {
      operationId: 'createWorkspace',
      tags: ['team'],
      summary: 'Create a workspace and a first invite',
      description: 'The caller becomes its admin.',
      body: CreateWorkspaceBody,
      response: { 201: CreatedWorkspace },
    },
    handler: async (request, reply) => {
      const { userId } = callerOf(request)
      const created = await createWorkspace(app.database, userId, request.body)
      app.milestones.reached(userId, 'workspace_created')
      reply.code(201)
      return created
    },
  })
}
