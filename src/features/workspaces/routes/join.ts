import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { JoinBody, JoinResult } from '../../../../schemas/invites.js'
import { anyCaller } from '../../../platform/access/access.js'
import { personKeysOf } from '../../accounts/index.js'
import { joinWorkspace } from '../join-workspace.js'
import { withFloor } from '../policies/privacy-levels.js'

export const joinRoute: FastifyPluginAsyncTypebox = async (app) => {
  const personKeys = personKeysOf(app.config.jwtSecrets)
  const quota = app.config.limits
  app.route({
    method: 'POST',
    url: '/workspaces/join',
    config: {
      access: anyCaller,
      limit: 'invite',
      errors: ['invite_not_found', 'invite_expired', 'invite_exhausted', 'invite_revoked', 'workspace_limit'],
    },
    schema: {
      operationId: 'joinWorkspace',
      tags: ['team'],
      summary: 'Join a workspace with an invite code',
      description:
        'Case and dashes in the code don’t matter. If a member joins again, `already_member` is true and the invite isn’t used up.',
      body: JoinBody,
      response: { 200: JoinResult },
    },
    handler: async (request) => {
      const { userId } = request.caller
      const joined = await joinWorkspace(app.database, { personKeys, quota }, userId, request.body.code)
      if (!joined.already_member) app.milestones.reached(userId, 'workspace_joined')
      return { ...joined, workspace: withFloor(app.config.privacy, joined.workspace) }
    },
  })
}
