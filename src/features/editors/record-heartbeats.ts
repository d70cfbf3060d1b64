/** Turns heartbeats into minutes. */
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { reposToRemember } from '../accounts/index.js'
import { lockPlaces, type QueuedWrite, recorderOf } from '../minutes/index.js'
import { countAgents } from './count-agents.js'
import { aimMinutes, planMinutes } from './count-minutes.js'
import { resolveLastProjects } from './last-project.js'
import { heartbeatsOf, markHeartbeats, nothing, type Recorded, type Sent } from './mark-heartbeats.js'
import { LAST_PROJECT, type ProjectHost, type SentHeartbeat } from './project-names.js'
import { readKnown } from './read-known.js'
import { hoursAround } from './timeline.js'
import { writePlans } from './write-plans.js'

const DAY_SECONDS = 86_400

/** How many days a time may lie outside the window, because the database's clock decides. */
const CLOCK_DAYS = 2

/** Larger batches are recorded alone. */
const TOGETHER = { heartbeats: 50, hours: 12 }

/**
 * Counts heartbeats that were sent just now. Sending them again changes nothing, in any order. Heartbeats that arrive
 * at the same time from different people are written together.
 * @throws {ApiError} `token_invalid`, and `payload_too_large` for a request that would change too many rows
 */
export const recordHeartbeats = async (
  database: Database,
  userId: string,
  given: readonly SentHeartbeat[],
  host: ProjectHost,
): Promise<Recorded> => {
  const now = Date.now() / 1_000
  const heartbeats = heartbeatsOf(given, host).filter(
    ({ time }) =>
      time > now - (limits.flush_days_back + CLOCK_DAYS) * DAY_SECONDS &&
      time < now + (1 + CLOCK_DAYS) * DAY_SECONDS,
  )
  const size = heartbeats.length
  const isAlone =
    size > TOGETHER.heartbeats ||
    heartbeats.some(({ project }) => project.name === LAST_PROJECT) ||
    hoursAround(heartbeats.map(({ minute }) => minute)).length > TOGETHER.hours
  const sent = { userId, heartbeats, kind: host.kind, size, isRepeatable: true }
  const recorded = size === 0 ? nothing : await record(database, sent, isAlone)
  return { ...recorded, ignored: given.length - recorded.accepted - recorded.waiting - recorded.agents }
}

const record = recorderOf<Sent & QueuedWrite, Recorded>(async (tx, database, all, waits) => {
  const resolved = await Promise.all(
    all.map(async (item) => ({ ...item, item, heartbeats: await resolveLastProjects(tx, item) })),
  )
  const plans = await planHeartbeats(tx, resolved, waits)
  const recorded = plans.map(({ sent: { item }, userId, recorded, repos }) => ({
    item,
    result: recorded,
    named: reposToRemember(database, userId, repos),
  }))
  await Promise.all(recorded.map(({ named }) => named.write(tx)))
  await writePlans(tx, plans)
  return recorded
})

/**
 * Marks the heartbeats' minutes, and counts the minutes that result from new marks.
 * @param waits whether to wait for others; if not, leaves out people who would have to wait or have a lot to count
 */
export const planHeartbeats = async <S extends Sent>(tx: Db, all: readonly S[], waits = true) => {
  const known = await readKnown(tx, all, waits)
  const aimed = await Promise.all(
    known.map(async (known) => {
      const { userId, timeline, target, projects } = known
      const marked = markHeartbeats(known)
      const { candidates, fromJoining } = marked
      const asked = { userId, timeline, target, projects, candidates, fromJoining }
      const minutes = await aimMinutes(asked).catch((error) => {
        // A batch that's too large is rejected alone.
        if (waits || !(error instanceof ApiError)) throw error
        return undefined
      })
      return minutes && (waits || minutes.isSmall) ? [{ known, marked, minutes, places: minutes.places }] : []
    }),
  )
  return Promise.all(
    (await lockPlaces(tx, aimed.flat(), waits)).map(async ({ aimed, members }) => {
      const { sent, userId, timeline, target, projects, involved, chosen, mayWait } = aimed.known
      const { recorded, repos, lastAt, newest } = aimed.marked
      const minutes = await planMinutes(aimed.minutes, members)
      const agents = await countAgents(tx, aimed.known, {
        isFromJoining: sent.isFromJoining,
        read: { target, repoKeys: involved },
      })
      const names = new Set([...lastAt.keys(), ...(sent.names ?? [])])
      return {
        sent,
        userId,
        projects,
        mayWait,
        recorded,
        repos,
        lastAt,
        newest,
        hours: timeline.toStored(),
        chosen: chosen.filter(({ name }) => names.has(name)),
        minutes,
        agents,
      }
    }),
  )
}
