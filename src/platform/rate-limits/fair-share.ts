/**
 * Limits how many of a caller's requests run at once. Further ones wait. This way, no caller can use up all database
 * connections or all memory for responses. Anonymous callers share a limit per address.
 */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.js'
import type { Db } from '../database/client.js'
import { onResponseEnd } from '../process/response-end.js'
import type { Work } from './working-time.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Call it once the response is produced. Null if the request holds no permit. */
    responseProduced: (() => void) | null
    /** Tracks this request's working time. Null without a session. */
    work: Work | null
    /** The connection for one short read. Heavy callers don't use the hot one, so that others don't wait behind them. */
    readonly shortReads: Db
  }
}

/** Runs before the body is read, so that waiting requests take no memory. @throws {ApiError} `rate_limited` */
export const acquireRequestPermit = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
  const { server: app, session, routeOptions } = request
  const { isProbe, needsPermit, usesDatabase } = routeOptions.config
  const isAnonymous = session instanceof ApiError
  if (!app.config.rateLimits || isProbe || needsPermit === false) return
  if (usesDatabase === false && !isAnonymous) return
  const limit = isAnonymous ? 'turns_of_address' : 'turns_of_caller'
  const release = await app.rateLimits.acquirePermit(request, limit)
  if (request.raw.socket.destroyed) {
    release()
    throw new ApiError('bad_request')
  }
  // The permit is held until the response is produced (even if the client disconnects) and delivered (even if slowly).
  let isProduced = false
  let isDelivered = false
  const releaseWhenBoth = () => {
    if (isProduced && isDelivered) release()
  }
  request.responseProduced = () => {
    isProduced = true
    releaseWhenBoth()
  }
  onResponseEnd(request, reply, () => {
    isDelivered = true
    releaseWhenBoth()
  })
}

/** Whether a request's work begins once its body is parsed. Where a handler reads the body, the handler begins it. */
export const beginsWorkAfterBody = ({ responseProduced, session, routeOptions }: FastifyRequest): boolean =>
  responseProduced !== null && !(session instanceof ApiError) && !routeOptions.config.readsBody

export const endWork = (request: FastifyRequest, payload: unknown): void => {
  request.work?.end()
  // A stream is produced while it is sent, and may still produce a piece after the client has disconnected.
  if (payload instanceof Readable) payload.once('close', () => request.responseProduced?.())
  else request.responseProduced?.()
}
