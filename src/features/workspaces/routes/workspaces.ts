import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NoBody, Ok, ref, WorkspaceParams } from '../../../../schemas/common.js'
import { CreatedWorkspace } from '../../../../schemas/invites.js'
import {
  CreateWorkspaceBody,
  MyWorkspaces,
  RenameBody,
  Workspace,
  WorkspaceNames,
} from '../../../../schemas/workspaces.js'
import { anyCaller, anyCallerWith } from '../../../platform/access/access.js'
import { readCaller } from '../../accounts/index.js'
import { requireFloor, withFloor } from '../../privacy/index.js'
import { adminOf } from '../access.js'
import { createWorkspace, deleteWorkspace, renameWorkspace } from '../lifecycle.js'
import { listWorkspacesOf } from '../queries/workspaces.js'

const adminAccess = adminOf('params.id')

export const workspaceRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/me',
    config: { access: anyCaller },
    schema: {
      operationId: 'listMyWorkspaces',
      tags: ['team'],
      summary: "List the caller's workspaces",
      response: { 200: MyWorkspaces },
    },
    handler: async (request) => {
      const user = await readCaller(app.db, request.caller.userId)
      const workspaces = await listWorkspacesOf(app.db, user.id)
      return {
        id: user.id,
        login: user.login,
        workspaces: workspaces.map((workspace) => withFloor(app.config.privacy, workspace)),
      }
    },
  })

  app.route({
    method: 'GET',
    url: '/workspaces',
    config: { access: anyCallerWith('settings:read') },
    schema: {
      operationId: 'listWorkspaceNames',
      tags: ['team'],
      summary: 'List the workspaces that the caller or the access key reaches',
      description: 'A workspace key reaches only its own.',
      response: { 200: WorkspaceNames },
    },
    handler: async ({ key, memberId }) => {
      const all = await listWorkspacesOf(app.db, memberId, key?.workspaceId ? [key.workspaceId] : undefined)
      return { workspaces: all.map(({ id, name }) => ({ id, name })) }
    },
  })

  app.route({
    method: 'POST',
    url: '/workspaces/create',
    config: { access: anyCaller, errors: ['workspace_limit'] },
    schema: {
      operationId: 'createWorkspace',
      tags: ['team'],
      summary: 'Create a workspace and its first invite',
      description:
        'The caller becomes its admin. Without `activity_privacy`, the workspace begins at the loosest level that the operator allows. A looser level is rejected.',
      body: CreateWorkspaceBody,
      response: { 201: CreatedWorkspace },
    },
    handler: async (request, reply) => {
      const { userId } = request.caller
      const { privacy, limits: quota } = app.config
      requireFloor(privacy.floor, request.body)
      const created = await createWorkspace(
        app.database,
        { privacy: privacy.floor, quota },
        userId,
        request.body,
      )
      app.milestones.reached(userId, 'workspace_created')
      reply.code(201)
      return created
    },
  })

  app.route({
    method: 'PATCH',
    url: '/workspaces/:id',
    config: { access: adminAccess },
    schema: {
      operationId: 'renameWorkspace',
      tags: ['team'],
      summary: 'Rename a workspace',
      params: WorkspaceParams,
      body: RenameBody,
      response: { 200: ref(Workspace) },
    },
    handler: async (request) =>
      withFloor(
        app.config.privacy,
        await renameWorkspace(app.database, request.granted(adminAccess), request.body.name),
      ),
  })

  app.route({
    method: 'DELETE',
    url: '/workspaces/:id',
    config: { access: adminAccess },
    schema: {
      operationId: 'deleteWorkspace',
      tags: ['team'],
      summary: 'Delete a workspace and all of its data',
      description:
        'No one can see the workspace from then on, and its data is deleted within moments. You can delete a personal workspace too. The next push to a repository of your own creates a new one.',
      params: WorkspaceParams,
      body: NoBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      const membership = request.granted(adminAccess)
      await deleteWorkspace(app.database, membership)
      app.sessions.accessKeys.forget(({ workspaceId }) => workspaceId === membership.workspaceId)
      void app.housekeeping.run()
      return { ok: true } as const
    },
  })
}
