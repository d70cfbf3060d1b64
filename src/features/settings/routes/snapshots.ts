import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import {
  ConditionalReadHeaders,
  ConditionalWriteHeaders,
  NoBody,
  NotModified,
  Ok,
  RepoParams,
  ref,
  type Warnings,
} from '../../../../schemas/common.js'
import {
  PushBody,
  PushHeaders,
  PushQuery,
  PushResult,
  RestoreBody,
  SettingsQuery,
  Snapshot,
  SnapshotVersionList,
  VersionParams,
} from '../../../../schemas/settings.js'
import { settingsKeys } from '../../../../schemas/settings-keys.js'
import { ApiError } from '../../../errors.js'
import { checkPushAccess } from '../../../platform/hosts/repohost.js'
import { sendJsonText, withSettingsText } from '../../../platform/http/content.js'
import { etagOf, isUnchanged, preconditionsOf } from '../../../platform/http/etag.js'
import { chargeHostToken } from '../../../platform/rate-limits/rate-limit.js'
import { followAtPush, readPushCheck } from '../../workspaces/index.js'
import { change, pull, push, readHistory } from '../access.js'
import { deleteSettings, restoreSettings, type Written } from '../change-snapshot.js'
import { requireValidSettings, warningsOf } from '../policies/settings-rules.js'
import { pushSettings, requirePushSpelling } from '../push-settings.js'
import { type SnapshotText, type StoredSnapshot, snapshotHistory } from '../queries/snapshots.js'

/** The start and end of responses with settings. */
const beforeSettings = ({ owner, repo, workspaceId }: StoredSnapshot) => ({
  owner,
  repo,
  workspace_id: workspaceId,
})
const afterSettings = ({ version, sizeBytes, updatedAt, updatedBy }: StoredSnapshot) => ({
  version,
  size_bytes: sizeBytes,
  updated_at: updatedAt,
  updated_by: updatedBy,
})

interface Answered extends Written {
  workspaceCreated: boolean
  warnings?: Warnings
}

/** The response to a push or a restore. */
const responseOf = (
  reply: FastifyReply,
  { snapshot, changed, workspaceCreated, ...judged }: Answered,
): PushResult => {
  reply.header('ETag', etagOf(snapshot))
  return {
    ...beforeSettings(snapshot),
    ...afterSettings(snapshot),
    changed,
    workspace_created: workspaceCreated,
    ...judged,
  }
}

const sendSnapshot = (reply: FastifyReply, snapshot: SnapshotText) =>
  sendJsonText(reply, withSettingsText(beforeSettings(snapshot), snapshot.settings, afterSettings(snapshot)))

