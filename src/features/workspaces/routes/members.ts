import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NoBody, Ok, PageQuery, ref, WorkspaceParams } from '../../../../schemas/common.js'
import { ChangeRoleBody, Member, MemberPage, MemberQuery } from '../../../../schemas/members.js'
import { singleRow } from '../../../platform/database/statement.js'
import { paginate } from '../../../platform/http/pagination.js'
import { adminOf, memberOf } from '../access.js'
import { changeRole, leaveWorkspace, removeMember } from '../change-members.js'
import { describeMembers, type LastActiveDays } from '../describe-members.js'
import { listMembers } from '../queries/members.js'

const pagination = paginate('timestamp', 'uuid')

interface MemberOptions {
  /** From the feature that knows activity, which is above this one. */
  lastActiveDays: LastActiveDays
}

export const memberRoutes: FastifyPluginAsyncTypebox<MemberOptions> = async (app, { lastActiveDays }) => {
  const context = { db: app.db, config: app.config, lastActiveDays }

  /** Keys that the person created are revoked along with the role. */
  const forgetKeys = (ended: { workspaceId: string }) =>
    app.sessions.accessKeys.forget(({ workspaceId }) => workspaceId === ended.workspaceId)

  app.route({
    method: 'GET',
    url: '/workspaces/:id/members',
    config: { access: memberOf('params.id'), validate: pagination.validate },
    schema: {
      operationId: 'listMembers',
      tags: ['team'],
      summary: 'List the members',
      description: 'In the order in which they joined.',
      params: WorkspaceParams,
      querystring: PageQuery,
      response: { 200: MemberPage },
    },
    handler: async ({ membership, query }) => {
      const page = await pagination.read(
        query,
        (after, rows) => listMembers(app.db, membership.workspaceId, after, rows),
        ({ member, userId }) => [member.joined_at, userId],
      )
      return {
        members: await describeMembers(context, membership.workspaceId, page.rows),
        next_cursor: page.next_cursor,
      }
    },
  })

  app.route({
    method: 'PATCH',
    url: '/workspaces/:id/members',
    config: { access: adminOf('params.id'), errors: ['member_not_found', 'last_admin'] },
    schema: {
      operationId: 'changeMemberRole',
      tags: ['team'],
      summary: "Change a member's role",
      params: WorkspaceParams,
      body: ChangeRoleBody,
      response: { 200: ref(Member) },
    },
    handler: async ({ membership, body }) => {
      const changed = await changeRole(app.database, membership, body)
      forgetKeys(membership)
      return singleRow(await describeMembers(context, membership.workspaceId, [changed]))
    },
  })

  app.route({
    method: 'DELETE',
    url: '/workspaces/:id/members',
    config: { access: adminOf('params.id'), errors: ['member_not_found', 'last_admin'] },
    schema: {
      operationId: 'removeMember',
      tags: ['team'],
      summary: 'Remove a member',
      description: 'The member loses access with their next request. Their activity in the workspace stays.',
      params: WorkspaceParams,
      querystring: MemberQuery,
      body: NoBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      await removeMember(app.database, request.membership, request.query.login)
      forgetKeys(request.membership)
      return { ok: true } as const
    },
  })

  app.route({
    method: 'POST',
    url: '/workspaces/:id/leave',
    config: { access: memberOf('params.id'), errors: ['personal_workspace', 'last_admin'] },
    schema: {
      operationId: 'leaveWorkspace',
      tags: ['team'],
      summary: 'Leave a workspace',
      description: 'The last admin has to make another member an admin first, or delete the workspace.',
      params: WorkspaceParams,
      body: NoBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      await leaveWorkspace(app.database, request.membership)
      forgetKeys(request.membership)
      return { ok: true } as const
    },
  })
}
