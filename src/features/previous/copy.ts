/**
 * Copies activity of version 1.0.0, whose rows are UTC days, to local days: at the upgrade, and afterwards what its
 * instances still write. Each row remembers what was copied of it, so that only the difference is copied next time.
 */
import type { Database, Db } from '../../platform/database/client.js'
import { FORCE_CUSTOM_PLAN } from '../../platform/database/planning.js'
import { groupBy } from '../../platform/process/maps.js'
import { addDays, HOURS } from '../../platform/time/days.js'
import { localHoursOf } from '../../platform/time/zones.js'
import { lockMinutes, markDays } from '../minutes/index.js'
import {
  addCopiedActivity,
  addCopiedAgentMinutes,
  addCopiedOwnTime,
  type CopiedDay,
  listActivityToCopy,
  listAgentMinutesToCopy,
  noteCopied,
  noteOwners,
  raiseOwnTime,
  takePersonalMinutes,
} from './queries/rows.js'

const ROWS_AT_ONCE = 1_000
const MINUTES = 60

interface UtcDay {
  day: string
  timezone: string
  minutes: number
  hours: readonly number[] | null
  before: number
  after: number
  copiedMinutes: number
  copiedHours: readonly number[] | null
}

interface LocalPart {
  day: string
  minutes: number
  hours: number[] | null
}

/** The difference between a row and what was copied of it, by local day. It can be negative. */
const partsOf = ({ day, timezone, minutes, hours, before, after, ...copied }: UtcDay): LocalPart[] => {
  const parts = new Map<string, LocalPart>()
  const partOn = (local: string) => {
    const part = parts.get(local) ?? { day: local, minutes: 0, hours: null }
    parts.set(local, part)
    return part
  }
  let rest = minutes - copied.copiedMinutes
  if (hours) {
    const local = localHoursOf(timezone, day)
    for (let hour = 0; hour < HOURS; hour++) {
      const difference = (hours[hour] ?? 0) - (copied.copiedHours?.[hour] ?? 0)
      if (difference === 0) continue
      const localHour = local[hour] ?? hour
      const later = Math.floor(localHour / HOURS)
      const part = partOn(later === 0 ? day : addDays(day, later))
      part.hours ??= new Array<number>(HOURS).fill(0)
      const index = localHour - later * HOURS
      part.hours[index] = (part.hours[index] ?? 0) + difference
      part.minutes += difference
      rest -= difference
    }
  } else if (copied.copiedMinutes === 0) {
    // The hours are past their retention period, and their local days are still known.
    partOn(addDays(day, -1)).minutes += before
    partOn(addDays(day, 1)).minutes += after
    rest -= before + after
  }
  partOn(day).minutes += rest
  return [...parts.values()]
}

const noCounts = { commits: 0, closed_issues: 0, commitsUploaded: null, closedIssuesUploaded: null }

/** Rows of the same local day, added up. */
const sumDays = (days: readonly CopiedDay[]): CopiedDay[] => {
  const sums = new Map<string, CopiedDay>()
  for (const day of days) {
    const key = `${day.workspaceId} ${day.userId} ${day.day} ${day.repoKey}`
    const sum = sums.get(key)
    sums.set(
      key,
      sum
        ? {
            ...sum,
            minutes: sum.minutes + day.minutes,
            commits: sum.commits + day.commits,
            closed_issues: sum.closed_issues + day.closed_issues,
            commitsUploaded: sum.commitsUploaded ?? day.commitsUploaded,
            closedIssuesUploaded: sum.closedIssuesUploaded ?? day.closedIssuesUploaded,
            hours:
              sum.hours && day.hours
                ? sum.hours.map((one, hour) => one + (day.hours?.[hour] ?? 0))
                : (sum.hours ?? day.hours),
          }
        : day,
    )
  }
  return [...sums.values()]
}

const peopleOf = (rows: readonly { userId: string }[]): string[] =>
  [...new Set(rows.map(({ userId }) => userId))].sort()