export const settingsRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { clients, database, db, milestones } = app
  const rules = app.config.settingsRules
  const judge = { keys: settingsKeys(app.config.settingsKeys), rules }

  app.route({
    method: 'GET',
    url: '/:owner/:repo',
    config: { access: pull, core: true },
    schema: {
      operationId: 'pullSettings',
      tags: ['settings'],
      summary: 'Pull repository settings',
      description:
        "The snapshot belongs to the workspace that matched. It comes from the best match among the caller's workspaces that have one. Workspaces where the caller is admin come first, then exact patterns before wildcards, then longer literal parts, then older workspaces.",
      params: RepoParams,
      querystring: SettingsQuery,
      headers: ConditionalReadHeaders,
      response: { 200: ref(Snapshot), 304: NotModified },
    },
    handler: async (request, reply) => {
      const { snapshot, settings } = request.granted(pull)
      if (!request.key?.workspaceId) milestones.reached(request.caller.userId, 'settings_pulled')
      reply.header('ETag', etagOf(snapshot))
      if (settings === null) return reply.code(304).send(undefined)
      return sendSnapshot(reply, { ...snapshot, settings })
    },
  })

  app.route({
    method: 'PUT',
    url: '/:owner/:repo',
    config: {
      access: push,
      validate: ({ body }) => requireValidSettings(judge, 'pushed', (body as PushBody).settings),
      core: true,
      limit: 'refused_host_tokens',
      errors: [
        'repohost_token_required',
        'repohost_token_invalid',
        'repo_access_denied',
        'repo_renamed',
        'version_conflict',
        'settings_too_large',
        'workspace_full',
        'upstream_failed',
        'upstream_timeout',
      ],
      headers: ['ETag'],
    },
    schema: {
      operationId: 'pushSettings',
      tags: ['settings'],
      summary: 'Push repository settings',
      description:
        'Replaces the snapshot; 401 `repohost_token_invalid` is about `X-Repohost-Token` alone, never about your session. The snapshot belongs to the workspace that matched. If none of your workspaces matches, the first push to a repository of your own creates your personal workspace. A repository of an organization needs a workspace first (409 `workspace_required`). Without `If-Match`, the last writer wins.',
      params: RepoParams,
      querystring: PushQuery,
      headers: PushHeaders,
      body: PushBody,
      response: { 200: ref(PushResult) },
    },
    handler: async (request, reply) => {
      const { query, headers, body, trace } = request
      const { caller, question, owner, repo, target } = request.granted(push)
      const sent = {
        caller,
        question,
        owner,
        repo,
        settings: body.settings,
        preconditions: preconditionsOf(headers, query),
      }
      // Before the host is asked, and once more with the settings locked.
      await requirePushSpelling(database.read, sent, target)
      const { followed, questions } = await readPushCheck(database.write, caller.id)
      const charge = await chargeHostToken(request)
      const shown = { token: headers['x-repohost-token'], userId: caller.repohostId, trace }
      const host = await checkPushAccess(clients.repohost, shown, { owner, repo }, questions)
      await charge.settle(host.outcome)
      // Runs in its own transactions: people who have left an organization leave its workspaces even if the push fails.
      await followAtPush(app, caller, followed, host.memberships)
      if (host.outcome !== 'granted') throw host.error
      const creation = { privacy: app.config.privacy.floor, quota: app.config.limits }
      const pushed = await pushSettings({ database, ...creation }, sent)
      milestones.reached(request.caller.userId, 'settings_pushed')
      return responseOf(reply, { ...pushed, ...warningsOf(rules, body.settings) })
    },
  })

  app.route({
    method: 'DELETE',
    url: '/:owner/:repo',
    config: { access: change, core: true },
    schema: {
      operationId: 'deleteSettings',
      tags: ['settings'],
      summary: 'Remove repository settings',
      description: 'Removes their history as well.',
      params: RepoParams,
      querystring: SettingsQuery,
      body: NoBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      await deleteSettings(database, request.granted(change).question)
      return { ok: true } as const
    },
  })

  app.route({
    method: 'GET',
    url: '/:owner/:repo/versions',
    config: { access: readHistory },
    schema: {
      operationId: 'listSettingsVersions',
      tags: ['settings'],
      summary: 'List the versions of the settings',
      params: RepoParams,
      querystring: SettingsQuery,
      response: { 200: SnapshotVersionList },
    },
    handler: async (request) => ({ versions: await snapshotHistory.list(db, request.granted(readHistory)) }),
  })

  app.route({
    method: 'GET',
    url: '/:owner/:repo/versions/:version',
    config: { access: readHistory, errors: ['version_not_found'] },
    schema: {
      operationId: 'pullSettingsVersion',
      tags: ['settings'],
      summary: 'Pull a version of the settings',
      params: VersionParams,
      querystring: SettingsQuery,
      headers: ConditionalReadHeaders,
      response: { 200: ref(Snapshot), 304: NotModified },
    },
    handler: async (request, reply) => {
      const version = await snapshotHistory.read(db, request.granted(readHistory), request.params.version)
      if (!version) throw new ApiError('version_not_found')
      if (isUnchanged(reply, etagOf(version))) return reply.code(304).send(undefined)
      return sendSnapshot(reply, version)
    },
  })

  app.route({
    method: 'POST',
    url: '/:owner/:repo/restore',
    config: {
      access: change,
      errors: ['version_not_found', 'version_conflict', 'workspace_full'],
      headers: ['ETag'],
    },
    schema: {
      operationId: 'restoreSettings',
      tags: ['settings'],
      summary: 'Restore an old version of the settings',
      description:
        'Creates a new version with the old content, so nothing is lost. Needs no repository host token. Without `If-Match`, the last writer wins.',
      params: RepoParams,
      querystring: PushQuery,
      headers: ConditionalWriteHeaders,
      body: RestoreBody,
      response: { 200: ref(PushResult) },
    },
    handler: async (request, reply) => {
      const { question } = request.granted(change)
      const preconditions = preconditionsOf(request.headers, request.query)
      const restored = await restoreSettings({ database, ...judge }, question, request.body, preconditions)
      return responseOf(reply, { ...restored, workspaceCreated: false })
    },
  })
}
