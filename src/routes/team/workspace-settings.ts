import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import {
  ConditionalReadHeaders,
  ConditionalWriteHeaders,
  ConditionalWriteQuery,
  NotModified,
  ref,
  WorkspaceParams,
} from '../../../schemas/common.js'
import { WorkspaceSettings, WorkspaceSettingsPatch } from '../../../schemas/workspace-settings.js'
import { preconditionsOf } from '../../domain/etag.js'
import { ApiError } from '../../errors.js'
import { sendJsonText, withSettingsText } from '../../http/json-text.js'
import { patchWorkspaceSettings } from '../../operations/change-workspace-settings.js'
import { adminOf, memberOf } from '../../policies/access.js'
import { etagOf } from '../../queries/etag.js'
import { type FoundWorkspaceSettings, readWorkspaceSettings } from '../../queries/workspace-settings.js'

const sendSettings = (
  reply: FastifyReply,
  id: string,
  { idleWindowMinutes, settings, version, updatedAt }: FoundWorkspaceSettings,
) => {
  reply.header('ETag', etagOf({ id, version }))
  if (settings === null) return reply.code(304).send(undefined)
  const before = { idle_window_minutes: idleWindowMinutes }
  return sendJsonText(reply, withSettingsText(before, settings, { version, updated_at: updatedAt }))
}

export const workspaceSettingsRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/workspaces/:id/settings',
    config: { access: memberOf('params.id') },
    schema: {
      operationId: 'getWorkspaceSettings',
      tags: ['team'],
      summary: "The workspace's idle window and settings",
      params: WorkspaceParams,
      headers: ConditionalReadHeaders,
      response: { 200: ref(WorkspaceSettings), 304: NotModified },
    },
    handler: async ({ membership, headers }, reply) => {
      const found = await readWorkspaceSettings(
        app.database.hot,
        membership.workspaceId,
        headers['if-none-match'],
      )
      if (!found) throw new ApiError('workspace_not_found')
      return sendSettings(reply, membership.workspaceId, found)
    },
  })

  app.route({
    method: 'PATCH',
    url: '/workspaces/:id/settings',
    config: {
      access: adminOf('params.id'),
      errors: ['settings_too_large', 'version_conflict'],
      headers: ['ETag'],
    },
    schema: {
      operationId: 'patchWorkspaceSettings',
      tags: ['team'],
      summary: 'Change the idle window, merge keys into the settings, or both',
      description:
        'Patches at the same moment come one after the other, so those of different keys all survive. What changes something raises `version` by one; what changes nothing leaves `version` and `updated_at` alone.',
      params: WorkspaceParams,
      querystring: Type.Object(ConditionalWriteQuery),
      headers: ConditionalWriteHeaders,
      body: WorkspaceSettingsPatch,
      response: { 200: ref(WorkspaceSettings) },
    },
    handler: async (request, reply) => {
      const preconditions = preconditionsOf(request.headers, request.query)
      const patched = await patchWorkspaceSettings(
        app.database,
        request.membership,
        request.body,
        preconditions,
      )
      return sendSettings(reply, request.membership.workspaceId, patched)
    },
  })
}
