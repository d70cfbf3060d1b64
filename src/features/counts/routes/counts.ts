import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { CountsBody, CountsResult } from '../../../../schemas/activity.js'
import { ref } from '../../../../schemas/common.js'
import { limits } from '../../../../schemas/limits.js'
import { sendJsonText } from '../../../platform/http/json-text.js'
import { adminOf } from '../../workspaces/index.js'
import { checkCountsDay, uploadCounts } from '../upload-counts.js'
import { countsOf, readLargeCounts } from '../uploads/body.js'

export const countsRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { database } = app
  const { validatorCompiler } = readLargeCounts(app as never)
  const kinds = [
    { url: '/commits', kind: 'commits', operationId: 'uploadCommits', noun: 'commit' },
    {
      url: '/closed-issues',
      kind: 'closed_issues',
      operationId: 'uploadClosedIssues',
      noun: 'closed-issue',
    },
  ] as const
  for (const { url, kind, operationId, noun } of kinds) {
    app.route({
      method: 'POST',
      url,
      bodyLimit: limits.counts_body_bytes,
      validatorCompiler,
      config: {
        access: adminOf('body.workspace', 'counts:write'),
        validate: ({ body }) => checkCountsDay(database, countsOf(body as CountsBody).day),
      },
      schema: {
        operationId,
        tags: ['activity'],
        summary: `Set the ${noun} counts of a day`,
        description: `By member and repository: at most ${limits.counts_members} members with ${limits.counts_repos_per_member} repositories each. A login or repository must not appear twice (ignoring case). Counts are absolute: sending them again changes nothing, 0 removes a count, and counts that are not sent stay. The recording preferences of members do not affect counts.`,
        body: CountsBody,
        response: { 200: ref(CountsResult) },
      },
      handler: async (request, reply) => {
        const batches = countsOf(request.body as CountsBody)
        const answer = await uploadCounts(
          database,
          app.config.privacy,
          request.membership.userId,
          kind,
          batches,
        )
        return sendJsonText(reply, answer)
      },
    })
  }
}
