/** Routes for WakaTime tools. They read every media type as JSON. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { v7 as uuidv7 } from 'uuid'
import { Ok, ref } from '../../../../schemas/common.js'
import {
  EditorParams,
  EditorUser,
  Heartbeat,
  HeartbeatAnswer,
  HeartbeatsAnswer,
} from '../../../../schemas/editors.js'
import { limits } from '../../../../schemas/limits.js'
import { TimezoneHeaders } from '../../../../schemas/wakatime.js'
import { validationError } from '../../../errors.js'
import { beginWork, disableAllBodyParsing } from '../../../platform/http/own-body.js'
import type { LabelsOf } from '../../../platform/metrics/metrics.js'
import { readCaller } from '../../accounts/index.js'
import { readingEditor, writingEditor } from '../access.js'
import { timezoneOf } from '../choose-days.js'
import { type HeartbeatsBody, readHeartbeats } from '../parsing/body.js'
import { projectHostOf } from '../project-names.js'
import { createHeartbeatRecorder } from '../record-heartbeats.js'

type Outcome = LabelsOf<'team_settings_heartbeats_total'>['outcome']

const COUNTED = [{ data: null }, 201]
const UNREADABLE = [{ error: 'must be an object' }, 400]

export const heartbeatRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { config, database, meter, milestones } = app
  const recordHeartbeats = createHeartbeatRecorder(database, projectHostOf(config.repohost))

  disableAllBodyParsing(app)

  const record = async (request: FastifyRequest, { heartbeats }: HeartbeatsBody) => {
    const { caller, headers, log } = request
    const { userId } = caller
    const timezone = timezoneOf(headers.timezone)
    const sent = heartbeats.filter((heartbeat) => heartbeat !== null)
    const recorded = await recordHeartbeats(userId, sent, timezone)
    const { accepted, waiting, agents } = recorded
    const ignored = Object.values(recorded.ignored).reduce((sum, count) => sum + count, 0)
    for (const [outcome, count] of Object.entries({ accepted, waiting, ignored, agents }) as [
      Outcome,
      number,
    ][])
      meter.count('team_settings_heartbeats_total', { outcome }, count)
    // The sender gets the same response for each heartbeat, whether or not it counts.
    log.debug({ heartbeats: recorded }, 'heartbeats recorded')
    if (accepted > 0) milestones.reached(userId, 'activity_flushed')
    return { responses: heartbeats.map((heartbeat) => (heartbeat ? COUNTED : UNREADABLE)) }
  }
  const shared = {
    tags: ['editors'],
    params: EditorParams,
    headers: TimezoneHeaders,
  }
  const about = `A heartbeat says that the caller worked on a project at that moment. Only \`time\`, \`project\`, \`alternate_project\` and \`category\` are read, and nothing else is stored. The minutes count on the days and in the hours of the caller’s time zone. The \`Timezone\` header becomes it, unless the caller has chosen one, or the header is a name for UTC and another one is known. Heartbeats with the category \`ai coding\` are agent time: they count separately from the caller's minutes, and only the caller sees them. The response is the same for a heartbeat that doesn’t count anywhere: it names no project, lies outside the last ${limits.flush_days_back} days, or falls under the recording preferences. Sending heartbeats again changes nothing. Every media type is read as JSON, and a byte order mark before it is skipped. An element that isn’t an object is rejected alone: its place in the response has the status 400, and the other elements count.`

  app.route({
    method: 'POST',
    url: '/users/:user/heartbeats.bulk',
    bodyLimit: limits.heartbeats_body_bytes,
    config: {
      access: writingEditor,
      accessBeforeBody: true,
      readsBody: Type.Array(ref(Heartbeat), { maxItems: limits.heartbeats, title: 'HeartbeatsBody' }),
    },
    schema: {
      ...shared,
      operationId: 'sendHeartbeats',
      summary: 'Send heartbeats',
      description: `An array of at most ${limits.heartbeats} heartbeats. ${about}`,
      response: { 202: ref(HeartbeatsAnswer) },
    },
    handler: async (request, reply) => {
      const body = await readHeartbeats(request.raw)
      await beginWork(request)
      if (body.isOne) throw validationError('/body', 'must be an array of heartbeats')
      return reply.code(202).send(await record(request, body))
    },
  })

  app.route({
    method: 'POST',
    url: '/users/:user/heartbeats',
    bodyLimit: limits.heartbeats_body_bytes,
    config: { access: writingEditor, accessBeforeBody: true, readsBody: ref(Heartbeat) },
    schema: {
      ...shared,
      operationId: 'sendHeartbeat',
      summary: 'Send a heartbeat',
      description: `One heartbeat, or an array of them. ${about}`,
      response: { 201: HeartbeatAnswer, 202: ref(HeartbeatsAnswer) },
    },
    handler: async (request, reply) => {
      const body = await readHeartbeats(request.raw)
      await beginWork(request)
      const response = await record(request, body)
      if (!body.isOne) return reply.code(202).send(response)
      return reply.code(201).send({ data: { id: uuidv7() } })
    },
  })

  app.route({
    method: 'GET',
    url: '/users/:user',
    config: { access: readingEditor },
    schema: {
      ...shared,
      operationId: 'getEditorUser',
      summary: "Get the caller in WakaTime's format",
      description: 'Editors use this operation to check a key.',
      response: { 200: EditorUser },
    },
    handler: async (request) => {
      const { id, login, avatarUrl, timezone } = await readCaller(app.db, request.caller.userId)
      return {
        data: { id, username: login, display_name: login, photo: avatarUrl, timezone: timezone ?? 'UTC' },
      }
    },
  })

  app.route({
    method: 'POST',
    url: '/plugins/errors',
    bodyLimit: limits.heartbeats_body_bytes,
    config: { access: writingEditor, accessBeforeBody: true },
    schema: {
      operationId: 'sendEditorErrors',
      tags: ['editors'],
      summary: 'Send plugin errors',
      description: 'Plugins report their errors here. The service neither keeps nor logs them.',
      response: { 201: ref(Ok) },
    },
    handler: async (request, reply) => {
      request.raw.resume()
      return reply.code(201).send({ ok: true })
    },
  })
}
