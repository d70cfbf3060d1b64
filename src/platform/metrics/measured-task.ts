import { type Meter, secondsSince } from './meter.js'
import type { Task } from './metrics.js'

/** Wraps a background task so that its runs are counted and timed. */
export const measuredTask =
  <Arguments extends unknown[]>(
    meter: Meter,
    task: Task,
    work: (...args: Arguments) => Promise<unknown>,
  ): ((...args: Arguments) => Promise<void>) =>
  async (...args) => {
    const since = performance.now()
    try {
      await work(...args)
      meter.count('team_settings_background_runs_total', { task, outcome: 'done' })
      meter.set('team_settings_background_last_success_timestamp_seconds', { task }, Date.now() / 1_000)
    } catch (error) {
      meter.count('team_settings_background_runs_total', { task, outcome: 'failed' })
      throw error
    } finally {
      meter.observe('team_settings_background_duration_seconds', { task }, secondsSince(since))
    }
  }
