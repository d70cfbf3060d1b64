/** Turns heartbeats into minutes. */
import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import type { Database, Db, Tx } from '../../platform/database/client.js'
import {
  createRecorder,
  type Outcome,
  type QueuedWrite,
  type Written,
} from '../../platform/database/write-queue.js'
import { reposToRemember } from '../accounts/index.js'
import { changeTimezone, lockMemberDays, tryToLockMemberDays } from '../minutes/index.js'
import { countAgents } from './count-agents.js'
import { planMinutes, targetMinutes, zoneOf } from './count-minutes.js'
import { countPersonal } from './count-personal.js'
import type { Heartbeat, Sent } from './heartbeat.js'
import { heartbeatsOf, markHeartbeats, nothing, type Recorded } from './mark-heartbeats.js'
import { isRepo, LAST_PROJECT, type Project, type ProjectHost, type SentHeartbeat } from './project-names.js'
import { type LastMarks, lockMarks, readLastMarks } from './queries/marks.js'
import { readKnown } from './read-known.js'
import { hourOf, hoursAround } from './timeline.js'
import { writePlans } from './write-plans.js'

const DAY_SECONDS = 86_400

/** How many days a time may lie outside the window, because the database's clock decides. */
const CLOCK_DAYS = 2

/** Larger batches are recorded alone. */
const TOGETHER = { heartbeats: 50, hours: 12 }

/**
 * Counts heartbeats that were sent just now. Sending them again changes nothing, in any order. Heartbeats that arrive
 * at the same time from different people are written together. The function throws an `ApiError`: `token_invalid`, and
 * `payload_too_large` for a request that would change too many rows.
 */
export const createHeartbeatRecorder = (database: Database, host: ProjectHost) => {
  const record = createRecorder(database, { recordAlone, recordTogether })
  return async (
    userId: string,
    given: readonly SentHeartbeat[],
    timezone: string | undefined,
  ): Promise<Recorded> => {
    const now = Date.now() / 1_000
    const { heartbeats: all, lacking } = heartbeatsOf(given, host)
    const heartbeats = all.filter(
      ({ time }) =>
        time > now - (limits.flush_days_back + CLOCK_DAYS) * DAY_SECONDS &&
        time < now + (1 + CLOCK_DAYS) * DAY_SECONDS,
    )
    const size = heartbeats.length
    const isAlone =
      size > TOGETHER.heartbeats ||
      heartbeats.some(({ project }) => project.name === LAST_PROJECT) ||
      hoursAround(heartbeats.map(({ minute }) => minute)).length > TOGETHER.hours
    const scope = 'workspaces' as const
    const sent = { userId, heartbeats, kind: host.kind, scope, timezone, size, isRepeatable: true }
    const recorded = size === 0 ? nothing() : await record(sent, isAlone)
    const { ignored } = recorded
    return {
      ...recorded,
      ignored: {
        ...ignored,
        time: lacking.time,
        project: ignored.project + lacking.project,
        day: ignored.day + all.length - size,
      },
    }
  }
}

const recordAlone = async (
  tx: Tx,
  database: Database,
  one: Sent & QueuedWrite,
): Promise<Written<Recorded>> => {
  const [outcome] = await recordSent(tx, database, [one], true)
  if (outcome?.kind !== 'recorded') throw new Error('Heartbeats were left out although they could wait')
  return outcome
}

const recordTogether = (tx: Tx, database: Database, all: readonly (Sent & QueuedWrite)[]) =>
  recordSent(tx, database, all, false)

const recordSent = async (
  tx: Tx,
  database: Database,
  all: readonly (Sent & QueuedWrite)[],
  waits: boolean,
): Promise<Outcome<Recorded>[]> => {
  const resolved = await Promise.all(
    all.map(async (item) => ({ ...item, item, heartbeats: await resolveLastProjects(tx, item) })),
  )
  const plans = await planHeartbeats(tx, resolved, waits)
  const recorded = plans.map(({ sent: { item, heartbeats }, userId, recorded, repos }) => {
    // Placeholders for which there is no earlier project.
    const project = item.heartbeats.length - heartbeats.length
    const result = { ...recorded, ignored: { ...recorded.ignored, project } }
    return { item, result, named: reposToRemember(database, userId, repos) }
  })
  await Promise.all(recorded.map(({ named }) => named.write(tx)))
  await writePlans(tx, plans)
  const outcomes = new Map<Sent, Outcome<Recorded>>(
    recorded.map(({ item, ...rest }) => [item, { kind: 'recorded', ...rest }]),
  )
  return all.map((item) => outcomes.get(item) ?? { kind: 'left out' })
}

