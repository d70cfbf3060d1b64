import type { Database } from '../../platform/database/client.js'
import { readToday } from '../../platform/time/clock.js'
import { addDays, FIRST_DAY } from '../../platform/time/days.js'
import type { PrivacyRules } from '../privacy/index.js'
import { listDueWeeks, publishWeekOf } from './queries/published-weeks.js'
import { drain } from './roll-up.js'

/** Longer than any flush can be late, or any week can wait to be published. */
const RECENT_DAYS = 60

/**
 * Publishes the weeks that are due.
 * @param options.everything checks all weeks, not just those that may have become due since the last run
 */
export const publishWeeks = async (
  database: Database,
  { floor, minGroup }: PrivacyRules,
  { everything = false, stop }: { everything?: boolean; stop?: AbortSignal | undefined } = {},
): Promise<void> => {
  const from = everything ? FIRST_DAY : addDays(await readToday(database), -RECENT_DAYS)
  await drain(
    database,
    (limit) => listDueWeeks(database.read, { all: floor === 'team', from }, limit),
    {
      job: 'weeks',
      unitOf: ({ workspaceId, week }) => `${workspaceId} ${week}`,
      step: async (tx, week) => {
        await publishWeekOf(tx, week, minGroup)
        return 1
      },
    },
    stop,
  )
}
