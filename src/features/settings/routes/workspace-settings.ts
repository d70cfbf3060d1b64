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
  type Warnings,
  WorkspaceParams,
} from '../../../../schemas/common.js'
import { RestoreBody } from '../../../../schemas/settings.js'
import { settingsKeys } from '../../../../schemas/settings-keys.js'
import {
  WorkspaceSettings,
  WorkspaceSettingsPatch,
  WorkspaceSettingsVersion,
  WorkspaceSettingsVersionList,
  WorkspaceSettingsVersionListQuery,
  WorkspaceVersionParams,
} from '../../../../schemas/workspace-settings.js'
import { ApiError } from '../../../errors.js'
import { sendJsonText, withSettingsText } from '../../../platform/http/content.js'
import { etagOf, isUnchanged, preconditionsOf } from '../../../platform/http/etag.js'
import { requireFloor, stricterOf } from '../../privacy/index.js'
import { adminOf, memberOf } from '../../workspaces/index.js'
import { patchWorkspaceSettings, restoreWorkspaceSettings } from '../change-workspace-settings.js'
import { requireValidSettings, storedWarnings, warningsOf } from '../policies/settings-rules.js'
import { type FoundWorkspaceSettings, readWorkspaceSettings } from '../queries/workspace-settings.js'
import { listSettingVersions, settingsHistory } from '../queries/workspace-settings-history.js'

const reading = memberOf('params.id', 'settings:read')
const writing = adminOf('params.id', 'settings:write')

const sendSettings = (
  reply: FastifyReply,
  id: string,
  floor: PrivacyLevel,
  {
    idleWindowMinutes,
    activityPrivacy,
    activityPrivacySince,
    settings,
    locked,
    merged,
    version,
    updatedAt,
    warnings,
  }: FoundWorkspaceSettings & { warnings?: Warnings },
) => {
  reply.header('ETag', etagOf({ id, version }))
  if (settings === null) return reply.code(304).send(undefined)
  const before = { idle_window_minutes: idleWindowMinutes }
  const after = {
    locked: JSON.parse(locked),
    merged: JSON.parse(merged),
    activity_privacy: stricterOf(floor, activityPrivacy),
    activity_privacy_since: activityPrivacySince,
    version,
    updated_at: updatedAt,
    ...(warnings && { warnings }),
  }
  return sendJsonText(reply, withSettingsText(before, settings, after))
}

const ONLY_PEOPLE = 'No access key can change `activity_privacy`: sign in instead.'

interface SettingsOptions {
  /** Runs in the background after a privacy-level change. */
  afterLevelChange(): Promise<void>
}

