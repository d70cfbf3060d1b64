/** Keeps rollups up to date, publishes weeks and deletes expired data, on one instance at a time. */
import type { FastifyInstance } from 'fastify'
import { cached, measuredTask } from '../../platform/metrics/meter.js'
import { coalesce, type Job, repeat } from '../../platform/process/async.js'
import { readToday } from '../../platform/time/clock.js'
import { publishWeeks } from './publish-weeks.js'
import { readBacklog } from './queries/rollups.js'
import { retireActivity, rollUp } from './roll-up.js'

/** Dashboards read changed days from the activity itself, so they are correct without it. */
export const ROLL_UP_MS = 300_000
/**
 * The current day of a busy team is stale again before anyone can use its rollups. They're made only for reports from
 * `activity_hours`. Made more often, they'd account for most of the WAL.
 */
export const ROLL_UP_TODAY_MS = 3_600_000
const RETIRE_MS = 3_600_000

export interface RollupJobs {
  rollups: {
    /** Rolls up what has changed so far. */
    run(): Promise<void>
    /** Rolls up the days due at this time (milliseconds since 1970): days that have ended, and at times the current day. */
    runDue(now: number): Promise<void>
    /** Deletes data past its retention period. */
    retire(): Promise<void>
  }
  /** Publishes all weeks that are due. Never rejects. Failures are tried again. */
  publishedWeeks: Job
}

export const startRollups = (app: FastifyInstance): RollupJobs => {
  const run = async (options: { before?: string | undefined; stop?: AbortSignal | undefined } = {}) => {
    await rollUp(app.database, options)
    if (await app.clock.isSteady()) await publishWeeks(app.database, app.config.privacy, options)
  }
  let todayRolledUpIn: number | undefined
  const runDue = async (now: number, stop?: AbortSignal) => {
    // The first run in each hour, at any minute, because the previous run can take longer than the pause.
    const hour = Math.floor(now / ROLL_UP_TODAY_MS)
    const before = hour === todayRolledUpIn ? await readToday(app.database) : undefined
    // Set even if the run fails. Otherwise, if one month fails, every run would roll up the current day for all others.
    todayRolledUpIn = hour
    await run({ before, stop })
  }
  const publishAll = async (stop?: AbortSignal) => {
    if (await app.clock.isSteady())
      await publishWeeks(app.database, app.config.privacy, { everything: true, stop })
  }
  const retire = async (stop?: AbortSignal) => {
    if (!(await app.clock.isSteady())) return
    // Runs before the hours are deleted.
    await publishAll(stop)
    await retireActivity(app.database, app.config.activityDetailDays, stop)
  }
  const stop = new AbortController()
  app.addHook('preClose', async () => stop.abort())
  const publish = () =>
    rollUp(app.database, { stop: stop.signal })
      .then(() => publishAll(stop.signal))
      .catch((error) => {
        if (!stop.signal.aborted) app.log.warn({ err: error }, 'weeks couldn’t be published yet')
      })
  const backlog = cached(() => readBacklog(app.database.reserved))
  app.meter.read('team_settings_rollup_stale_days', {}, async () => (await backlog())?.days)
  app.meter.read(
    'team_settings_rollup_oldest_stale_day_age_seconds',
    {},
    async () => (await backlog())?.oldest,
  )
  const rollUpDue = measuredTask(app.meter, 'rollups', (stop: AbortSignal) => runDue(Date.now(), stop))
  repeat(app, ROLL_UP_MS, rollUpDue, 'the rollup of activity', { onTheClock: true })
  repeat(app, RETIRE_MS, measuredTask(app.meter, 'retirement', retire), 'the retirement of old activity')
  return {
    rollups: { run: () => run(), runDue: (now) => runDue(now), retire: () => retire() },
    publishedWeeks: { run: coalesce(publish) },
  }
}