/**
 * Marks the heartbeats' minutes, and counts the minutes that result from new marks.
 * @param waits whether to wait for others; if not, leaves out people who would have to wait or have a lot to count
 */
export const planHeartbeats = async <S extends Sent>(tx: Db, all: readonly S[], waits = true) => {
  const found = await readKnown(tx, all, waits)
  const isMoving = ({ sent, target }: (typeof found)[number]) =>
    sent.timezone !== undefined && sent.timezone !== target.timezone
  const known = waits ? found : found.filter((one) => !isMoving(one))
  // Before the activity lock, so that its holder never waits for the user's row.
  for (const { userId, sent } of known.filter(isMoving))
    if (sent.timezone !== undefined) await changeTimezone(tx, userId, sent.timezone)
  const targeted = await Promise.all(
    known.map(async (known) => {
      const { userId, timeline, target, projects } = known
      const marked = markHeartbeats(known)
      const { candidates, fromJoining } = marked
      const timezone = zoneOf(target, known.sent.timezone)
      const request = { userId, timeline, target, timezone, projects, candidates, fromJoining }
      const targeting = await targetMinutes(request)
      if (targeting.kind === 'too large') {
        // A batch that's too large is rejected alone.
        if (waits) throw targeting.error
        return []
      }
      const { minutes } = targeting
      return waits || minutes.isSmall ? [{ known, marked, minutes }] : []
    }),
  )
  const workspaces = targeted.flat().flatMap(({ minutes }) => minutes.workspaces)
  const days = waits ? await lockMemberDays(tx, workspaces) : await tryToLockMemberDays(tx, workspaces)
  const locked = targeted.flat().flatMap((one) => {
    const own = days.filter(({ workspace }) => workspace.userId === one.known.userId)
    const members = own.filter((one) => one.kind === 'locked')
    return members.length < own.length ? [] : [{ ...one, members }]
  })
  return Promise.all(
    locked.map(async ({ known, marked, minutes: targetedMinutes, members }) => {
      const { sent, timeline, target, involved, chosen } = known
      const minutes = await planMinutes(targetedMinutes, members)
      const { timezone } = targetedMinutes
      const personal = await countPersonal(tx, { ...known, timezone }, marked.candidates)
      const agents = await countAgents(tx, known, {
        isFromJoining: sent.isFromJoining,
        timezone: sent.timezone,
        read: { target, repoKeys: involved },
      })
      const names = new Set([...marked.lastAt.keys(), ...(sent.names ?? [])])
      return {
        ...known,
        ...marked,
        recorded: { ...marked.recorded, minutes_left_out: personal.leftOut },
        hours: timeline.toStored(),
        chosen: chosen.filter(({ name }) => names.has(name)),
        minutes,
        personal,
        agents,
      }
    }),
  )
}

const MINUTES = 60

interface Found {
  minute: number
  project: Project
}

/** The project of the last heartbeat in these hours that isn't later than the minute. */
const lastIn = (hours: LastMarks[], minute: number, kind: RepohostKind): Found | undefined => {
  let found: { minute: number; project: string } | undefined
  for (const { hour, projects, lastMarks } of hours) {
    if (hour > hourOf(minute)) continue
    const until = hour === hourOf(minute) ? minute % MINUTES : MINUTES - 1
    projects.forEach((project, index) => {
      const last = lastMarks[index]?.lastIndexOf('1', until) ?? -1
      const at = hour * MINUTES + last
      if (last !== -1 && (found === undefined || at > found.minute)) found = { minute: at, project }
    })
  }
  if (found === undefined) return undefined
  const { minute: at, project } = found
  return { minute: at, project: isRepo(project, kind) ? { repo: project } : { name: project } }
}

/**
 * Replaces the placeholder that editors send if they don't know the current project: with the project of the person's
 * nearest earlier heartbeat, stored or among these. Leaves out heartbeats without an earlier one.
 */
const resolveLastProjects = async (tx: Db, { userId, heartbeats, kind }: Sent): Promise<Heartbeat[]> => {
  const asking = heartbeats.filter(({ project }) => project.name === LAST_PROJECT)
  if (asking.length === 0) return heartbeats
  await lockMarks(tx, userId)
  const stored = await readLastMarks(tx, userId, [...new Set(asking.map(({ minute }) => hourOf(minute)))])
  let last: Found | undefined
  return heartbeats.flatMap((heartbeat) => {
    const { minute, project: given, isOfAgent } = heartbeat
    let project: Project | undefined = given
    if (given.name === LAST_PROJECT) {
      const before = lastIn(stored, minute, kind)
      project = (last && (!before || last.minute >= before.minute) ? last : before)?.project
    }
    if (project === undefined) return []
    if (!isOfAgent) last = { minute, project }
    return [{ ...heartbeat, project }]
  })
}
