import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NoBody, Ok, PAGED, PageQuery, ref, WorkspaceParams } from '../../../../schemas/common.js'
import {
  CreateInviteBody,
  Invite,
  InviteCodeParams,
  InviteGreeting,
  InviteLookup,
  InvitePage,
  InviteParams,
  JoinBody,
  JoinResult,
} from '../../../../schemas/invites.js'
import { limits } from '../../../../schemas/limits.js'
import { ApiError } from '../../../errors.js'
import { anyCaller, anyone } from '../../../platform/access/access.js'
import { paginate } from '../../../platform/http/pagination.js'
import { personKeysOf } from '../../accounts/index.js'
import { withFloor } from '../../privacy/index.js'
import { adminOf } from '../access.js'
import { createInvite, joinWorkspace, lookUpInvite, revokeInvite } from '../invites.js'
import { listActiveInvites, readGreeting } from '../queries/invites.js'

const adminAccess = adminOf('params.id')

const pagination = paginate('timestamp', 'uuid')

export const inviteRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const personKeys = personKeysOf(app.config.jwtSecrets)

  app.route({
    method: 'GET',
    url: '/invites/:code',
    config: { access: anyCaller, limit: 'invite', errors: ['invite_not_found'] },
    schema: {
      operationId: 'lookUpInvite',
      tags: ['team'],
      summary: 'Look up an invite code',
      description: `Shows the workspace that the caller is about to join, and who sees activity there. Case and dashes in the code don’t matter. An invite that no longer works is returned with its \`status\`. For a caller who was removed from the workspace, older invites are \`revoked\`. The limit is ${limits.rate_join_per_caller} lookups and joins a minute.`,
      params: InviteCodeParams,
      response: { 200: InviteLookup },
    },
    handler: ({ caller, params }) => lookUpInvite(app.db, personKeys, caller.userId, params.code),
  })

  app.route({
    method: 'GET',
    url: '/workspaces/:id/invites',
    config: { access: adminAccess, validate: pagination.validate },
    schema: {
      operationId: 'listInvites',
      tags: ['team'],
      summary: 'List the active invites',
      description: `${PAGED} Invites that still work, newest first.`,
      params: WorkspaceParams,
      querystring: PageQuery,
      response: { 200: InvitePage },
    },
    handler: async (request) => {
      const { workspaceId } = request.granted(adminAccess)
      const page = await pagination.read(
        request.query,
        (after, rows) => listActiveInvites(app.db, workspaceId, after, rows),
        (invite) => [invite.created_at, invite.id],
      )
      return { invites: page.rows, next_cursor: page.next_cursor }
    },
  })

  app.route({
    method: 'POST',
    url: '/workspaces/:id/invites',
    config: { access: adminAccess, errors: ['personal_workspace'] },
    schema: {
      operationId: 'createInvite',
      tags: ['team'],
      summary: 'Create an invite',
      params: WorkspaceParams,
      body: CreateInviteBody,
      response: { 201: ref(Invite) },
    },
    handler: async (request, reply) => {
      reply.code(201)
      return createInvite(app.database, request.granted(adminAccess), request.body)
    },
  })

  app.route({
    method: 'DELETE',
    url: '/workspaces/:id/invites/:invite',
    config: { access: adminAccess, errors: ['invite_not_found'] },
    schema: {
      operationId: 'revokeInvite',
      tags: ['team'],
      summary: 'Revoke an invite',
      description: 'No one can join with the invite any more. Revoking it again changes nothing.',
      params: InviteParams,
      body: NoBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      await revokeInvite(app.database, request.granted(adminAccess), request.params.invite)
      return { ok: true } as const
    },
  })
}

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

/** Works without a session. */
export const greetingRoute: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/invites/:code',
    config: { access: anyone, limit: 'invite', errors: ['invite_not_found'] },
    schema: {
      operationId: 'greetInvited',
      tags: ['team'],
      summary: 'Say who invites to what',
      description:
        'For a page that someone opens before the sign-in. An invite that no longer works is answered with 404. It shares its limit with lookups and joins, counted by address.',
      params: InviteCodeParams,
      response: { 200: InviteGreeting },
    },
    handler: async ({ params }) => {
      const greeting = await readGreeting(app.db, params.code)
      if (!greeting) throw new ApiError('invite_not_found')
      return greeting
    },
  })
}
