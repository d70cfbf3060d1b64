/** Reads the numbers of days that are shown as they were recorded. */
import type { Dashboard } from '../../../schemas/dashboard.js'
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { type Buckets, bucketsOf } from '../../platform/time/days.js'
import type { Shown } from './policies.js'
import { readDays } from './queries/days.js'
import { countActiveMembers, readMembers } from './queries/members.js'
import { readRepos } from './queries/repos.js'
import type { Sources } from './queries/sources.js'
import { readMemberTrends, readRepoTrends } from './queries/trends.js'
import { readHeatmap } from './read-heatmap.js'
import { addUp, everyDay, ZERO_SUMS } from './sums.js'

/** @param before of the recorded days that the response compares with, if there are any */
export const readRecorded = async (
  tx: Db,
  { range, hours }: Shown,
  sources: Sources,
  before: Sources[],
  trends: boolean,
) => {
  const { from } = sources
  const ranges = [...before, sources]
  const [days, rows, repos, shownHours, activeBefore] = await Promise.all([
    // One statement reads the days of both ranges.
    readDays(tx, {
      ...sources,
      raw: ranges.flatMap(({ raw }) => raw),
      rolledUp: ranges.flatMap(({ rolledUp }) => rolledUp),
    }),
    readMembers(tx, sources),
    readRepos(tx, sources),
    readHeatmap(tx, hours, sources),
    Promise.all(before.map((one) => countActiveMembers(tx, one))),
  ])
  const members = rows.map(({ active_members: _, ...member }) => member)
  const active_members = rows.reduce((total, row) => total + row.active_members, 0)
  const shown = days.filter(({ day }) => day >= from)
  const earlier = days.filter(({ day }) => day < from)
  const rowsWithTrends = trends
    ? await addTrends(tx, sources, bucketsOf(range, limits.trend_days), { members, repos }, shown)
    : { members, repos }
  return {
    totals: { ...addUp([ZERO_SUMS, ...shown]), active_members },
    recordedBefore: activeBefore.map((people) => ({
      ...addUp([ZERO_SUMS, ...earlier]),
      active_members: people,
    })),
    daily: everyDay(sources, shown, ZERO_SUMS),
    ...rowsWithTrends,
    hours: shownHours,
  }
}

/** The rows, each with its trend. */
const addTrends = async (
  tx: Db,
  sources: Sources,
  buckets: Buckets,
  { members, repos }: Pick<Dashboard, 'members' | 'repos'>,
  days: { day: string; active_minutes: number }[],
) => {
  const logins = members.map(({ login }) => login)
  const names = repos.map(({ repo }) => repo)
  const [ofMembers, ofRepos] = await Promise.all([
    readMemberTrends(tx, sources, buckets, logins, days),
    readRepoTrends(tx, sources, buckets, names, days),
  ])
  return {
    members: members.map((row, index) => ({ ...row, trend: ofMembers[index] ?? [] })),
    repos: repos.map((row, index) => ({ ...row, trend: ofRepos[index] ?? [] })),
  }
}
