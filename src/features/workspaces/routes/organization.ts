import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NoBody, Ok, PAGED, PageQuery, ref, WorkspaceParams } from '../../../../schemas/common.js'
import { limits } from '../../../../schemas/limits.js'
import { MemberQuery } from '../../../../schemas/members.js'
import {
  Organization,
  OrganizationBody,
  OrganizationHeaders,
  OrganizationMemberPage,
} from '../../../../schemas/organizations.js'
import { checkOrganizationAccess } from '../../../platform/hosts/repohost.js'
import { paginate } from '../../../platform/http/pagination.js'
import { chargeHostToken } from '../../../platform/rate-limits/rate-limit.js'
import { readCaller } from '../../accounts/index.js'
import { adminOf, memberOf } from '../access.js'
import { keepMember } from '../change-members.js'
import {
  linkOrganization,
  requireLinkable,
  requireOrganization,
  unlinkOrganization,
} from '../link-organization.js'
import { listOrganizationMembers } from '../queries/organizations.js'

const memberAccess = memberOf('params.id')
const adminAccess = adminOf('params.id')

const pagination = paginate('uuid')

export const organizationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { clients, database } = app

  app.route({
    method: 'GET',
    url: '/workspaces/:id/organization',
    config: { access: memberAccess, errors: ['organization_not_found'] },
    schema: {
      operationId: 'readOrganization',
      tags: ['team'],
      summary: 'Read which organization the workspace follows',
      params: WorkspaceParams,
      response: { 200: ref(Organization) },
    },
    handler: (request) => requireOrganization(app.db, request.granted(memberAccess).workspaceId),
  })

  app.route({
    method: 'PUT',
    url: '/workspaces/:id/organization',
    config: {
      access: adminAccess,
      limit: 'refused_host_tokens',
      errors: [
        'repohost_token_required',
        'repohost_token_invalid',
        'organization_access_denied',
        'pattern_outside_organization',
        'personal_workspace',
        'upstream_failed',
        'upstream_timeout',
      ],
    },
    schema: {
      operationId: 'linkOrganization',
      tags: ['team'],
      summary: 'Follow an organization',
      description: `The caller must own or administer the organization or the GitLab group. With \`join: member\`, its people become members of the workspace when they sign in, unless an admin has removed them or they have left. In that case, the owner of every pattern must be the organization or one of its subgroups. With \`leave: remove\`, people who leave the organization are removed from the workspace: when a webhook reports it, when they sign in, or when they push. Only a clear response from the host removes anyone, at most ${limits.removals} people per hour, and never the last admin.`,
      params: WorkspaceParams,
      headers: OrganizationHeaders,
      body: OrganizationBody,
      response: { 200: ref(Organization) },
    },
    handler: async (request) => {
      const membership = request.granted(adminAccess)
      const { body, caller, trace } = request
      const token = request.headers['x-repohost-token']
      const { repohostId } = await readCaller(database.read, caller.userId)
      // Checked before the host is asked, and again with the workspace locked.
      await requireLinkable(database.read, membership.workspaceId, body)
      const charge = await chargeHostToken(request)
      const shown = { token, userId: repohostId, trace }
      const host = await checkOrganizationAccess(clients.repohost, shown, body.organization)
      await charge.settle(host.outcome)
      if (host.outcome !== 'granted') throw host.error
      return linkOrganization(database, membership, body, host.organization)
    },
  })

  app.route({
    method: 'DELETE',
    url: '/workspaces/:id/organization',
    config: { access: adminAccess, errors: ['organization_not_found'] },
    schema: {
      operationId: 'unlinkOrganization',
      tags: ['team'],
      summary: 'Stop following an organization',
      description: 'All members stay.',
      params: WorkspaceParams,
      body: NoBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      const membership = request.granted(adminAccess)
      await unlinkOrganization(database, membership)
      return { ok: true } as const
    },
  })

  app.route({
    method: 'GET',
    url: '/workspaces/:id/organization/members',
    config: { access: adminAccess, validate: pagination.validate },
    schema: {
      operationId: 'listOrganizationMembers',
      tags: ['team'],
      summary: 'List members to check',
      description: `${PAGED} Members who have left the organization and whose removal waits for an admin, because they are the last admin or because more than ${limits.removals} people left within an hour: remove them with \`DELETE …/members\`. Also lists members who joined through the link and haven’t signed in for ${limits.membership_unconfirmed_days} days.`,
      params: WorkspaceParams,
      querystring: PageQuery,
      response: { 200: OrganizationMemberPage },
    },
    handler: async (request) => {
      const { workspaceId } = request.granted(adminAccess)
      const page = await pagination.read(
        request.query,
        (after, rows) => listOrganizationMembers(app.db, workspaceId, after, rows),
        ({ userId }) => [userId],
      )
      return { members: page.rows.map(({ member }) => member), next_cursor: page.next_cursor }
    },
  })

  app.route({
    method: 'DELETE',
    url: '/workspaces/:id/organization/members',
    config: { access: adminAccess, errors: ['member_not_found'] },
    schema: {
      operationId: 'keepMember',
      tags: ['team'],
      summary: 'Keep a member who has left the organization',
      description:
        'Takes the member off the list of members to check. If the host says again that the member has left, for example at their next sign-in, they are removed or listed again.',
      params: WorkspaceParams,
      querystring: MemberQuery,
      body: NoBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      const membership = request.granted(adminAccess)
      await keepMember(database, membership, request.query.login)
      return { ok: true } as const
    },
  })
}