export const workspaceSettingsRoutes: FastifyPluginAsyncTypebox<SettingsOptions> = async (
  app,
  { afterLevelChange },
) => {
  const { settingsRules: rules, settingsKeys: keys } = app.config
  const judge = { keys: settingsKeys(keys), rules }

  app.route({
    method: 'GET',
    url: '/workspaces/:id/settings',
    config: { access: reading },
    schema: {
      operationId: 'getWorkspaceSettings',
      tags: ['team'],
      summary: 'Get the workspace settings',
      params: WorkspaceParams,
      headers: ConditionalReadHeaders,
      response: { 200: ref(WorkspaceSettings), 304: NotModified },
    },
    handler: async (request, reply) => {
      const { workspaceId } = request.granted(reading)
      const found = await readWorkspaceSettings(
        app.database.hot,
        workspaceId,
        request.headers['if-none-match'],
      )
      if (!found) throw new ApiError('workspace_not_found')
      return sendSettings(reply, workspaceId, app.config.privacy.floor, {
        ...found,
        ...(found.settings !== null && storedWarnings(rules, JSON.parse(found.settings))),
      })
    },
  })

  app.route({
    method: 'PATCH',
    url: '/workspaces/:id/settings',
    config: {
      access: writing,
      errors: ['settings_too_large', 'version_conflict'],
      validate: ({ body }) => {
        const patch = body as Static<typeof WorkspaceSettingsPatch>
        requireFloor(app.config.privacy.floor, patch)
        requireValidSettings(judge, 'patch', patch.settings)
      },
      headers: ['ETag'],
    },
    schema: {
      operationId: 'patchWorkspaceSettings',
      tags: ['team'],
      summary: 'Change the workspace settings',
      description:
        'Changes the idle window or the privacy level, merges keys into the settings, replaces the lists of locked and merged keys, or does several of these at once. A locked key has the workspace’s value in every repository: no override can change it. An override’s list or object for a merged key is added to the workspace’s. Concurrent patches run one after the other, so patches to different keys all survive. A patch that changes something raises `version` by one. A patch that changes nothing leaves `version` and `updated_at` as they are. The privacy level `team` takes effect at once, for everything ever recorded. After a change back to `named`, only days after the week of the change are shown by name. A level below the one that the operator requires returns 400 `validation_failed`. An access key can’t change the privacy level.',
      params: WorkspaceParams,
      querystring: Type.Object(ConditionalWriteQuery),
      headers: ConditionalWriteHeaders,
      body: WorkspaceSettingsPatch,
      response: { 200: ref(WorkspaceSettings) },
    },
    handler: async (request, reply) => {
      const membership = request.granted(writing)
      if (request.key && request.body.activity_privacy !== undefined)
        throw new ApiError('scope_missing', { scope: null, detail: ONLY_PEOPLE })
      const preconditions = preconditionsOf(request.headers, request.query)
      const patched = await patchWorkspaceSettings(
        app.database,
        { ...membership, reason: request.body.reason },
        request.body,
        preconditions,
      )
      const { isLevelChanged, ...settings } = patched
      if (isLevelChanged && settings.activityPrivacy !== 'named') void afterLevelChange()
      return sendSettings(reply, membership.workspaceId, app.config.privacy.floor, {
        ...settings,
        ...warningsOf(rules, request.body.settings),
      })
    },
  })

  app.route({
    method: 'GET',
    url: '/workspaces/:id/settings/versions',
    config: { access: reading },
    schema: {
      operationId: 'listWorkspaceSettingsVersions',
      tags: ['team'],
      summary: 'List the versions of the workspace settings',
      params: WorkspaceParams,
      querystring: WorkspaceSettingsVersionListQuery,
      response: { 200: WorkspaceSettingsVersionList },
    },
    handler: async (request) => {
      const { workspaceId } = request.granted(reading)
      const { key } = request.query
      const listing =
        key === undefined
          ? settingsHistory.list(app.db, workspaceId)
          : listSettingVersions(app.db, workspaceId, key)
      return { versions: await listing }
    },
  })

  app.route({
    method: 'GET',
    url: '/workspaces/:id/settings/versions/:version',
    config: { access: reading, errors: ['version_not_found'] },
    schema: {
      operationId: 'getWorkspaceSettingsVersion',
      tags: ['team'],
      summary: 'Get a version of the workspace settings',
      params: WorkspaceVersionParams,
      headers: ConditionalReadHeaders,
      response: { 200: ref(WorkspaceSettingsVersion), 304: NotModified },
    },
    handler: async (request, reply) => {
      const { workspaceId } = request.granted(reading)
      const found = await settingsHistory.read(app.db, workspaceId, request.params.version)
      if (!found) throw new ApiError('version_not_found')
      const { settings, locked, merged, idleWindowMinutes, version, updatedAt, updatedBy } = found
      // Separate from the ETag of the current settings, which have their own properties.
      const etag = etagOf({ id: `${workspaceId}-version`, version })
      if (isUnchanged(reply, etag)) return reply.code(304).send(undefined)
      const after = {
        locked: JSON.parse(locked),
        merged: JSON.parse(merged),
        version,
        size_bytes: Buffer.byteLength(settings),
        updated_at: updatedAt,
        updated_by: updatedBy,
      }
      return sendJsonText(
        reply,
        withSettingsText({ idle_window_minutes: idleWindowMinutes }, settings, after),
      )
    },
  })

  app.route({
    method: 'POST',
    url: '/workspaces/:id/settings/restore',
    config: {
      access: writing,
      errors: ['version_not_found', 'version_conflict'],
      headers: ['ETag'],
    },
    schema: {
      operationId: 'restoreWorkspaceSettings',
      tags: ['team'],
      summary: 'Restore an old version of the workspace settings',
      description:
        'Creates a new version with the old one’s settings, locks, merges and idle window, so nothing is lost. The privacy level stays as it is. Without `If-Match`, the last writer wins.',
      params: WorkspaceParams,
      querystring: Type.Object(ConditionalWriteQuery),
      headers: ConditionalWriteHeaders,
      body: RestoreBody,
      response: { 200: ref(WorkspaceSettings) },
    },
    handler: async (request, reply) => {
      const membership = request.granted(writing)
      const { headers, query, body } = request
      const { database, config } = app
      const restored = await restoreWorkspaceSettings(
        { database, ...judge },
        { ...membership, reason: body.reason },
        body.version,
        preconditionsOf(headers, query),
      )
      return sendSettings(reply, membership.workspaceId, config.privacy.floor, restored)
    },
  })
}
