import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import {
  ConditionalReadHeaders,
  ConditionalWriteHeaders,
  ConditionalWriteQuery,
  NoBody,
  NotModified,
  Ok,
  PAGED,
  PageQuery,
  ref,
  type Warnings,
  WorkspaceParams,
} from '../../../../schemas/common.js'
import {
  Override,
  OverrideBody,
  OverridePage,
  OverrideParams,
  OverrideVersionParams,
} from '../../../../schemas/overrides.js'
import { RestoreBody, SnapshotVersionList } from '../../../../schemas/settings.js'
import { settingsKeys } from '../../../../schemas/settings-keys.js'
import { ApiError } from '../../../errors.js'
import { sendJsonText, withSettingsText } from '../../../platform/http/content.js'
import { isUnchanged, preconditionsOf } from '../../../platform/http/etag.js'
import { paginate } from '../../../platform/http/pagination.js'
import { yieldIfDue } from '../../../platform/process/yield-if-due.js'
import { adminOf, memberOf } from '../../workspaces/index.js'
import {
  etagOfOverride,
  overrideKeyOf,
  removeOverride,
  restoreOverride,
  setOverride,
} from '../change-overrides.js'
import {
  requireValidSettings,
  storedWarnings,
  valuesToCheck,
  warningsOf,
} from '../policies/settings-rules.js'
import { listOverrides, overrideHistory, readOverride, type StoredOverride } from '../queries/overrides.js'

const reading = memberOf('params.id', 'settings:read')
const writing = adminOf('params.id', 'settings:write')

const toText = (override: StoredOverride & { warnings?: Warnings }) => {
  const { owner, repo, settings, version, updatedAt, updatedBy, warnings } = override
  const after = { version, updated_at: updatedAt, updated_by: updatedBy, ...(warnings && { warnings }) }
  return withSettingsText({ owner, repo }, settings, after)
}

const send = (reply: FastifyReply, override: StoredOverride & { warnings?: Warnings }) => {
  reply.header('ETag', etagOfOverride(override))
  return sendJsonText(reply, toText(override))
}

const pagination = paginate('text', 'text')

