/** Routes for WakaTime tools that read: status bars, exporters and the browser extension. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { EditorParams } from '../../../../schemas/editors.js'
import { limits } from '../../../../schemas/limits.js'
import {
  AllTime,
  AllTimeQuery,
  Durations,
  DurationsQuery,
  Projects,
  ProjectsQuery,
  Stats,
  StatsQuery,
  StatsRange,
  StatusBar,
  StatusBarQuery,
  Summaries,
  SummariesQuery,
  TimezoneHeaders,
} from '../../../../schemas/wakatime.js'
import { ApiError } from '../../../errors.js'
import { anyone } from '../../../platform/access/access.js'
import { readMoment } from '../../../platform/time/clock.js'
import { dayAt } from '../../../platform/time/zones.js'
import { readCaller } from '../../accounts/index.js'
import { readingEditor, timeReader } from '../access.js'
import { chooseDay, chooseDays, rangeName, rangeNamed, timezoneOf } from '../choose-days.js'
import {
  readAllTime,
  readDay,
  readProjects,
  readStats,
  readStatusBar,
  readSummaries,
} from '../read-summaries.js'

const STATS_RANGES = ['last_7_days', 'last_30_days', 'last_6_months', 'last_year', 'all_time'] as const

export const readingRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const personOf = async (request: FastifyRequest, given?: string) => {
    const [{ id, login, timezone: stored }, now] = await Promise.all([
      readCaller(app.db, request.caller.userId),
      readMoment(app.db),
    ])
    const timezone = timezoneOf(given) ?? timezoneOf(request.headers.timezone) ?? stored ?? 'UTC'
    return { userId: id, login, timezone, now, today: dayAt(timezone, Date.parse(now)) }
  }
  const shared = { tags: ['editors'], params: EditorParams, headers: TimezoneHeaders }
  const about =
    'In WakaTime’s format. Times are active minutes across all workspaces, counting each minute once. Days are those of the time zone in which the minutes were recorded. Lists of data that the service doesn’t store are empty.'

  for (const [url, operationId] of [
    ['/users/:user/statusbar/today', 'getStatusBar'],
    ['/users/:user/status_bar/today', 'getDocumentedStatusBar'],
  ] as const)
    app.route({
      method: 'GET',
      url,
      config: { access: readingEditor },
      schema: {
        ...shared,
        operationId,
        summary: "Get the caller's minutes today",
        description:
          'Today is the current day in the time zone of `timezone` or the `Timezone` header, or else in the caller’s own. Editors show the minutes in their status bar. While recording is paused, the texts end with `(paused)`. `statusbar` and `status_bar` are the same.',
        querystring: StatusBarQuery,
        response: { 200: StatusBar },
      },
      handler: async (request) => readStatusBar(app.db, await personOf(request, request.query.timezone)),
    })

  app.route({
    method: 'GET',
    url: '/users/:user/summaries',
    config: { access: timeReader, errors: ['invalid_range'] },
    schema: {
      ...shared,
      operationId: 'getSummaries',
      summary: "Get the caller's time by day",
      description: `${about} Send \`start\` and \`end\`, or \`range\`, for at most ${limits.range_days} days. A day lists at most ${limits.summary_projects_per_day} projects (fewer in long ranges), and \`Other\` sums up the rest.`,
      querystring: SummariesQuery,
      response: { 200: Summaries },
    },
    handler: async (request) => {
      const person = await personOf(request, request.query.timezone)
      const range = chooseDays(request.query, person.today)
      return readSummaries(app.db, person, range, request.query.project)
    },
  })

  const statsOf = async (
    request: FastifyRequest,
    { timezone, project }: Static<typeof StatsQuery>,
    given: string,
  ) => {
    const name = STATS_RANGES.find((range) => range === rangeName(given))
    if (name === undefined)
      throw new ApiError('route_not_found', {
        detail: `The range must be one of ${STATS_RANGES.join(', ')}.`,
      })
    const person = await personOf(request, timezone)
    const range = name === 'all_time' ? undefined : rangeNamed(name, person.today)
    return readStats(app.db, person, name, range, project)
  }

  app.route({
    method: 'GET',
    url: '/users/:user/stats',
    config: { access: timeReader },
    schema: {
      ...shared,
      operationId: 'getLastStats',
      summary: "Get the sums of the caller's last 7 days",
      description: 'The same as `stats/last_7_days`.',
      querystring: StatsQuery,
      response: { 200: Stats },
    },
    handler: (request) => statsOf(request, request.query, STATS_RANGES[0]),
  })

  app.route({
    method: 'GET',
    url: '/users/:user/stats/:range',
    config: { access: timeReader },
    schema: {
      ...shared,
      operationId: 'getStats',
      summary: "Get the sums of the caller's time",
      description: `${about} \`range\` is ${STATS_RANGES.map((range) => `\`${range}\``).join(', ')}; other ranges return 404.`,
      params: Type.Object({
        ...EditorParams.properties,
        range: StatsRange,
      }),
      querystring: StatsQuery,
      response: { 200: Stats },
    },
    handler: (request) => statsOf(request, request.query, request.params.range),
  })

  app.route({
    method: 'GET',
    url: '/users/:user/all_time_since_today',
    config: { access: timeReader },
    schema: {
      ...shared,
      operationId: 'getAllTime',
      summary: "Get all of the caller's time",
      description: about,
      querystring: AllTimeQuery,
      response: { 200: AllTime },
    },
    handler: async (request) => {
      const { project, timezone } = request.query
      return readAllTime(app.db, await personOf(request, timezone), project)
    },
  })

  app.route({
    method: 'GET',
    url: '/users/:user/projects',
    config: { access: timeReader },
    schema: {
      ...shared,
      operationId: 'getTimedProjects',
      summary: "List the caller's repositories with minutes",
      description:
        'In WakaTime’s format. `first_heartbeat_at` and `last_heartbeat_at` are the first and the last day with minutes, written as midnight in UTC.',
      querystring: ProjectsQuery,
      response: { 200: Projects },
    },
    handler: async (request) => readProjects(app.db, request.caller.userId, request.query.q ?? ''),
  })

  app.route({
    method: 'GET',
    url: '/users/:user/durations',
    config: { access: timeReader },
    schema: {
      ...shared,
      operationId: 'getDurations',
      summary: "Get the caller's time on a day by hour",
      description: `${about} One entry for each repository and UTC hour. Minutes without an hour are placed at the beginning of the day.`,
      querystring: DurationsQuery,
      response: { 200: Durations },
    },
    handler: async (request) => {
      const { date, project, timezone } = request.query
      const person = await personOf(request, timezone)
      return readDay(app.db, person, chooseDay('date', date, person.today), project)
    },
  })
}

/** The addresses that WakaTime's extensions open as the dashboard: the one in their settings without `/api`. */
export const dashboardLinks: FastifyPluginAsyncTypebox = async (app) => {
  for (const url of [
    '/api/wakatime',
    '/api/wakatime/v1',
    '/api/wakatime/v1/',
    '/wakatime',
    '/wakatime/v1',
    '/wakatime/v1/',
  ])
    app.route({
      method: 'GET',
      url,
      config: { access: anyone, limit: 'pages', usesDatabase: false },
      schema: { hide: true },
      handler: async (_, reply) =>
        reply.header('Cache-Control', 'no-cache').redirect(new URL('/', app.config.homeUrl).href),
    })
}
