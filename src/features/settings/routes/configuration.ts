/**
 * The configuration as one resource. A replacement goes through several steps, each for a reason:
 * - The handler reads the body (`largeJson`), so that access is decided before 24 MiB arrive.
 * - A thread parses it (`read-in-thread.ts`), because so much JSON would block the event loop. It imports the reader by its
 *   module, as a function can't be sent to a thread.
 * - The reader (`configuration-reader.ts`) judges the keys there. It returns overrides as bytes, which move to this thread
 *   without a copy, where 16,384 objects would fill the heap.
 * - Large changes take turns (`configuration-permits.ts`), because each needs much memory.
 * - One transaction plans the change (`plan-configuration.ts`), an override at a time, and writes it in batches
 *   (`change-configuration.ts`), because together they'd fill the heap. A dry run only plans.
 */
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
import { adminOrDryRunOf, memberOf } from '../../workspaces/index.js'
import { type ConfigurationResponse, changeConfiguration } from '../change-configuration.js'
import { reader } from '../configuration-reader.js'
import { listSettingsFaults } from '../policies/settings-rules.js'
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
  const configurationBody = largeJson(app, reader)
  const reading = memberOf('params.id', 'settings:read')
  const writing = adminOrDryRunOf('params.id', 'settings:write', 'settings:read')

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
      readsBody: reader.schema,
      errors: [
        'version_conflict',
        'settings_too_large',
        'repo_outside_patterns',
        'pattern_outside_organization',
        'workspace_limit',
        'key_locked',
        'workspace_full',
        'unavailable',
      ],
      headers: ['ETag'],
    },
    schema: {
      operationId: 'putConfiguration',
      tags: ['team'],
      summary: 'Replace the configuration',
      description: `Replaces the sections in the body, all or nothing. Sections that aren’t in it stay, except that removing a locked key from the settings also removes its lock. Only overrides that change are checked against locks and patterns. With \`dry_run=true\`, the response is the same, nothing changes, and an access key needs only \`settings:read\`. Each section gets its own version and audit entry, as if you had changed it separately. A body has at most ${limits.configuration_body_bytes} bytes and ${limits.configuration_json_values} values.`,
      params: WorkspaceParams,
      querystring: ConfigurationQuery,
      headers: ConditionalWriteHeaders,
      response: { 200: ref(ConfigurationResult) },
    },
    handler: async (request, reply) => {
      const { headers, query } = request
      const { body, memory } = await configurationBody.read(request, reply)
      if (body.kind === 'faulty keys')
        throw new ApiError('validation_failed', { errors: listSettingsFaults(rules, body.keys) })
      const { sent } = body
      const call = { ...request.granted(writing), reason: sent.reason }
      const answer = await changeConfiguration({ database, rules, quota: config.limits }, call, {
        sent,
        preconditions: preconditionsOf(headers, query),
        dryRun: isDryRun(request),
        memory,
      }).finally(() => memory.sent.release())
      reply.header('ETag', answer.etag)
      return sendPieces(reply, JSON_TYPE, textOf(answer))
    },
  })
}
