/**
 * The service's own funnel events, each recorded once per user. Routes only note them; they are written in batches after
 * the response, and an event that this process has noted before costs nothing.
 */
import fp from 'fastify-plugin'
import type { Milestone } from '../../../schemas/funnel.js'
import { withTimeout } from '../../platform/process/async.js'
import { insertMilestones } from './queries.js'

declare module 'fastify' {
  interface FastifyInstance {
    milestones: Milestones
  }
}

export interface Milestones {
  reached(userId: string, milestone: Milestone): void
  /** Writes what has been noted so far. */
  flush(): Promise<void>
}

const DELAY_MS = 200
/** The delay after a failure. */
const RETRY_MS = 2_000
/** How long shutdown waits for the last batch. Lost events are recorded at the users' next visit. */
const LAST_MS = 500
const BATCH_SIZE = 1_000
/** The cache is cleared above this size. It only saves redundant writes. */
const MAX_CACHED_USERS = 50_000

export default fp(async (app) => {
  const known = new Set<string>()
  let noted: { userId: string; milestone: Milestone }[] = []
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()
  let isClosed = false

  const write = async () => {
    clearTimeout(timer)
    timer = undefined
    while (noted.length > 0) {
      const batch = noted.slice(0, BATCH_SIZE)
      noted = noted.slice(BATCH_SIZE)
      try {
        await insertMilestones(app.database.write, batch)
      } catch (error) {
        noted = [...batch, ...noted]
        schedule(RETRY_MS)
        throw error
      }
    }
  }
  const flush = (): Promise<void> => {
    writing = writing.catch(() => {}).then(write)
    return writing
  }
  const flushOrWarn = () =>
    flush().catch((error) => app.log.warn({ err: error }, 'milestones couldn’t be written'))
  const schedule = (delay: number) => {
    if (!isClosed) timer ??= setTimeout(flushOrWarn, delay).unref()
  }

  app.decorate('milestones', {
    reached: (userId, milestone) => {
      const name = `${milestone} ${userId}`
      if (known.has(name) || noted.length >= MAX_CACHED_USERS) return
      if (known.size >= MAX_CACHED_USERS) known.clear()
      known.add(name)
      noted.push({ userId, milestone })
      schedule(DELAY_MS)
    },
    flush,
  } satisfies Milestones)

  app.addHook('onClose', async () => {
    isClosed = true
    await withTimeout(flushOrWarn(), LAST_MS, () => {})
    clearTimeout(timer)
  })
})
