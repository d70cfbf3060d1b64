import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ConditionalReadHeaders, NoBody, NotModified, Ok, RepoParams, ref } from '../../schemas/common.js'
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
} from '../../schemas/settings.js'
import type { Repohost } from '../clients/repohost.js'
import { noneMatchNames, preconditionsOf } from '../domain/etag.js'
import { repoKeysOf } from '../domain/repo-keys.js'
import { ApiError } from '../errors.js'
import { sendJsonText, withSettingsText } from '../http/json-text.js'
import { deleteSettings, restoreSettings } from '../operations/change-snapshot.js'
import { pushSettings } from '../operations/push-settings.js'
import { callerOf } from '../plugins/session.js'
import { repoAdmin, repoMember } from '../policies/access.js'
import { nothingToRead, readableHolder } from '../policies/repo-access.js'
import { etagOf } from '../queries/etag.js'
import type { RepoQuestion } from '../queries/repo-access.js'
import { listVersions, readBestSnapshot, readVersion, type SnapshotText } from '../queries/snapshots.js'
import { readUser } from '../queries/users.js'

const questionOf = (
  request: FastifyRequest,
  params: { owner: string; repo: string },
  { workspace }: { workspace?: string },
): RepoQuestion => ({
  userId: callerOf(request).userId,
  ...repoKeysOf(params),
  workspaceId: workspace,
})

const sendSnapshot = (reply: FastifyReply, snapshot: SnapshotText) => {
  const { owner, repo, workspaceId, settings, version, sizeBytes, updatedAt, updatedBy } = snapshot
  const before = { owner, repo, workspace_id: workspaceId }
  const after = { version, size_bytes: sizeBytes, updated_at: updatedAt, updated_by: updatedBy }
  return sendJsonText(reply, withSettingsText(before, settings, after))
}

