import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CountsResult } from '../../../../schemas/activity.js'
import { ref } from '../../../../schemas/common.js'
import { limits } from '../../../../schemas/limits.js'
import { sendJsonText } from '../../../platform/http/content.js'
import { isUuid } from '../../../platform/http/formats.js'
import type { LargeBody } from '../../../platform/http/large-body.js'
import { largeJson } from '../../../platform/http/large-json.js'
import { adminOfBodyWorkspace, type Roles, requireAdminIn } from '../../workspaces/index.js'
import { reader } from '../count-batches.js'
import { NamedWorkspace } from '../named-workspace.js'
import { checkCountsDay, uploadCounts } from '../upload-counts.js'

const writing = adminOfBodyWorkspace('counts:write')

/** Receives a body, and rejects it as soon as it names a workspace where the caller can't write. */
const receiveNamed = async (body: LargeBody, roles: Roles): Promise<void> => {
  const named = new NamedWorkspace()
  let isNamed = false
  for await (const chunk of body.chunks()) {
    if (isNamed) continue
    const workspace = named.push(chunk)?.toLowerCase()
    isNamed = workspace !== undefined
    // The schema rejects any other text.
    if (workspace !== undefined && isUuid(workspace)) requireAdminIn(roles, workspace)
  }
}

export const countsRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { config, database } = app
  const countsBody = largeJson(app, reader)
  const readCounts = async (request: FastifyRequest, reply: FastifyReply, roles: Roles) => {
    const incoming = await countsBody.open(request, reply)
    try {
      await receiveNamed(incoming, roles)
      return (await countsBody.finish(request, incoming)).body
    } finally {
      incoming.close()
    }
  }
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
      config: { access: writing, accessBeforeBody: true, readsBody: reader.schema },
      schema: {
        operationId,
        tags: ['activity'],
        summary: `Set the ${noun} counts of a day`,
        description: `Counts are by member and repository, at most ${limits.counts_members} members with ${limits.counts_repos_per_member} repositories each. A login or repository must not appear twice (ignoring case). Counts are absolute: sending them again changes nothing, 0 removes a count, and counts that aren’t sent stay. The recording preferences of members don’t affect counts.`,
        response: { 200: ref(CountsResult) },
      },
      handler: async (request, reply) => {
        const roles = request.granted(writing)
        const body = await readCounts(request, reply, roles)
        await checkCountsDay(database, body.day)
        const call = requireAdminIn(roles, body.workspace)
        return sendJsonText(reply, await uploadCounts(database, config.privacy, call, kind, body))
      },
    })
  }
}
