import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { View } from '../../../../schemas/account.js'
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
import { chooseDashboardRange } from '../../minutes/index.js'
import { adminOf, memberIfNamed, type WorkspaceCall } from '../../workspaces/index.js'
import { addAgentMinutes } from '../add-agent-minutes.js'
import { type Filter, findPerson, UNKNOWN_PERSON } from '../queries/filter.js'
import { readDashboard } from '../read-dashboard.js'
import { openDashboardLines } from '../read-dashboard-csv.js'
import { readOwnTime, readOwnTimeCsv } from '../read-own-time.js'
import { createViewRecorder } from '../record-view.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** A dashboard's range, chosen before access is checked, so that invalid ranges are rejected first. */
    range: Range | null
  }
}

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

/**
 * @param options.recordView is called before the response is sent, with the days that name people
 * @param options.complete adds the properties specific to this response
 */
const sendDashboard = async (
  { database, config }: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  query: Format & { trends?: boolean; comparison?: boolean },
  { workspaceId, userId, key }: WorkspaceCall,
  filter: Filter,
  {
    recordView,
    complete = async (content) => content,
  }: {
    recordView?: (named: Range, kind: View['kind'], before?: Range) => Promise<void>
    complete?: (content: Omit<Dashboard, 'generated_at'>) => Promise<object>
  },
) => {
  const viewer = { userId: key?.workspaceId ? null : userId, ...config.privacy }
  const { trends, comparison } = query
  const asked = { viewer, workspaceId, range: request.range as Range, filter }
  if (wantsCsv(request, reply, query)) {
    const csv = await openDashboardLines(database, asked)
    if (csv.named) await recordView?.(csv.named, 'csv')
    const ending = `_${csv.range.from}_${csv.range.to}.csv`
    reply.header('Content-Disposition', attachmentOf(csv.name, ending))
    return sendPieces(reply, 'text/csv; charset=utf-8', csv.lines)
  }
  const { dashboard, named, namedBefore } = await readDashboard(database, asked, { trends })
  const read = named ?? namedBefore
  if (read) await recordView?.(read, named && !comparison ? 'dashboard' : 'comparison', named && namedBefore)
  const { generated_at, ...content } = dashboard
  return sendContent(reply, await complete(content), generated_at)
}

/** The caller's own dashboard across all workspaces. */
const sendOwnTime = async (
  { database, config }: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  query: Format & { trends?: boolean; repo?: string },
) => {
  const { id: userId, login, avatarUrl } = await readCaller(database.read, request.caller.userId)
  const range = request.range as Range
  const person = { userId, login, avatarUrl }
  const requested = { person, hostKind: config.repohost.kind, range, repoKey: query.repo?.toLowerCase() }
  if (wantsCsv(request, reply, query)) {
    const text = await readOwnTimeCsv(database, requested)
    reply.header('Content-Disposition', attachmentOf('All workspaces', `_${range.from}_${range.to}.csv`))
    return reply.type('text/csv; charset=utf-8').send(text as never)
  }
  const { generated_at, ...content } = await readOwnTime(database, requested, query)
  return sendContent(reply, content, generated_at)
}

interface Format {
  format?: 'json' | 'csv'
}

const wantsCsv = (request: FastifyRequest, reply: FastifyReply, { format }: Format): boolean => {
  reply.header('Vary', `${reply.getHeader('Vary')}, Accept`)
  return format === undefined ? prefersCsv(request.headers.accept) : format === 'csv'
}

/** The `ETag` covers everything except the time of the response. */
const sendContent = (reply: FastifyReply, content: object, generatedAt: string) => {
  const text = JSON.stringify(content)
  if (isUnchanged(reply, etagOfText(text))) return reply.code(304).send(undefined)
  return sendJsonText(reply, `${text.slice(0, -1)},"generated_at":"${generatedAt}"}`)
}

const ownAccess = memberIfNamed('activity:read')

export const dashboardRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { database } = app
  const recordView = createViewRecorder(database)
  app.decorateRequest('range', null)
  const chooseRange = async (request: FastifyRequest) => {
    const query = request.query as Static<typeof OwnDashboardQuery>
    const isGiven = query.from !== undefined || query.to !== undefined
    // A workspace key has no person, and so no time zone.
    const hasToday = !isGiven && !request.key?.workspaceId
    const { timezone } = hasToday
      ? await readCaller(database.read, request.caller.userId)
      : { timezone: null }
    request.range = await chooseDashboardRange(database, query, timezone ?? 'UTC')
  }

  app.route({
    method: 'GET',
    url: '/dashboard',
    config: {
      access: adminOf('query.workspace', 'dashboard:read'),
      validate: chooseRange,
      errors: ['invalid_range', 'member_not_found', 'member_detail_hidden'],
    },
    schema: {
      operationId: 'readDashboard',
      tags: ['activity'],
      summary: 'Read the team dashboard',
      description: `Each minute belongs to the day and hour of the time zone in which it was recorded. The range includes both ends and has at most ${limits.range_days} days. By default it is the caller’s own today and the 29 days before. No day can be later than tomorrow (UTC). For minutes, commits and closed issues, the days add up to the totals, and so do the members and the repositories. People who have left stay in the numbers, with \`role\` null. The lists of members and repositories have at most ${limits.dashboard_rows} rows, and the last row sums up all others. Where the workspace has, or had, the privacy level \`team\`, the dashboard shows whole ISO weeks as they were published on the Thursday after them. The range is widened to these weeks, no member is listed, and numbers with too few people behind them are null. The heatmap leaves out days on which fewer people other than the caller than the operator’s minimum (\`ACTIVITY_MIN_GROUP\`) had hours. Views are recorded: members who are named can read at \`GET /api/me/views\` who viewed their numbers, when, and for which range. The days of \`previous_totals\` are recorded as a comparison. With a workspace key, the heatmap is null, and the list of views shows the key’s name. ${forms}`,
      querystring: DashboardQuery,
      headers: ConditionalReadHeaders,
      response: responseWith(Dashboard),
    },
    handler: async (request, reply) => {
      const { member, repo } = request.query
      const { workspaceId, userId: callerId, key } = request.membership
      const viewerId = key?.workspaceId ? key.keyId : callerId
      const userId =
        member === undefined
          ? undefined
          : ((await findPerson(database.read, workspaceId, member)) ?? UNKNOWN_PERSON)
      const filter = { userId, repoKey: repo?.toLowerCase() }
      const view = {
        workspaceId,
        viewerId,
        memberId: userId,
        repoKey: userId === undefined ? filter.repoKey : undefined,
      }
      return sendDashboard(app, request, reply, request.query, request.membership, filter, {
        recordView: ({ from, to }, kind, before) => recordView({ ...view, from, to, kind, before }),
      })
    },
  })

  app.route({
    method: 'GET',
    url: '/dashboard/mine',
    config: {
      access: ownAccess,
      validate: chooseRange,
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
    handler: (request, reply) => {
      const membership = request.granted(ownAccess)
      if (!membership) return sendOwnTime(app, request, reply, request.query)
      const { repo } = request.query
      const { userId } = membership
      const repoKey = repo?.toLowerCase()
      return sendDashboard(
        app,
        request,
        reply,
        request.query,
        membership,
        { userId, repoKey },
        {
          complete: (content) => addAgentMinutes(database.read, userId, repoKey, content),
        },
      )
    },
  })
}