/** @returns how many rows */
const copyActivity = async (tx: Db): Promise<number> => {
  const rows = await listActivityToCopy(tx, ROWS_AT_ONCE)
  if (rows.length === 0) return 0
  await lockMinutes(tx, peopleOf(rows), { waits: true })
  const days = sumDays(
    rows.flatMap((row) => {
      const { workspaceId, userId, day, repoKey, timezone } = row
      const key = { workspaceId, userId, repoKey, repo: repoKey, timezone }
      const counts = {
        commits: row.commits - row.copiedCommits,
        closed_issues: row.closed_issues - row.copiedClosedIssues,
        commitsUploaded: row.commitsUploaded,
        closedIssuesUploaded: row.closedIssuesUploaded,
      }
      return [
        { ...key, day, minutes: 0, hours: null, ...counts },
        ...partsOf(row).map((part) => ({ ...key, ...noCounts, ...part })),
      ]
    }),
  )
  await addCopiedActivity(tx, days)
  for (const [workspaceId, ofWorkspace] of groupBy(days, ({ workspaceId }) => workspaceId))
    await markDays(tx, workspaceId, [...new Set(ofWorkspace.map(({ day }) => day))])
  await raiseOwnTime(tx, days)
  await noteCopied(tx, 'activity', rows)
  return rows.length
}

/** @returns how many rows */
const copyAgentMinutes = async (tx: Db): Promise<number> => {
  const rows = await listAgentMinutesToCopy(tx, ROWS_AT_ONCE)
  if (rows.length === 0) return 0
  await lockMinutes(tx, peopleOf(rows), { waits: true })
  const days = sumDays(
    rows.flatMap((row) => {
      const { workspaceId, userId, repoKey, repo, timezone } = row
      return partsOf(row).map((part) => ({
        workspaceId,
        userId,
        repoKey,
        repo,
        timezone,
        ...noCounts,
        ...part,
      }))
    }),
  )
  await addCopiedAgentMinutes(tx, days)
  await noteCopied(tx, 'agent_minutes', rows)
  return rows.length
}

/** @returns how many rows */
const copyPersonalMinutes = async (tx: Db): Promise<number> => {
  const rows = await takePersonalMinutes(tx, ROWS_AT_ONCE)
  if (rows.length === 0) return 0
  await lockMinutes(tx, peopleOf(rows), { waits: true })
  const marked = rows.map((row) => ({ ...row, hours: row.marks === null ? null : hoursOf(row.marks) }))
  const days = sumDays(
    marked.flatMap((row) => {
      const { userId, repoKey, repo, timezone } = row
      const key = { workspaceId: '', userId, repoKey, repo, timezone }
      return partsOf({ ...row, copiedMinutes: 0, copiedHours: null }).map((part) => ({
        ...key,
        ...noCounts,
        ...part,
      }))
    }),
  )
  await addCopiedOwnTime(tx, days)
  await noteOwners(
    tx,
    rows.flatMap(({ userId, day, repoKey, marks }) =>
      (marks?.match(/.{60}/g) ?? []).flatMap((minutes, hour) =>
        minutes.includes('1')
          ? [{ userId, hour: (Date.parse(day) / 86_400_000) * HOURS + hour, repoKey, minutes }]
          : [],
      ),
    ),
  )
  return rows.length
}

const hoursOf = (marks: string): number[] =>
  Array.from(
    { length: HOURS },
    (_, hour) => marks.slice(hour * MINUTES, (hour + 1) * MINUTES).replaceAll('0', '').length,
  )

/** Copies everything that still has to be copied. @param report is told how many rows were copied so far */
export const copyPreviousActivity = async (
  database: Database,
  { stop, report = () => {} }: { stop?: AbortSignal | undefined; report?: (rows: number) => void } = {},
): Promise<void> => {
  let copied = 0
  for (const step of [copyActivity, copyAgentMinutes, copyPersonalMinutes])
    for (let rows = ROWS_AT_ONCE; rows === ROWS_AT_ONCE && !stop?.aborted; ) {
      rows = await database.transaction(
        async (tx) => {
          // The tables grow from empty to millions of rows, faster than statistics are gathered.
          await tx.rows(FORCE_CUSTOM_PLAN, [])
          return step(tx)
        },
        { background: true, rowsCanConflict: true },
      )
      copied += rows
      if (rows > 0) report(copied)
    }
}
