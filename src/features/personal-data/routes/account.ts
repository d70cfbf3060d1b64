/** The caller's own account: views, export and deletion. */

import cookie from '@fastify/cookie'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { AccountExport, DeleteAccountBody, ViewPage } from '../../../../schemas/account.js'
import { Ok, PAGED, PageQuery, ref } from '../../../../schemas/common.js'
import { limits } from '../../../../schemas/limits.js'
import { NoticeList } from '../../../../schemas/notices.js'
import type { Profile } from '../../../../schemas/profile.js'
import { anyCaller } from '../../../platform/access/access.js'
import { attachmentOf, JSON_TYPE } from '../../../platform/http/content.js'
import { paginate } from '../../../platform/http/pagination.js'
import { sendPieces } from '../../../platform/http/streaming.js'
import { readToday } from '../../../platform/time/clock.js'
import { personKeysOf } from '../../accounts/index.js'
import { listViews } from '../../dashboard/index.js'
import { cookieOptionsOf, sessionCookiesOf } from '../../sessions/index.js'
import { deleteAccount } from '../delete-account.js'
import { exportAccount } from '../export-account.js'
import { listNotices } from '../list-notices.js'
import { readProfile } from '../read-profile.js'

const pagination = paginate('day', 'uuid', 'uuid', 'text', 'day')

export const accountRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { config, database } = app
  const { revocations } = app.sessions
  await app.register(cookie)
  const [personKey] = personKeysOf(config.jwtSecrets)

  /** @throws {ApiError} `rate_limited`, with the first piece */
  async function* exportWithPermit(request: FastifyRequest, profile: Profile) {
    const releasePermit = await app.rateLimits.acquirePermit(request, 'export')
    try {
      yield* exportAccount(database, profile)
    } finally {
      releasePermit()
    }
  }

  app.route({
    method: 'GET',
    url: '/export',
    config: { access: anyCaller, limit: 'export', headers: ['Content-Disposition'] },
    schema: {
      operationId: 'exportAccount',
      tags: ['profile'],
      summary: "Export the caller's data",
      description: `Returns everything that the service knows about the caller as a file. A caller can fetch one file at a time, and ${limits.exports_per_hour} in an hour. A file that ends before its closing brace is incomplete: fetch it again.`,
      response: { 200: ref(AccountExport) },
    },
    handler: async (request, reply) => {
      const profile = await readProfile(database, config, request.caller.userId)
      const day = await readToday(database)
      reply.header('Content-Disposition', attachmentOf(profile.login, `_${day}.json`))
      return sendPieces(reply, JSON_TYPE, exportWithPermit(request, profile))
    },
  })

  app.route({
    method: 'GET',
    url: '/views',
    config: { access: anyCaller, validate: pagination.validate },
    schema: {
      operationId: 'listViews',
      tags: ['profile'],
      summary: "List who viewed the caller's numbers by name",
      description: `${PAGED} Views of dashboards and CSV files in which the caller is named. There is one entry for each viewer, workspace, UTC day, kind and range, newest first. Entries are kept for ${limits.view_days} days.`,
      querystring: PageQuery,
      response: { 200: ViewPage },
    },
    handler: async (request) => {
      const page = await pagination.read(
        request.query,
        (after, rows) => listViews(app.db, request.caller.userId, after, rows),
        ({ position }) => position,
      )
      return { views: page.rows.map(({ view }) => view), next_cursor: page.next_cursor }
    },
  })

  app.route({
    method: 'GET',
    url: '/notices',
    config: { access: anyCaller },
    schema: {
      operationId: 'listNotices',
      tags: ['profile'],
      summary: 'List changes that affect the caller',
      description: `Changes that others made in the caller's workspaces in the last ${limits.notice_days} days, newest first, at most ${limits.notices} of each kind: a loosened privacy level, a lock on a key that the caller's override sets, a new admin, a repository of the caller's that no longer counts, the caller's removal, and for admins, a repository that the host reported as renamed. There is at most one for each admin, repository and kind. Changes from before the caller joined aren't listed, nor those that no longer hold. A lock is listed as long as its version of the settings is kept.`,
      response: { 200: NoticeList },
    },
    handler: ({ caller }) => listNotices(database, config.privacy, caller.userId),
  })

  app.route({
    method: 'DELETE',
    url: '',
    config: {
      access: anyCaller,
      errors: ['last_admin', 'subscription_active'],
      headers: ['Set-Cookie'],
    },
    schema: {
      operationId: 'deleteAccount',
      tags: ['profile'],
      summary: "Delete the caller's account",
      description:
        'Ends all sessions and access keys, and deletes the caller’s data and the workspaces that have no other member. The caller’s activity stays in the other workspaces’ sums, without a name. Their audit trails say `deleted user`. Once the response is sent, nothing names the caller. The remaining rows are deleted within minutes. Signing in again creates a new account. If the caller was removed from a workspace or demoted there, the new account still needs an invite that was created later. Request limits carry over to the new account.',
      body: DeleteAccountBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request, reply) => {
      const { userId } = request.caller
      const generation = await deleteAccount(database, personKey, userId, request.body.confirm)
      revocations.addOlderThan(userId, generation)
      app.sessions.accessKeys.forget(({ createdBy }) => createdBy === userId)
      for (const name of sessionCookiesOf(config.homeUrl))
        reply.clearCookie(name, cookieOptionsOf(config.homeUrl))
      return { ok: true } as const
    },
  })
}
