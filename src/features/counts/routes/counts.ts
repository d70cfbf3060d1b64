import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { CountsBody, CountsResult } from '../../../../schemas/activity.js'
import { ref } from '../../../../schemas/common.js'
import { limits } from '../../../../schemas/limits.js'
import { sendJsonText } from '../../../platform/http/content.js'
import { readJsonLarge } from '../../../platform/http/large-body.js'
import { adminOf } from '../../workspaces/index.js'
import { type CountBatches, limitOpeners, reader } from '../count-batches.js'
import { checkCountsDay, uploadCounts } from '../upload-counts.js'

export const countsRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { config, database } = app
  readJsonLarge(app as never, reader, limits.counts_body_bytes, limitOpeners)
  /** The parsed body. */
  const batchesOf = (body: unknown) => body as CountBatches
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
      config: {
        access: adminOf('body.workspace', 'counts:write'),
        validate: ({ body }) => checkCountsDay(database, batchesOf(body).day),
      },
      schema: {
        operationId,
        tags: ['activity'],
        summary: `Set the ${noun} counts of a day`,
        description: `Counts are by member and repository, at most ${limits.counts_members} members with ${limits.counts_repos_per_member} repositories each. A login or repository must not appear twice (ignoring case). Counts are absolute: sending them again changes nothing, 0 removes a count, and counts that aren’t sent stay. The recording preferences of members don’t affect counts.`,
        body: CountsBody,
        response: { 200: ref(CountsResult) },
      },
      handler: async (request, reply) => {
        const answer = await uploadCounts(
          database,
          config.privacy,
          request.membership.userId,
          kind,
          batchesOf(request.body),
        )
        return sendJsonText(reply, answer)
      },
    })
  }
}
