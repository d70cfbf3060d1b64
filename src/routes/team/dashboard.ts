import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from '@sinclair/typebox'
import { ref } from '../../../schemas/common.js'
import { Dashboard, DashboardCsv, DashboardQuery } from '../../../schemas/dashboard.js'
import { limits } from '../../../schemas/limits.js'
import { prefersCsv } from '../../domain/accept.js'
import { ApiError } from '../../errors.js'
import { chooseRange } from '../../operations/choose-range.js'
import { readDashboard, readDashboardLines } from '../../operations/read-dashboard.js'
import { adminOf } from '../../policies/access.js'
import { findPerson } from '../../queries/dashboard.js'

export const dashboardRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { database } = app

  app.route({
    method: 'GET',
    url: '/dashboard',
    config: {
      access: adminOf('query.workspace'),
      validate: ({ query }) => chooseRange(database, query as Static<typeof DashboardQuery>),
      errors: ['invalid_range', 'member_not_found'],
    },
    schema: {
      operationId: 'readDashboard',
      tags: ['activity'],
      summary: 'What the team did',
      description: `UTC days, both ends included, at most ${limits.range_days}; by default today and the 29 days before. For minutes, commits and closed issues the totals are the sum of the days, of the members and of the repositories. People who have left stay in the numbers, with \`role\` null. \`Accept: text/csv\` gets one line per day and member instead.`,
      querystring: DashboardQuery,
      response: {
        200: {
          description: 'Done.',
          content: {
            'application/json': { schema: ref(Dashboard) },
            'text/csv': { schema: DashboardCsv },
          },
        },
      },
    },
    handler: async (request, reply) => {
      const { workspace, from, to, member, repo } = request.query
      const range = await chooseRange(database, { from, to })
      const userId = member === undefined ? undefined : await findPerson(database, workspace, member)
      if (member !== undefined && userId === undefined) throw new ApiError('member_not_found')
      const filter = { userId, repoKey: repo?.toLowerCase() }
      const vary = reply.getHeader('Vary')
      reply.header('Vary', vary === undefined ? 'Accept' : `${vary}, Accept`)
      if (!prefersCsv(request.headers.accept))
        return readDashboard(database, workspace, range, filter) as never
      const lines = Readable.from(readDashboardLines(database, workspace, range, filter))
      return reply.type('text/csv; charset=utf-8').send(lines as never)
    },
  })
}
