import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { CountsBody, CountsQuery, CountsResult } from '../../../../schemas/activity.js'
import { ref } from '../../../../schemas/common.js'
import { limits } from '../../../../schemas/limits.js'
import { validationError } from '../../../errors.js'
import { sendJsonText } from '../../../platform/http/content.js'
import { largeJson } from '../../../platform/http/large-json.js'
import { adminOfNamedWorkspace, requireAdminIn } from '../access.js'
import { checkCountsDay, uploadCounts } from '../upload-counts.js'

const writing = adminOfNamedWorkspace('counts:write')

/** @throws {ApiError} `validation_failed` */
const workspaceOf = (body: CountsBody, query: CountsQuery): string => {
  const workspace = body.workspace ?? query.workspace
  if (workspace === undefined)
    throw validationError('/body/workspace', 'is required, unless the query names the workspace')
  if (query.workspace !== undefined && workspace.toLowerCase() !== query.workspace.toLowerCase())
    throw validationError('/body/workspace', 'must be the workspace that the query names')
  return workspace
}

export const countsRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { config, database } = app
  const countsBody = largeJson(app, {
    schema: CountsBody,
    longest: 'members',
    maxBytes: limits.counts_body_bytes,
    maxValues: limits.json_values,
  })
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
        access: writing,
        accessBeforeBody: true,
        readsBody: CountsBody,
        errors: ['bad_request', 'request_timeout'],
      },
      schema: {
        operationId,
        tags: ['activity'],
        summary: `Set the ${noun} counts of a day`,
        description: `Counts are by member and repository, at most ${limits.counts_members} members with ${limits.counts_repos_per_member} repositories each. A login or repository must not appear twice (ignoring case). Counts are absolute: sending them again changes nothing, 0 removes a count, and counts that aren’t sent stay. The recording preferences of members don’t affect counts. Name the workspace in the query: then the service decides whether you may write there before it reads the body.`,
        querystring: CountsQuery,
        response: { 200: ref(CountsResult) },
      },
      handler: (request, reply) =>
        countsBody.use(request, reply, async (body) => {
          const workspaceId = workspaceOf(body, request.query)
          await checkCountsDay(database, body.day)
          const call = requireAdminIn(request.granted(writing), workspaceId)
          return sendJsonText(reply, await uploadCounts(database, config.privacy, call, kind, body))
        }),
    })
  }
}