export const overrideRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { config, database, db } = app
  const rules = config.settingsRules
  const withWarnings = (override: StoredOverride) => ({
    ...override,
    ...storedWarnings(rules, valuesToCheck('override', JSON.parse(override.settings))),
  })
  /** Sends an override or one of its versions, or 304 if the caller already has it. */
  const sendConditionally = (reply: FastifyReply, override: StoredOverride) =>
    isUnchanged(reply, etagOfOverride(override))
      ? reply.code(304).send(undefined)
      : sendJsonText(reply, toText(withWarnings(override)))
  const judge = { keys: settingsKeys(config.settingsKeys), rules }

  app.route({
    method: 'GET',
    url: '/workspaces/:id/project-settings',
    config: { access: reading, validate: pagination.validate },
    schema: {
      operationId: 'listOverrides',
      tags: ['team'],
      summary: 'List the repository overrides',
      description: `${PAGED} Ordered by owner and repository. If settings are large, a page has fewer rows than \`limit\`.`,
      params: WorkspaceParams,
      querystring: PageQuery,
      response: { 200: OverridePage },
    },
    handler: async (request, reply) => {
      const { workspaceId } = request.granted(reading)
      const { rows, next_cursor } = await pagination.readBounded(
        request.query,
        (after, limit) => listOverrides(db, workspaceId, after, limit),
        ({ owner, repo }) => [owner.toLowerCase(), repo.toLowerCase()],
      )
      const texts: string[] = []
      for (const row of rows) {
        texts.push(toText(withWarnings(row)))
        await yieldIfDue()
      }
      return sendJsonText(
        reply,
        `{"overrides":[${texts.join(',')}],"next_cursor":${JSON.stringify(next_cursor)}}`,
      )
    },
  })

  app.route({
    method: 'GET',
    url: '/workspaces/:id/project-settings/:owner/:repo',
    config: { access: reading, errors: ['override_not_found'] },
    schema: {
      operationId: 'getOverride',
      tags: ['team'],
      summary: 'Get a repository override',
      params: OverrideParams,
      headers: ConditionalReadHeaders,
      response: { 200: ref(Override), 304: NotModified },
    },
    handler: async (request, reply) => {
      const { workspaceId } = request.granted(reading)
      const override = await readOverride(db, overrideKeyOf({ workspaceId, ...request.params }))
      if (!override) throw new ApiError('override_not_found')
      return sendConditionally(reply, override)
    },
  })

  app.route({
    method: 'PUT',
    url: '/workspaces/:id/project-settings/:owner/:repo',
    config: {
      access: writing,
      errors: [
        'repo_outside_patterns',
        'key_locked',
        'version_conflict',
        'settings_too_large',
        'workspace_full',
      ],
      validate: ({ body }) =>
        requireValidSettings(judge, 'override', (body as Static<typeof OverrideBody>).settings),
      headers: ['ETag'],
    },
    schema: {
      operationId: 'setOverride',
      tags: ['team'],
      summary: 'Set a repository override',
      description:
        "Replaces the previous override. `null` unsets the workspace's value for this repository. If the workspace merges a key, the override's list is appended to the workspace's, and its object is merged by its names, where `null` takes one away. Sending the same content again changes nothing. An override can’t contain a key that the workspace has locked, not even with the same value. Without `If-Match`, the last writer wins.",
      params: OverrideParams,
      querystring: Type.Object(ConditionalWriteQuery),
      headers: ConditionalWriteHeaders,
      body: OverrideBody,
      response: { 200: ref(Override) },
    },
    handler: async (request, reply) => {
      const membership = request.granted(writing)
      const { params, query, headers } = request
      const { settings, reason } = request.body
      const call = { ...membership, ...params, reason }
      const override = await setOverride(database, call, settings, preconditionsOf(headers, query))
      return send(reply, { ...override, ...warningsOf(rules, valuesToCheck('override', settings)) })
    },
  })

  app.route({
    method: 'DELETE',
    url: '/workspaces/:id/project-settings/:owner/:repo',
    config: {
      access: writing,
      errors: ['override_not_found', 'version_conflict'],
    },
    schema: {
      operationId: 'removeOverride',
      tags: ['team'],
      summary: 'Remove a repository override',
      description: 'Removes its history as well.',
      params: OverrideParams,
      querystring: Type.Object(ConditionalWriteQuery),
      headers: ConditionalWriteHeaders,
      body: NoBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      const membership = request.granted(writing)
      const { params, query, headers } = request
      await removeOverride(database, { ...membership, ...params }, preconditionsOf(headers, query))
      return { ok: true } as const
    },
  })

  app.route({
    method: 'GET',
    url: '/workspaces/:id/project-settings/:owner/:repo/versions',
    config: { access: reading, errors: ['override_not_found'] },
    schema: {
      operationId: 'listOverrideVersions',
      tags: ['team'],
      summary: 'List the versions of an override',
      params: OverrideParams,
      response: { 200: SnapshotVersionList },
    },
    handler: async (request) => {
      const { workspaceId } = request.granted(reading)
      const versions = await overrideHistory.list(db, overrideKeyOf({ workspaceId, ...request.params }))
      if (versions.length === 0) throw new ApiError('override_not_found')
      return { versions }
    },
  })

  app.route({
    method: 'GET',
    url: '/workspaces/:id/project-settings/:owner/:repo/versions/:version',
    config: {
      access: reading,
      errors: ['override_not_found', 'version_not_found'],
    },
    schema: {
      operationId: 'getOverrideVersion',
      tags: ['team'],
      summary: 'Get a version of an override',
      params: OverrideVersionParams,
      headers: ConditionalReadHeaders,
      response: { 200: ref(Override), 304: NotModified },
    },
    handler: async (request, reply) => {
      const { workspaceId } = request.granted(reading)
      const key = overrideKeyOf({ workspaceId, ...request.params })
      const override = await overrideHistory.read(db, key, request.params.version)
      if (!override)
        throw new ApiError((await readOverride(db, key)) ? 'version_not_found' : 'override_not_found')
      return sendConditionally(reply, override)
    },
  })

  app.route({
    method: 'POST',
    url: '/workspaces/:id/project-settings/:owner/:repo/restore',
    config: {
      access: writing,
      errors: [
        'override_not_found',
        'version_not_found',
        'version_conflict',
        'repo_outside_patterns',
        'key_locked',
        'workspace_full',
      ],
      headers: ['ETag'],
    },
    schema: {
      operationId: 'restoreOverride',
      tags: ['team'],
      summary: 'Restore an old version of an override',
      description:
        'Creates a new version with the old content, so nothing is lost. A version with a key that’s now locked can’t be restored. Without `If-Match`, the last writer wins.',
      params: OverrideParams,
      querystring: Type.Object(ConditionalWriteQuery),
      headers: ConditionalWriteHeaders,
      body: RestoreBody,
      response: { 200: ref(Override) },
    },
    handler: async (request, reply) => {
      const membership = request.granted(writing)
      const { params, headers, query, body } = request
      const restored = await restoreOverride(
        { database, ...judge },
        { ...membership, ...params, reason: body.reason },
        body.version,
        preconditionsOf(headers, query),
      )
      return send(reply, restored)
    },
  })
}
