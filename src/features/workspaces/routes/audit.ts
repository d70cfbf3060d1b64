import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AuditPage } from '../../../../schemas/audit.js'
import { PAGED, PageQuery, WorkspaceParams } from '../../../../schemas/common.js'
import { limits } from '../../../../schemas/limits.js'
import { paginate } from '../../../platform/http/pagination.js'
import { adminOf } from '../access.js'
import { listAuditEntries } from '../queries/audit.js'

const adminAccess = adminOf('params.id')

const pagination = paginate('timestamp', 'uuid')

export const auditRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/workspaces/:id/audit',
    config: { access: adminAccess, validate: pagination.validate },
    schema: {
      operationId: 'listAuditEntries',
      tags: ['team'],
      summary: 'List the audit trail',
      description: `${PAGED} Shows who changed members, roles, invites, patterns, settings, overrides, snapshots or the name, and when. Entries come newest first and are kept for ${limits.audit_days} days. If entries are large, a page has fewer than \`limit\`.`,
      params: WorkspaceParams,
      querystring: PageQuery,
      response: { 200: AuditPage },
    },
    handler: async (request) => {
      const { workspaceId } = request.granted(adminAccess)
      const page = await pagination.readBounded(
        request.query,
        (after, limit) => listAuditEntries(app.db, workspaceId, after, limit),
        (entry) => [entry.at, entry.id],
      )
      return { entries: page.rows, next_cursor: page.next_cursor }
    },
  })
}
