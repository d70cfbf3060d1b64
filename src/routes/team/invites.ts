import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NoBody, Ok, PageQuery, ref, WorkspaceParams } from '../../../schemas/common.js'
import { CreateInviteBody, Invite, InvitePage, InviteParams } from '../../../schemas/invites.js'
import { pagesOf } from '../../http/pagination.js'
import { createInvite, revokeInvite } from '../../operations/change-invites.js'
import { adminOf } from '../../policies/access.js'
import { listActiveInvites } from '../../queries/invites.js'

const pages = pagesOf('timestamp', 'uuid')

export const inviteRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/workspaces/:id/invites',
    config: { access: adminOf('params.id'), validate: pages.validate },
    schema: {
      operationId: 'listInvites',
      tags: ['team'],
      summary: 'List the active invites',
      description: 'Those that can still be redeemed, newest first.',
      params: WorkspaceParams,
      querystring: PageQuery,
      response: { 200: InvitePage },
    },
    handler: async ({ membership, query }) => {
      const page = await pages.read(
        query,
        (after, rows) => listActiveInvites(app.db, membership.workspaceId, after, rows),
        (invite) => [invite.created_at, invite.id],
      )
      return { invites: page.rows, next_cursor: page.next_cursor }
    },
  })

  app.route({
    method: 'POST',
    url: '/workspaces/:id/invites',
    config: { access: adminOf('params.id'), errors: ['personal_workspace'] },
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
      return createInvite(app.database, request.membership, request.body)
    },
  })

  app.route({
    method: 'DELETE',
    url: '/workspaces/:id/invites/:invite',
    config: { access: adminOf('params.id'), errors: ['invite_not_found'] },
    schema: {
      operationId: 'revokeInvite',
      tags: ['team'],
      summary: 'Revoke an invite',
      description: 'Nobody can join with it any more. Revoking it again changes nothing.',
      params: InviteParams,
      body: NoBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      await revokeInvite(app.database, request.membership, request.params.invite)
      return { ok: true } as const
    },
  })
}
