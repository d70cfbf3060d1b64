/**
 * The service's own funnel events, each once per user. Routes only note them: they are written in small batches after
 * the answer, and what this process has written before costs nothing.
 */
import fp from 'fastify-plugin'
import type { Milestone } from '../../schemas/funnel.js'
import { insertMilestones } from '../queries/funnel.js'

declare module 'fastify' {
  interface FastifyInstance {
    milestones: Milestones
  }
}

export interface Milestones {
  reached(userId: string, milestone: Milestone): void
  /** Writes what was noted so far. */
  flush(): Promise<void>
}

const DELAY_MS = 200
const BATCH = 1_000
/** More than this is forgotten: the database knows what it has, and the users will come again. */
const REMEMBERED = 50_000

export default fp(async (app) => {
  const known = new Set<string>()
  let noted: { userId: string; milestone: Milestone }[] = []
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()

  const write = async () => {
    clearTimeout(timer)
    timer = undefined
    while (noted.length > 0) {
      const batch = noted.slice(0, BATCH)
      noted = noted.slice(BATCH)
      try {
        await insertMilestones(app.database, batch)
      } catch (error) {
        noted = [...batch, ...noted]
        throw error
      }
    }
  }
  const flush = (): Promise<void> => {
    writing = writing.catch(() => {}).then(write)
    return writing
  }
  const schedule = () => {
    timer ??= setTimeout(() => {
      flush().catch((error) => {
        app.log.warn({ err: error }, 'milestones could not be written')
        schedule()
      })
    }, DELAY_MS).unref()
  }

  app.decorate('milestones', {
    reached: (userId, milestone) => {
      const name = `${milestone} ${userId}`
      if (known.has(name) || noted.length >= REMEMBERED) return
      if (known.size >= REMEMBERED) known.clear()
      known.add(name)
      noted.push({ userId, milestone })
      schedule()
    },
    flush,
  } satisfies Milestones)

  app.addHook('onClose', async () => {
    await flush().catch((error) => app.log.warn({ err: error }, 'milestones could not be written'))
    clearTimeout(timer)
  })
})
