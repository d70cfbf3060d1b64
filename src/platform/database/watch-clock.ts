/** Notices when the database's clock leaps, so that a wrong clock deletes nothing. */
import type { FastifyBaseLogger } from 'fastify'
import type { Database } from './client.js'
import { double, singleRow, statement } from './statement.js'

export interface ClockWatch {
  /** Whether data may be deleted, or weeks published, because of their age. The log says why not. */
  isSteady(): Promise<boolean>
}

const READ_CLOCK = statement(
  'read clock to compare',
  { ms: double },
  'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
)

/** Two readings that differ by more than the time between them. A slow response takes less. */
const LEAP_MS = 30_000
/** How far the machine's clock and the database's may be apart. */
const APART_MS = 7_200_000
/** Long enough to notice and correct a clock. */
const PAUSE_MS = 3_600_000

const secondsOf = (ms: number) => `${Math.round(ms / 1_000)} s`

export const watchClock = async (database: Database, log: FastifyBaseLogger): Promise<ClockWatch> => {
  /** `passed` is a time that no clock changes. */
  const read = async () => {
    const { ms } = singleRow(await database.read.rows(READ_CLOCK, []))
    return { ms, passed: performance.now() }
  }
  let last = await read()
  let pausedUntil = 0
  let areApart = false
  const isSteady = async () => {
    const now = await read()
    const leap = now.ms - last.ms - (now.passed - last.passed)
    last = now
    if (Math.abs(leap) > LEAP_MS) {
      pausedUntil = now.passed + PAUSE_MS
      log.warn(
        `The database’s clock leapt ${secondsOf(Math.abs(leap))} ${leap > 0 ? 'ahead' : 'back'}. For an hour, nothing is deleted because of its age, and no week is published. Check both clocks.`,
      )
    }
    const apart = Math.abs(now.ms - Date.now()) > APART_MS
    if (apart && !areApart)
      log.warn(
        `This machine’s clock and the database’s are ${secondsOf(Math.abs(now.ms - Date.now()))} apart. Until they agree, this instance deletes nothing because of its age, and publishes no week. Synchronize both with NTP.`,
      )
    areApart = apart
    return !apart && now.passed >= pausedUntil
  }
  return { isSteady }
}
