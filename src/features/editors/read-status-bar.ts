/** How long a person has worked today, for the status bars of editors. */
import type { StatusBar } from '../../../schemas/wakatime.js'
import type { Db } from '../../platform/database/client.js'
import { durationOf } from './durations.js'
import { endOf, startOf } from './local-days.js'
import { readDays } from './own-time.js'
import { nothingElse, projectEntries } from './read-summaries.js'

/** The database's clock decides what now and today are, as for everyone. */
export const readStatusBar = async (
  db: Db,
  { userId, timezone, now, today: day }: { userId: string; timezone: string; now: string; today: string },
): Promise<StatusBar> => {
  const [today] = await readDays(db, userId, timezone, { from: day, to: day, days: 1 })
  const { minutes = 0, agentMinutes = 0, projects = [] } = today ?? {}
  const total = durationOf(minutes)
  return {
    cached_at: now,
    data: {
      grand_total: total,
      categories: [
        { name: 'Coding', ...total },
        ...(agentMinutes > 0 ? [{ name: 'AI Coding', ...durationOf(agentMinutes) }] : []),
      ],
      projects: projectEntries(projects, minutes),
      ...nothingElse(),
      range: {
        date: day,
        start: new Date(startOf(timezone, day)).toISOString(),
        end: new Date(endOf(timezone, day)).toISOString(),
        text: 'Today',
        timezone,
      },
    },
  }
}
