import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NoBody, Ok, ref, WorkspaceParams } from '../../../../schemas/common.js'
import {
  AccessKeyList,
  CreatedAccessKey,
  CreateWorkspaceKeyBody,
  WorkspaceKeyParams,
} from '../../../../schemas/keys.js'
import { limits } from '../../../../schemas/limits.js'
import { listKeys } from '../../keys/index.js'
import { adminOf } from '../access.js'
import { createWorkspaceKey, revokeWorkspaceKey } from '../change-keys.js'

const adminAccess = adminOf('params.id')

export const workspaceKeyRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { sessions, database, meter } = app

  app.route({
    method: 'GET',
    url: '/workspaces/:id/keys',
    config: { access: adminAccess },
    schema: {
      operationId: 'listWorkspaceKeys',
      tags: ['team'],
      summary: 'List the workspace keys',
      description:
        'The keys that still work, newest first. A key stops working when `created_by` is no longer a workspace admin.',
      params: WorkspaceParams,
      response: { 200: AccessKeyList },
    },
    handler: async (request) => {
      const { workspaceId } = request.granted(adminAccess)
      return { keys: await listKeys(app.db, { workspaceId }) }
    },
  })

  app.route({
    method: 'POST',
    url: '/workspaces/:id/keys',
    config: { access: adminAccess, errors: ['key_limit'] },
    schema: {
      operationId: 'createWorkspaceKey',
      tags: ['team'],
      summary: 'Create a workspace key',
      description: `For jobs that don’t belong to one person. The key works only in this workspace. The audit trail and \`updated_by\` name it \`key <name>\`. It is revoked when the caller is no longer a workspace admin. The secret is shown only in this response. A workspace can have ${limits.keys_per_owner} keys. See the guide [Access keys](/api/docs/access-keys).`,
      params: WorkspaceParams,
      body: CreateWorkspaceKeyBody,
      response: { 201: ref(CreatedAccessKey) },
    },
    handler: async (request, reply) => {
      const membership = request.granted(adminAccess)
      const created = await createWorkspaceKey(database, membership, request.body)
      meter.count('team_settings_access_keys_total', { owner: 'workspace', change: 'created' })
      reply.code(201)
      return created
    },
  })

  app.route({
    method: 'DELETE',
    url: '/workspaces/:id/keys/:key',
    config: { access: adminAccess, errors: ['key_not_found'] },
    schema: {
      operationId: 'revokeWorkspaceKey',
      tags: ['team'],
      summary: 'Revoke a workspace key',
      description:
        'The key stops working within 5 seconds on every instance. Revoking it again changes nothing.',
      params: WorkspaceKeyParams,
      body: NoBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      const membership = request.granted(adminAccess)
      const revoked = await revokeWorkspaceKey(database, membership, request.params.key)
      if (revoked) {
        sessions.accessKeys.forget(({ keyId }) => keyId === revoked.id)
        meter.count('team_settings_access_keys_total', { owner: 'workspace', change: 'revoked' })
      }
      return { ok: true } as const
    },
  })
}
