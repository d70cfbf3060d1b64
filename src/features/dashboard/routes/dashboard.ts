import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ConditionalReadHeaders, NotModified, ref } from '../../../../schemas/common.js'
import {
  Dashboard,
  DashboardCsv,
  DashboardQuery,
  OwnDashboard,
  OwnDashboardQuery,
} from '../../../../schemas/dashboard.js'
import { limits } from '../../../../schemas/limits.js'
import { attachmentOf, prefersCsv, sendJsonText } from '../../../platform/http/content.js'
import { etagOfText, isUnchanged } from '../../../platform/http/etag.js'
import { sendPieces } from '../../../platform/http/streaming.js'
import type { Range } from '../../../platform/time/days.js'
import { readCaller } from '../../accounts/index.js'
import { adminOf, memberIfWorkspaceGiven } from '../../workspaces/index.js'
import { addAgentMinutes } from '../add-agent-minutes.js'
import { type DashboardRange, rangeIn, readRequestedRange } from '../choose-range.js'
import type { DashboardQuestion } from '../policies.js'
import { findPerson, type Subject } from '../queries/filter.js'
import { readDashboard } from '../read-dashboard.js'
import { type DashboardLines, openDashboardLines } from '../read-dashboard-csv.js'
import { readOwnTime, readOwnTimeCsv } from '../read-own-time.js'
import { createViewRecorder, viewedInDashboard, viewedInDownload } from '../record-view.js'

const responseWith = <T extends typeof Dashboard | typeof OwnDashboard>(schema: T) => ({
  200: {
    description: 'Success.',
    content: {
      'application/json': { schema: ref(schema) },
      'text/csv': { schema: DashboardCsv },
    },
  },
  304: NotModified,
})

const forms =
  'With `Accept: text/csv` or `format=csv`, the response has one line per day and member. The `ETag` changes with everything except `generated_at`.'

interface Format {
  format?: 'json' | 'csv'
}

const varyByAccept = (reply: FastifyReply) => reply.header('Vary', `${reply.getHeader('Vary')}, Accept`)

const wantsCsv = ({ headers }: FastifyRequest, { format }: Format): boolean =>
  format === undefined ? prefersCsv(headers.accept) : format === 'csv'

const CSV_TYPE = 'text/csv; charset=utf-8'

const nameFile = (reply: FastifyReply, name: string, { from, to }: Range) =>
  reply.header('Content-Disposition', attachmentOf(name, `_${from}_${to}.csv`))

const sendLines = (reply: FastifyReply, { name, shown, lines }: DashboardLines) => {
  nameFile(reply, name, shown.range)
  return sendPieces(reply, CSV_TYPE, lines)
}

const sendDashboard = (reply: FastifyReply, dashboard: Dashboard | OwnDashboard) => {
  const { generated_at, ...content } = dashboard
  const properties = Object.entries(content)
    .map(([name, value]) => `"${name}":${JSON.stringify(value)}`)
    .join()
  // The `ETag` covers everything except the time of the response.
  if (isUnchanged(reply, etagOfText(`{${properties}}`))) return reply.code(304).send(undefined)
  return sendJsonText(reply, `{${properties},"generated_at":"${generated_at}"}`)
}

const teamAccess = adminOf('query.workspace', 'dashboard:read')
const ownAccess = memberIfWorkspaceGiven('activity:read')

