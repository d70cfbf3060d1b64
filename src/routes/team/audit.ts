import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { AuditPage } from '../../../schemas/audit.js'
import { PageQuery, WorkspaceParams } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import { decodeCursor, toPage, validCursor } from '../../pagination.js'
import { adminOf } from '../../policies/access.js'
import { listAuditEntries } from '../../queries/audit.js'

/** What a page of the list ends with. */
const POSITION = ['timestamp', 'uuid'] as const

export const auditRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/workspaces/:id/audit',
    config: { access: adminOf('params.id'), validate: validCursor(POSITION) },
    schema: {
      operationId: 'listAuditEntries',
      tags: ['team'],
      summary: 'Who changed what, and when',
      description: `Members, roles, invites, patterns, settings, overrides, snapshots and the name; newest first, kept for ${limits.audit_days} days.`,
      params: WorkspaceParams,
      querystring: Type.Object(PageQuery),
      response: { 200: AuditPage },
    },
    handler: async ({ params, query }) => {
      const { limit = limits.page_size_default, cursor } = query
      const after = decodeCursor(cursor, POSITION)
      const entries = await listAuditEntries(app.db, params.id, after, limit + 1)
      const page = toPage(entries, limit, (entry) => [entry.at, entry.id])
      return { entries: page.rows, next_cursor: page.next_cursor }
    },
  })
}
