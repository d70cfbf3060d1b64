/** A person's own time by local day and repository, with each minute once. The repositories of a day add up to its total. */
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { groupBy } from '../../platform/process/maps.js'
import { listDays, type Range } from '../../platform/time/days.js'
import { listRepoDaysOf, sumDaysOf } from './queries/sums.js'

export interface Project {
  /** Undefined: all projects that aren't listed. */
  name: string | undefined
  minutes: number
}

export interface OwnDayTotals {
  day: string
  minutes: number
  /** Minutes in which only agents worked. */
  agentMinutes: number
  projects: Project[]
}

/** Adds the minutes that the listed projects lack. */
export const withOthers = (total: number, projects: readonly Project[]): Project[] => {
  const listed = projects.reduce((sum, { minutes }) => sum + minutes, 0)
  return total > listed ? [...projects, { name: undefined, minutes: total - listed }] : [...projects]
}

const projectsOfDays = (
  rows: readonly { day: string; repo: string; minutes: number; total: number }[],
): ReadonlyMap<string, { total: number; projects: Project[] }> =>
  new Map(
    Array.from(
      groupBy(rows, ({ day }) => day),
      ([day, ofDay]) => {
        const total = ofDay[0]?.total ?? 0
        return [
          day,
          {
            total,
            projects: withOthers(
              total,
              ofDay.map(({ repo, minutes }) => ({ name: repo, minutes })),
            ),
          },
        ]
      },
    ),
  )

/**
 * All days of the range, oldest first.
 * @param repoKey counts only this repository
 * @param limit how many repositories of a day are listed
 */
export const readOwnTotals = async (
  db: Db,
  userId: string,
  range: Range,
  repoKey: string | undefined,
  limit: number,
): Promise<OwnDayTotals[]> => {
  const filter = { userId, range, repoKey }
  const [rows, agentRows] = await Promise.all([
    listRepoDaysOf(db, 'person', filter, limit),
    sumDaysOf(db, 'agents', filter),
  ])
  const days = projectsOfDays(rows)
  const agentMinutes = new Map(agentRows.map(({ day, minutes }) => [day, minutes]))
  return listDays(range.from, range.to).map((day) => {
    const { total = 0, projects = [] } = days.get(day) ?? {}
    return { day, minutes: total, agentMinutes: agentMinutes.get(day) ?? 0, projects }
  })
}

/** The repositories in which agents worked, by day. They add up to the day's agent minutes. */
export const readAgentProjects = async (
  db: Db,
  userId: string,
  range: Range,
  repoKey: string | undefined,
): Promise<ReadonlyMap<string, Project[]>> => {
  const rows = await listRepoDaysOf(db, 'agents', { userId, range, repoKey }, limits.summary_projects_per_day)
  return new Map(Array.from(projectsOfDays(rows), ([day, { projects }]) => [day, projects]))
}