export const dashboardRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { config, database } = app
  const recordView = createViewRecorder(database)
  const validateRange = ({ query }: FastifyRequest) =>
    readRequestedRange(database, query as Static<typeof OwnDashboardQuery>)
  /** By default, it ends on the caller's own today. A workspace key has no person, and so no time zone. */
  const rangeFor = async (request: FastifyRequest): Promise<DashboardRange> => {
    const requested = request.validated(validateRange)
    if (requested.kind === 'given' && !requested.endsLater) return requested
    if (request.key?.workspaceId) return rangeIn(database, requested, 'UTC')
    const { timezone } = await readCaller(database.read, request.caller.userId)
    return rangeIn(database, requested, timezone ?? 'UTC')
  }

  app.route({
    method: 'GET',
    url: '/dashboard',
    config: {
      access: teamAccess,
      validate: validateRange,
      errors: ['invalid_range', 'member_not_found', 'member_detail_hidden'],
    },
    schema: {
      operationId: 'readDashboard',
      tags: ['activity'],
      summary: 'Read the team dashboard',
      description: `Each minute belongs to the day and hour of the time zone in which it was recorded. The range includes both ends and has at most ${limits.range_days} days. By default it is the caller’s own today and the 29 days before. It can end up to ${limits.range_days_ahead} days after today (UTC). Days to come are 0, and \`previous_totals\` leaves them out: it has as many days as have begun. For minutes, commits and closed issues, the days add up to the totals, and so do the members and the repositories. People who have left stay in the numbers, with \`role\` null. The lists of members and repositories have at most ${limits.dashboard_rows} rows, and the last row sums up all others. Where the workspace has, or had, the privacy level \`team\`, the dashboard shows whole ISO weeks as they were published on the Thursday after them. The range is widened to these weeks, no member is listed, and numbers with too few people behind them are null. The heatmap leaves out days on which fewer people other than the caller than the operator’s minimum (\`ACTIVITY_MIN_GROUP\`) had hours. Views are recorded: members who are named can read at \`GET /api/me/views\` who viewed their numbers, when, and for which range. The days of \`previous_totals\` are recorded as a comparison. With a workspace key, the heatmap is null, and the list of views shows the key’s name. ${forms}`,
      querystring: DashboardQuery,
      headers: ConditionalReadHeaders,
      response: responseWith(Dashboard),
    },
    handler: async (request, reply) => {
      const { query } = request
      const { workspaceId, userId, key } = request.granted(teamAccess)
      // A workspace key has no person.
      const viewer = key?.workspaceId ? { id: key.keyId, userId: null } : { id: userId, userId }
      const { range, today } = await rangeFor(request)
      const subject: Subject =
        query.member === undefined
          ? { kind: 'everyone' }
          : await findPerson(database.read, workspaceId, query.member)
      const question = {
        viewer,
        rules: config.privacy,
        workspaceId,
        range,
        today,
        subject,
        repoKey: query.repo?.toLowerCase(),
      }
      varyByAccept(reply)
      if (wantsCsv(request, query)) {
        const download = await openDashboardLines(database, question)
        const viewed = viewedInDownload(question, download)
        if (viewed.kind === 'names others') await recordView(viewed.view)
        return sendLines(reply, download)
      }
      const response = await readDashboard(database, question, query.trends === true)
      const viewed = viewedInDashboard(question, response, query.comparison === true)
      if (viewed.kind === 'names others') await recordView(viewed.view)
      return sendDashboard(reply, response.dashboard)
    },
  })

  app.route({
    method: 'GET',
    url: '/dashboard/mine',
    config: {
      access: ownAccess,
      validate: validateRange,
      errors: ['invalid_range'],
    },
    schema: {
      operationId: 'readOwnDashboard',
      tags: ['activity'],
      summary: "Read the caller's own dashboard",
      description: `The team dashboard as if the caller were its only member, hours included. It is always complete, at every privacy level. With \`workspace\`, it shows only what the caller did there. Without it, it shows all of the caller’s own time: each minute once across workspaces, those that the caller has left included, and the minutes of heartbeats and imports that no workspace counts. Commits and closed issues count once per repository. \`workspace\`, \`idle_window_minutes\` and \`role\` are then null, and minutes of names without a repository are in the last row. \`agent_minutes\` is the time of the caller’s agents, which isn’t counted anywhere else. ${forms}`,
      querystring: OwnDashboardQuery,
      headers: ConditionalReadHeaders,
      response: responseWith(OwnDashboard),
    },
    handler: async (request, reply) => {
      const { query } = request
      const { userId } = request.caller
      const { range, today } = await rangeFor(request)
      const repoKey = query.repo?.toLowerCase()
      const membership = request.granted(ownAccess)
      if (!membership) {
        const person = await readCaller(database.read, userId)
        const question = { person, hostKind: config.repohost.kind, range, today, repoKey }
        varyByAccept(reply)
        if (wantsCsv(request, query)) {
          const text = await readOwnTimeCsv(database, question)
          return nameFile(reply, 'All workspaces', range).type(CSV_TYPE).send(text)
        }
        return sendDashboard(reply, await readOwnTime(database, question, query))
      }
      const { workspaceId } = membership
      const question: DashboardQuestion = {
        viewer: { id: userId, userId },
        rules: config.privacy,
        workspaceId,
        range,
        today,
        subject: { kind: 'person', userId },
        repoKey,
      }
      varyByAccept(reply)
      if (wantsCsv(request, query)) return sendLines(reply, await openDashboardLines(database, question))
      const { dashboard } = await readDashboard(database, question, query.trends === true)
      return sendDashboard(reply, await addAgentMinutes(database, userId, repoKey, dashboard))
    },
  })
}
