/** The configuration as one resource. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  ConditionalReadHeaders,
  ConditionalWriteHeaders,
  NotModified,
  ref,
  WorkspaceParams,
} from '../../../../schemas/common.js'
import { Configuration, ConfigurationQuery, ConfigurationResult } from '../../../../schemas/configuration.js'
import { limits } from '../../../../schemas/limits.js'
import { ApiError } from '../../../errors.js'
import { isDryRun } from '../../../platform/access/caller.js'
import { JSON_TYPE } from '../../../platform/http/content.js'
import { isUnchanged, preconditionsOf } from '../../../platform/http/etag.js'
import { largeJson } from '../../../platform/http/large-json.js'
import { sendPieces } from '../../../platform/http/streaming.js'
import { adminOf, memberOf } from '../../workspaces/index.js'
import { type ConfigurationResponse, changeConfiguration } from '../change-configuration.js'
import { configurationBody, requireValidConfiguration } from '../configuration-body.js'
import { isWithinQuota } from '../queries/storage-quota.js'
import {
  ConfigurationChanged,
  etagOfConfiguration,
  readConfiguration,
  readHead,
} from '../read-configuration.js'

/** How many times to retry a configuration that changes while it's being read. */
const ATTEMPTS = 3

/** The response to a change. Both sides of all values can be as large as the workspace. */
async function* textOf({ changes, ...rest }: ConfigurationResponse): AsyncGenerator<string | Buffer> {
  yield '{"changes":['
  yield* changes.pieces
  yield `],${JSON.stringify(rest).slice(1)}`
}

export const configurationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { config, database, db } = app
  const rules = config.settingsRules
  const bodies = largeJson(app, configurationBody)
  const reading = memberOf('params.id', 'settings:read')
  const writing = { ...adminOf('params.id', 'settings:write'), dryRunScopes: ['settings:read' as const] }

  app.route({
    method: 'GET',
    url: '/workspaces/:id/configuration',
    config: { access: reading, errors: ['unavailable'] },
    schema: {
      operationId: 'getConfiguration',
      tags: ['team'],
      summary: 'Get the configuration',
      description:
        'Everything that a file in Git can hold: settings, locks, idle window, patterns and all overrides. The privacy level isn’t part of it. If someone changes a large configuration while you read it, the connection can close early: get it again.',
      params: WorkspaceParams,
      headers: ConditionalReadHeaders,
      response: { 200: ref(Configuration), 304: NotModified },
    },
    handler: async (request, reply) => {
      const { workspaceId } = request.granted(reading)
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const head = await readHead(db, workspaceId)
        if (isUnchanged(reply, etagOfConfiguration(workspaceId, head))) return reply.code(304).send(undefined)
        try {
          return await sendPieces(reply, JSON_TYPE, readConfiguration(db, workspaceId, head))
        } catch (error) {
          if (!(error instanceof ConfigurationChanged)) throw error
        }
      }
      throw new ApiError('unavailable')
    },
  })

  app.route({
    method: 'PUT',
    url: '/workspaces/:id/configuration',
    bodyLimit: limits.configuration_body_bytes,
    config: {
      access: writing,
      accessBeforeBody: true,
      readsBody: configurationBody.schema,
      errors: [
        'version_conflict',
        'settings_too_large',
        'repo_outside_patterns',
        'pattern_outside_organization',
        'workspace_limit',
        'key_locked',
        'workspace_full',
        'unavailable',
        'bad_request',
        'request_timeout',
      ],
      headers: ['ETag'],
    },
    schema: {
      operationId: 'putConfiguration',
      tags: ['team'],
      summary: 'Replace the configuration',
      description: `Replaces the sections in the body, all or nothing. Sections that aren’t in it stay, except that removing a locked or merged key from the settings also ends its lock or merge. Only overrides that change are checked against locks and patterns. With \`dry_run=true\`, the response is the same, nothing changes, and an access key needs only \`settings:read\`. Each section gets its own version and audit entry, as if you had changed it separately. A body has at most ${limits.configuration_body_bytes} bytes and ${limits.configuration_json_values} values.`,
      params: WorkspaceParams,
      querystring: ConfigurationQuery,
      headers: ConditionalWriteHeaders,
      response: { 200: ref(ConfigurationResult) },
    },
    handler: async (request, reply) => {
      const { headers, query } = request
      const answer = await bodies.use(request, reply, async (sent, takeTurn) => {
        await requireValidConfiguration(sent, config)
        const { workspaceId } = request.granted(writing)
        // Few bytes can remove all of them.
        if (sent.projects && !(await isWithinQuota(database.hot, workspaceId, limits.body_bytes)))
          await takeTurn()
        const call = { ...request.granted(writing), reason: sent.reason }
        return changeConfiguration({ database, rules, quota: config.limits }, call, {
          sent,
          preconditions: preconditionsOf(headers, query),
          dryRun: isDryRun(request),
        })
      })
      reply.header('ETag', answer.etag)
      return sendPieces(reply, JSON_TYPE, textOf(answer))
    },
  })
}
