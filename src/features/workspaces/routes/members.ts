import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NoBody, Ok, PAGED, PageQuery, ref, WorkspaceParams } from '../../../../schemas/common.js'
import { ChangeRoleBody, Member, MemberPage, MemberQuery } from '../../../../schemas/members.js'
import { singleRow } from '../../../platform/database/statement.js'
import { paginate } from '../../../platform/http/pagination.js'
import { adminOf, memberOf } from '../access.js'
import { changeRole, leaveWorkspace, removeMember } from '../change-members.js'
import { describeMembers, type LastActiveDays } from '../describe-members.js'
import { listMembers } from '../queries/members.js'

const memberAccess = memberOf('params.id')
const adminAccess = adminOf('params.id')

const pagination = paginate('timestamp', 'uuid')

interface MemberOptions {
  /** Passed in, because the feature that reads activity builds on this one. */
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
    config: { access: memberAccess, validate: pagination.validate },
    schema: {
      operationId: 'listMembers',
      tags: ['team'],
      summary: 'List the members',
      description: `${PAGED} In the order in which they joined.`,
      params: WorkspaceParams,
      querystring: PageQuery,
      response: { 200: MemberPage },
    },
    handler: async (request) => {
      const { workspaceId } = request.granted(memberAccess)
      const page = await pagination.read(
        request.query,
        (after, rows) => listMembers(app.db, workspaceId, after, rows),
        ({ member, userId }) => [member.joined_at, userId],
      )
      return {
        members: await describeMembers(context, workspaceId, page.rows),
        next_cursor: page.next_cursor,
      }
    },
  })

  app.route({
    method: 'PATCH',
    url: '/workspaces/:id/members',
    config: { access: adminAccess, errors: ['member_not_found', 'last_admin'] },
    schema: {
      operationId: 'changeMemberRole',
      tags: ['team'],
      summary: "Change a member's role",
      params: WorkspaceParams,
      body: ChangeRoleBody,
      response: { 200: ref(Member) },
    },
    handler: async (request) => {
      const membership = request.granted(adminAccess)
      const changed = await changeRole(app.database, membership, request.body)
      forgetKeys(membership)
      return singleRow(await describeMembers(context, membership.workspaceId, [changed]))
    },
  })

  app.route({
    method: 'DELETE',
    url: '/workspaces/:id/members',
    config: { access: adminAccess, errors: ['member_not_found', 'last_admin'] },
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
      const membership = request.granted(adminAccess)
      await removeMember(app.database, membership, request.query.login)
      forgetKeys(membership)
      return { ok: true } as const
    },
  })

  app.route({
    method: 'POST',
    url: '/workspaces/:id/leave',
    config: { access: memberAccess, errors: ['personal_workspace', 'last_admin'] },
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
      const membership = request.granted(memberAccess)
      await leaveWorkspace(app.database, membership)
      forgetKeys(membership)
      return { ok: true } as const
    },
  })
}
