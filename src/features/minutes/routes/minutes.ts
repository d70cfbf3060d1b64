import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  FlushBody,
  FlushResult,
  MinutesOfDay,
  MinutesOfRange,
  MinutesQuery,
} from '../../../../schemas/activity.js'
import { ref } from '../../../../schemas/common.js'
import { limits } from '../../../../schemas/limits.js'
import { validationError } from '../../../errors.js'
import { anyPersonWith } from '../../../platform/access/access.js'
import { JSON_TYPE } from '../../../platform/http/content.js'
import { sendPieces } from '../../../platform/http/streaming.js'
import type { Meter } from '../../../platform/metrics/meter.js'
import { chooseRange } from '../choose-range.js'
import { readMinutesOfDay, readMinutesOfRange } from '../read-minutes.js'
import { createFlushRecorder } from '../record-active-minutes.js'

/** A duplicate's notes were already counted the first time. */
const countOutcomes = (meter: Meter, { accepted, capped, ignored, duplicate }: FlushResult) => {
  meter.count('team_settings_flushes_total', { outcome: duplicate ? 'duplicate' : 'counted' })
  if (duplicate) return
  for (const [outcome, entries] of Object.entries({ accepted, capped, ignored }))
    meter.count('team_settings_flush_entries_total', { outcome: outcome as 'accepted' }, entries)
}

export const minutesRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { database } = app
  const recordFlush = createFlushRecorder(database)

  app.route({
    method: 'POST',
    url: '/active-minutes',
    config: { access: anyPersonWith('activity:write'), errors: ['invalid_timezone', 'flush_id_reused'] },
    schema: {
      operationId: 'recordActiveMinutes',
      tags: ['activity'],
      summary: 'Add active minutes',
      description: `An entry counts in each of the caller’s workspaces that match its repository. A repository that the caller's own login owns counts only where the caller is admin. Across all repositories and devices, a member has at most ${limits.minutes_per_hour} minutes in an hour and ${limits.minutes_per_day} in a day of a workspace. Minutes beyond these caps are cut from the hour, the day and the repository alike, in the order of the entries. A day can be up to ${limits.flush_days_back} days ago or one day ahead. With a \`flush_id\`, a retry counts nothing twice. Activity that the caller has excluded (\`PUT /api/me/recording\`) doesn’t count.`,
      body: FlushBody,
      response: { 200: ref(FlushResult) },
    },
    handler: async (request) => {
      const { userId } = request.caller
      const response = await recordFlush(userId, request.body)
      // Without entries, it only names a time zone.
      if (request.body.entries.length > 0) app.milestones.reached(userId, 'activity_flushed')
      countOutcomes(app.meter, response)
      return response
    },
  })

  app.route({
    method: 'GET',
    url: '/active-minutes',
    config: { access: anyPersonWith('activity:read'), errors: ['invalid_range'] },
    schema: {
      operationId: 'listActiveMinutes',
      tags: ['activity'],
      summary: "List the caller's active minutes per workspace",
      description:
        'For one UTC day (`day`, by default today), or for each day of a range (`from`, `to`). If one end is missing, the range is 30 days long.',
      querystring: MinutesQuery,
      response: { 200: { anyOf: [ref(MinutesOfDay), ref(MinutesOfRange)] } },
    },
    handler: async (request, reply) => {
      const { day, from, to } = request.query
      const { userId } = request.caller
      const isDay = from === undefined && to === undefined
      if (!isDay && day !== undefined)
        throw validationError('/query/day', 'can’t be combined with `from` or `to`')
      const range = await chooseRange(
        database,
        isDay ? { from: day, to: day } : { from, to },
        isDay ? 1 : undefined,
      )
      const pieces = isDay
        ? readMinutesOfDay(database, userId, range.from)
        : readMinutesOfRange(database, userId, range)
      return sendPieces(reply, JSON_TYPE, pieces)
    },
  })
}
