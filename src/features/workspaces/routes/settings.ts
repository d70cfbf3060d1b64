import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import {
  ConditionalReadHeaders,
  ConditionalWriteHeaders,
  ConditionalWriteQuery,
  NotModified,
  type PrivacyLevel,
  ref,
  WorkspaceParams,
} from '../../../../schemas/common.js'
import { WorkspaceSettings, WorkspaceSettingsPatch } from '../../../../schemas/workspace-settings.js'
import { ApiError } from '../../../errors.js'
import { etagOf, preconditionsOf } from '../../../platform/http/etag.js'
import { sendJsonText, withSettingsText } from '../../../platform/http/json-text.js'
import { adminOf, memberOf } from '../access.js'
import { patchWorkspaceSettings } from '../change-settings.js'
import { requireFloor, stricterOf } from '../policies/privacy-levels.js'
import { type FoundWorkspaceSettings, readWorkspaceSettings } from '../queries/settings.js'

const sendSettings = (
  reply: FastifyReply,
  id: string,
  floor: PrivacyLevel,
  {
    idleWindowMinutes,
    activityPrivacy,
    activityPrivacySince,
    settings,
    version,
    updatedAt,
  }: FoundWorkspaceSettings,
) => {
  reply.header('ETag', etagOf({ id, version }))
  if (settings === null) return reply.code(304).send(undefined)
  const before = {
    idle_window_minutes: idleWindowMinutes,
    activity_privacy: stricterOf(floor, activityPrivacy),
    activity_privacy_since: activityPrivacySince,
  }
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
      summary: 'Get the workspace settings',
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
      return sendSettings(reply, membership.workspaceId, app.config.privacy.floor, found)
    },
  })

  app.route({
    method: 'PATCH',
    url: '/workspaces/:id/settings',
    config: {
      access: adminOf('params.id'),
      errors: ['settings_too_large', 'version_conflict'],
      validate: ({ body }) =>
        requireFloor(app.config.privacy.floor, body as Static<typeof WorkspaceSettingsPatch>),
      headers: ['ETag'],
    },
    schema: {
      operationId: 'patchWorkspaceSettings',
      tags: ['team'],
      summary: 'Change the workspace settings',
      description:
        'Changes the idle window or the privacy level, merges keys into the settings, or does all of it. Concurrent patches run one after the other, so patches of different keys all survive. A patch that changes something raises `version` by one. A patch that changes nothing leaves `version` and `updated_at` alone. The privacy level `team` takes effect at once, for everything that was ever recorded. Back at `named`, only the days after the change are shown by name. A level below the one that the operator requires is answered with 400 `validation_failed`.',
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
      if (patched.activityPrivacy !== 'named') void app.publishedWeeks.run()
      return sendSettings(reply, request.membership.workspaceId, app.config.privacy.floor, patched)
    },
  })
}
