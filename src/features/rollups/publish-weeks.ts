import type { Database } from '../../platform/database/client.js'
import { couldNotConnect } from '../../platform/database/failures.js'
import { readToday } from '../../platform/time/clock.js'
import { addDays, FIRST_DAY } from '../../platform/time/days.js'
import { insertAuditEntry, type PrivacyRules, raisePrivacy, SERVICE_ACTOR } from '../workspaces/index.js'
import { listDueWeeks, publishWeekOf } from './queries/published-weeks.js'
import { tryLockRollup } from './queries/rollups.js'

/** How many weeks are listed at once. Each runs in its own transaction. */
const BATCH = 500
const WORKSPACES = 100
/** Longer than any flush can be late, or any week can wait to be published. */
const RECENT_DAYS = 60
const background = { background: true }

/**
 * Publishes the weeks that are due. Does nothing while another instance does this.
 * @param options.everything checks all weeks, not just those that may have become due since the last run
 */
export const publishWeeks = async (
  database: Database,
  { floor, minGroup }: PrivacyRules,
  { everything = false, stop }: { everything?: boolean; stop?: AbortSignal | undefined } = {},
): Promise<void> => {
  const from = everything ? FIRST_DAY : addDays(await readToday(database), -RECENT_DAYS)
  for (;;) {
    const weeks = await listDueWeeks(database.read, { all: floor === 'team', from }, BATCH)
    const failures: unknown[] = []
    for (const week of weeks) {
      if (stop?.aborted) return
      try {
        const isDone = await database.transaction(async (tx) => {
          if (!(await tryLockRollup(tx))) return false
          await publishWeekOf(tx, week, minGroup)
          return true
        }, background)
        if (!isDone) return
      } catch (error) {
        if (couldNotConnect(error)) throw error
        // A week that can't be published now doesn't hold up the others.
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
    if (weeks.length < BATCH) return
  }
}

/** Raises the level of every workspace below the operator's floor. It stays raised if the floor is removed later. */
export const raiseToFloor = async (database: Database, { floor }: PrivacyRules): Promise<void> => {
  if (floor !== 'team') return
  for (;;) {
    const raised = await database.transaction(async (tx) => {
      const ids = await raisePrivacy(tx, WORKSPACES)
      for (const workspaceId of ids)
        await insertAuditEntry(tx, {
          workspaceId,
          actor: SERVICE_ACTOR,
          action: 'activity_privacy.changed',
          details: { before: 'named', after: 'team' },
        })
      return ids.length
    }, background)
    if (raised < WORKSPACES) return
  }
}
