/** Follows what instances of version 1.0.0 write while an upgrade is under way. */
import type { FastifyInstance } from 'fastify'
import { type Job, repeat } from '../../platform/process/async.js'
import { copyPreviousActivity } from './copy.js'

const PERIOD_MS = 20_000

export const startCopies = (app: FastifyInstance): Job => {
  const copy = (stop?: AbortSignal) => copyPreviousActivity(app.database, { stop })
  repeat(app, PERIOD_MS, copy, 'the copy of activity of version 1.0.0')
  return { run: () => copy() }
}
