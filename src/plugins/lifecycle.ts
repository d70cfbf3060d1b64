/** The life of the process as a balancer sees it, and one log line per request. */
import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { Closed, Ok, ref } from '../../schemas/common.js'
import { ApiError } from '../errors.js'
import { anyone } from '../policies/access.js'
import { isSchemaCurrent } from '../queries/migrations.js'
import { serviceVersion } from '../runtime/root.js'

const Health = Closed({ ok: Type.Literal(true), version: Type.String({ examples: ['0.1.0'] }) })

export default fp(async (app) => {
  /** Whoever asks while an answer is under way gets that one: however many ask, the database is asked by one. */
  let asked: Promise<boolean> | undefined
  const isReady = () => {
    asked ??= isSchemaCurrent(app.database.reserved).finally(() => {
      asked = undefined
    })
    return asked
  }

  app.addHook('onResponse', (request, reply, done) => {
    // The route and not the path: paths and queries can carry names and keys.
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    )
    done()
  })

  app.get(
    '/api/health',
    {
      config: { access: anyone, limit: 'none', asksDatabase: false, isProbe: true },
      schema: {
        operationId: 'getHealth',
        tags: ['service'],
        summary: 'Whether the process is alive',
        response: { 200: Health },
      },
    },
    async () => ({ ok: true, version: serviceVersion }),
  )
  app.get(
    '/api/ready',
    {
      config: { access: anyone, limit: 'none', isProbe: true },
      schema: {
        operationId: 'getReadiness',
        tags: ['service'],
        summary: 'Whether requests can be served',
        description: 'The database answers, its schema is current, and the process is not stopping.',
        response: { 200: ref(Ok) },
      },
    },
    async () => {
      if (app.isClosing() || !(await isReady())) throw new ApiError('unavailable')
      return { ok: true } as const
    },
  )
})