export const settingsRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { database, db, milestones } = app

  /** The holder that the caller may read, for reads that need no text. */
  const holderFor = async (question: RepoQuestion) => {
    const caller = await readUser(db, question.userId)
    if (!caller) throw new ApiError('token_invalid')
    const workspaceId = await readableHolder(db, question, caller.login)
    return { ownerKey: question.ownerKey, repoKey: question.repoKey, workspaceId }
  }

  app.route({
    method: 'GET',
    url: '/:owner/:repo',
    config: {
      access: repoMember,
      core: true,
      errors: ['not_a_member', 'never_synced', 'workspace_not_found'],
    },
    schema: {
      operationId: 'pullSettings',
      tags: ['settings'],
      summary: 'Pull the settings of a repository',
      description:
        'From the best of the caller’s matching workspaces that has settings: those where the caller is admin first, then an exact pattern before a wildcard, the longer literal part, the older workspace.',
      params: RepoParams,
      querystring: SettingsQuery,
      headers: ConditionalReadHeaders,
      response: { 200: ref(Snapshot), 304: NotModified },
    },
    handler: async (request, reply) => {
      const question = questionOf(request, request.params, request.query)
      const best = await readBestSnapshot(database.hot, question, request.headers['if-none-match'])
      if (!best.snapshot) {
        if (best.ownsRepo === null) throw new ApiError('token_invalid')
        if (!best.inWorkspace) throw new ApiError('workspace_not_found')
        throw nothingToRead(best.workspaceId !== null, best.ownsRepo && !question.workspaceId)
      }
      milestones.reached(question.userId, 'settings_pulled')
      reply.header('ETag', etagOf(best.snapshot))
      if (best.settings === null) return reply.code(304).send(undefined)
      return sendSnapshot(reply, { ...best.snapshot, settings: best.settings })
    },
  })

  app.route({
    method: 'PUT',
    url: '/:owner/:repo',
    config: {
      access: repoAdmin,
      core: true,
      limit: 'hostToken',
      errors: [
        'repohost_token_required',
        'repohost_token_invalid',
        'repo_access_denied',
        'not_a_member',
        'workspace_not_found',
        'workspace_required',
        'workspace_limit',
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
      summary: 'Push the settings of a repository',
      description:
        'Replaces the snapshot. The first push of a repository of your own makes your personal workspace when none of yours matches; an organisation’s repository needs a workspace first (409 `workspace_required`). Without `If-Match` the last writer wins.',
      params: RepoParams,
      querystring: PushQuery,
      headers: PushHeaders,
      body: PushBody,
      response: { 200: ref(PushResult) },
    },
    handler: async (request, reply) => {
      const { params, query, headers, body } = request
      const { userId } = callerOf(request)
      const checkAccess: Repohost['checkAccess'] = (...access) =>
        app.rateLimits.showHostToken(request, () => app.clients.repohost.checkAccess(...access))
      const { result, etag } = await pushSettings(
        { database, repohost: { checkAccess } },
        {
          userId,
          owner: params.owner,
          repo: params.repo,
          workspaceId: query.workspace,
          settings: body.settings,
          repohostToken: headers['x-repohost-token'],
          preconditions: preconditionsOf(headers, query),
        },
      )
      milestones.reached(userId, 'settings_pushed')
      reply.header('ETag', etag)
      return result
    },
  })

  app.route({
    method: 'DELETE',
    url: '/:owner/:repo',
    config: {
      access: repoAdmin,
      core: true,
      errors: ['not_a_member', 'never_synced', 'workspace_not_found'],
    },
    schema: {
      operationId: 'deleteSettings',
      tags: ['settings'],
      summary: 'Remove the settings of a repository',
      description: 'With their history.',
      params: RepoParams,
      querystring: SettingsQuery,
      body: NoBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      await deleteSettings(database, questionOf(request, request.params, request.query))
      return { ok: true } as const
    },
  })

  app.route({
    method: 'GET',
    url: '/:owner/:repo/versions',
    config: { access: repoMember, errors: ['not_a_member', 'never_synced', 'workspace_not_found'] },
    schema: {
      operationId: 'listSettingsVersions',
      tags: ['settings'],
      summary: 'The last versions of the settings',
      params: RepoParams,
      querystring: SettingsQuery,
      response: { 200: SnapshotVersionList },
    },
    handler: async (request) => {
      const key = await holderFor(questionOf(request, request.params, request.query))
      return { versions: await listVersions(db, key) }
    },
  })

  app.route({
    method: 'GET',
    url: '/:owner/:repo/versions/:version',
    config: {
      access: repoMember,
      errors: ['not_a_member', 'never_synced', 'version_not_found', 'workspace_not_found'],
    },
    schema: {
      operationId: 'pullSettingsVersion',
      tags: ['settings'],
      summary: 'One of the last versions, whole',
      params: VersionParams,
      querystring: SettingsQuery,
      headers: ConditionalReadHeaders,
      response: { 200: ref(Snapshot), 304: NotModified },
    },
    handler: async (request, reply) => {
      const key = await holderFor(questionOf(request, request.params, request.query))
      const version = await readVersion(db, key, request.params.version)
      if (!version) throw new ApiError('version_not_found')
      const etag = etagOf(version)
      reply.header('ETag', etag)
      if (noneMatchNames(request.headers['if-none-match'], etag)) return reply.code(304).send(undefined)
      return sendSnapshot(reply, version)
    },
  })

  app.route({
    method: 'POST',
    url: '/:owner/:repo/restore',
    config: {
      access: repoAdmin,
      errors: ['not_a_member', 'never_synced', 'version_not_found', 'workspace_not_found', 'workspace_full'],
      headers: ['ETag'],
    },
    schema: {
      operationId: 'restoreSettings',
      tags: ['settings'],
      summary: 'Make an old version the newest',
      description:
        'Makes a new version with the old content; nothing is lost. Needs no token of the repository host.',
      params: RepoParams,
      querystring: SettingsQuery,
      body: RestoreBody,
      response: { 200: ref(PushResult) },
    },
    handler: async (request, reply) => {
      const question = questionOf(request, request.params, request.query)
      const { result, etag } = await restoreSettings(database, question, request.body.version)
      reply.header('ETag', etag)
      return result
    },
  })
}
