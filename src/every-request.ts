/**
 * The steps of every request, in order. Steps that only some routes need are in the route's access check, or
 * in a hook of its scope.
 */
import fp from 'fastify-plugin'
import { findCaller } from './features/sessions/session.js'
import {
  callerFault,
  decideAfterValidation,
  decideBeforeBody,
  isDecidedAfterValidation,
  isDecidedBeforeBody,
} from './platform/access/plugin.js'
import { headerFault, sendContinue, timeoutFault } from './platform/http/connections.js'
import { answerNotFound } from './platform/http/errors.js'
import { type BuildResponseHeaders, setCacheControl, setHeaders } from './platform/http/headers.js'
import { maintenanceFault } from './platform/http/maintenance.js'
import { beginWork } from './platform/http/own-body.js'
import { logResponse } from './platform/http/request-log.js'
import { countResponse } from './platform/http/request-metrics.js'
import { untrustedProxyWarning } from './platform/http/untrusted-proxy.js'
import { dropNeedlessContentType, faultBesideSchema } from './platform/http/validation.js'
import { acquireRequestPermit, beginsWorkAfterBody, endWork } from './platform/rate-limits/fair-share.js'
import { limitRate } from './platform/rate-limits/rate-limit.js'

/**
 * These hooks run for preflights as well. They use callbacks, because promises would cost more than the work
 * itself.
 */
export const requestHooks = fp(async (app, { headersOf }: { headersOf: BuildResponseHeaders }) => {
  const warnOfProxy = untrustedProxyWarning(app)

  app.addHook('onRequest', (request, reply, done) => {
    // Counted first, so that shutdown also waits for requests that are queued further down.
    app.lifecycle.count(request, reply)
    dropNeedlessContentType(request)
    setHeaders(headersOf, request, reply)
    warnOfProxy(request)
    done(headerFault(request))
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    // A connection that is kept alive would delay a stop, and its next request would be lost.
    if (app.lifecycle.isClosing()) reply.header('Connection', 'close')
    setCacheControl(reply)
    done(null, payload)
  })
  app.addHook('onResponse', (request, reply, done) => {
    logResponse(request, reply)
    countResponse(request, reply)
    done()
  })
})

/** Runs for everything but preflights, which the CORS library answers. */
export const admission = fp(async (app) => {
  app.addHook('onRequest', async (request, reply) => {
    await findCaller(request)
    await limitRate(request, reply)
    const fault = maintenanceFault(request) ?? (await callerFault(request))
    if (fault) throw fault
    await acquireRequestPermit(request, reply)
  })
  app.addHook('preParsing', (request, reply, payload, done) => {
    // Answered before the body is read.
    if (request.is404) {
      answerNotFound(request, reply)
      return
    }
    const proceed = () => {
      sendContinue(request, reply)
      done(null, payload)
    }
    if (isDecidedBeforeBody(request)) decideBeforeBody(request).then(proceed, done)
    else proceed()
  })
  app.addHook('preValidation', (request, _reply, done) => {
    const fault = faultBesideSchema(request) ?? timeoutFault(request)
    const { access } = request.routeOptions.config
    if (fault) return done(fault)
    const begin = async () => {
      await access?.openBody?.(request)
      if (beginsWorkAfterBody(request)) await beginWork(request)
    }
    begin().then(() => done(), done)
  })
  app.addHook('preHandler', (request, _reply, done) => {
    if (isDecidedAfterValidation(request)) decideAfterValidation(request).then(() => done(), done)
    else done()
  })
  app.addHook('onSend', (request, _reply, payload, done) => {
    endWork(request, payload)
    done(null, payload)
  })
})
