/** What `npm run migrate` would do, in lines for an operator. */
import type postgres from 'postgres'
import { inDedicatedSession } from '../platform/database/dedicated-session.js'
import {
  isCurrent,
  newestMigration,
  readNewestMigration,
  readPending,
  requireUsable,
} from '../platform/database/migrate.js'
import type { Step } from '../platform/database/migration-plan.js'
import { count, readSizes, rowsOf } from '../platform/database/migration-progress.js'

/** @throws {OperatorError} when a newer version has migrated the database, or the service cannot use it */
export const describePlan = (url: string, stopped: AbortSignal): Promise<string[]> =>
  inDedicatedSession(url, stopped, async (sql) => {
    await requireUsable(sql)
    if (await isCurrent(sql)) return [`The database is current: ${newestMigration.tag}. Nothing would run.`]
    if ((await readNewestMigration(sql)) === undefined)
      return ['The database has no tables of this service. All would be made in one transaction.']
    return describePending(sql)
  })

const describePending = async (sql: postgres.Sql): Promise<string[]> => {
  const sizes = await readSizes(sql)
  const pending = await readPending(sql)
  return pending.flatMap(({ tag, steps }) => [
    tag,
    ...steps.flatMap((step, n) => [
      `  ${n + 1}. ${step.commands.map(firstLine).join('\n     ')}`,
      `     ${[locked(step), blocked(step), rows(step, sizes)].join('; ')}`,
    ]),
  ])
}

const MOST_SHOWN = 110

const firstLine = (command: string): string => {
  const line =
    command
      .split('\n', 1)[0]
      ?.replaceAll('"', '')
      .replace(/ USING btree.*| FOREIGN KEY.*/, '')
      .trim() ?? ''
  return line.length > MOST_SHOWN ? `${line.slice(0, MOST_SHOWN)}…` : line
}

const locked = ({ locks, index }: Step): string => {
  if (index && !index.wanted) return 'lock: share update exclusive, on the table of the index'
  if (locks.length === 0) return 'lock: none on a table in use'
  return `lock: ${locks.map(({ relation, mode }) => `${mode} on ${relation}`).join(', ')}`
}

const blocked = ({ locks, isLong }: Step): string => {
  const modes = locks.map(({ mode }) => mode)
  const much = isLong ? 'as long as it works' : 'for a moment'
  if (modes.includes('access exclusive')) return `blocks reads and writes ${much}`
  if (modes.includes('share row exclusive')) return `blocks writes ${much}`
  return modes.includes('row exclusive') ? 'blocks only changes of the same rows' : 'blocks no one'
}

const rows = (step: Step, sizes: Map<string, number>): string =>
  step.scans.length === 0 ? 'touches no rows' : `touches about ${count(rowsOf(step, sizes))} rows`
