/** Removes the remaining data of deleted accounts in the background; on one instance at a time. */
import type { FastifyInstance } from 'fastify'
import { measuredTask } from '../../platform/metrics/meter.js'
import { type Job, repeat } from '../../platform/process/async.js'
import { eraseAccounts } from './delete-account.js'

const PERIOD_MS = 10_000

/** Its `run` removes everything that can already be removed. */
export const startErasures = (app: FastifyInstance): Job => {
  const erase = measuredTask(app.meter, 'erasures', (stop: AbortSignal) => eraseAccounts(app.database, stop))
  repeat(app, PERIOD_MS, erase, 'the erasure of accounts')
  return { run: () => eraseAccounts(app.database) }
}
