/**
 * Maintenance: writes get 503 with the operator's message, and reads continue. `MAINTENANCE` turns it on at startup.
 * `MAINTENANCE_FILE` turns it on and off while the service runs.
 */

import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '../../errors.js'
import { repeat } from '../process/async.js'
import { codeOf } from '../process/code-of.js'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * The operator's message while writes are rejected. Background work that adds to people's data then waits as well.
     */
    maintenance: { message: string | undefined }
  }
}

const CHECK_MS = 1_000
const RETRY_AFTER_SECONDS = 60
const MAX_LENGTH = 500
const DEFAULT_MESSAGE = 'The service is under maintenance and accepts no changes. Try again later.'
const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The message in a file. Undefined if there's no such file. */
const readMessage = async (file: string): Promise<string | undefined> => {
  try {
    return (await readFile(file, 'utf8')).trim().slice(0, MAX_LENGTH) || DEFAULT_MESSAGE
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return undefined
    throw error
  }
}

export default fp(
  async (app) => {
    const { message: configured, file } = app.config.maintenance
    const maintenance: FastifyInstance['maintenance'] = { message: configured }
    const check = async () => {
      const found = configured ?? (await readMessage(file))
      if (found === maintenance.message) return
      maintenance.message = found
      app.log.warn(found === undefined ? 'maintenance has ended' : `maintenance: ${found}`)
    }
    await check()
    app.decorate('maintenance', maintenance)
    if (configured === undefined) repeat(app, CHECK_MS, check, 'the check for maintenance')
  },
  { name: 'maintenance' },
)

/** Why a write is rejected. */
export const maintenanceFault = ({ server, method, is404 }: FastifyRequest): ApiError | undefined => {
  const { message } = server.maintenance
  if (message === undefined || READS.has(method) || is404) return undefined
  return new ApiError('maintenance', { detail: message, retryAfter: RETRY_AFTER_SECONDS })
}
