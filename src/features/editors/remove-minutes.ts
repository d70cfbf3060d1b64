/** Removes a person's own minutes everywhere: in workspaces, in their own time, and their marks. */
import type { Database } from '../../platform/database/client.js'
import { dayOf, localHourOf, toUtcDays } from '../../platform/time/local-hours.js'
import { readCaller } from '../accounts/index.js'
import { lockMinutes, type RemovedMinutes, removeFromWorkspaces } from '../minutes/index.js'
import { removeOwnTime } from '../own-time/index.js'
import { subtractImported } from './queries/imports.js'
import { readAllMarks, writeMarks } from './queries/marks.js'
import { listNames, namesOf } from './queries/projects.js'
import { Counts, hourOf, minutesOfHour, type StoredHour, timelineOf, toStored } from './timeline.js'

/** @returns how many minutes, each once */
export const removeMinutes = (database: Database, removed: RemovedMinutes): Promise<number> =>
  database.transaction(
    async (tx) => {
      const { userId } = removed
      await lockMinutes(tx, [userId], { waits: true })
      const [{ timezone }, names, stored] = await Promise.all([
        readCaller(tx, userId),
        listNames(tx, userId),
        readAllMarks(tx, userId),
      ])
      const rows = await removeFromWorkspaces(tx, removed)
      const minutes = await removeOwnTime(tx, removed)
      const repos = new Map(Array.from(namesOf(names), ([name, { repo }]) => [name, repo?.toLowerCase()]))
      const keyOf = (project: string) => repos.get(project) ?? project.toLowerCase()
      await writeMarks(tx, [{ userId, hours: withoutMarks(stored, removed, timezone ?? 'UTC', keyOf) }])
      // So that a later import of these days counts in full.
      await subtractImported(
        tx,
        userId,
        rows.flatMap(({ workspaceId, day, repoKey, timezone, ...row }) =>
          Array.from(toUtcDays(timezone, day, row), ([utcDay, share]) => ({
            workspaceId,
            day: utcDay,
            repoKey,
            minutes: share,
          })),
        ),
      )
      return minutes
    },
    { rowsCanConflict: true },
  )

/** The hours that lose marks, without them. @param keyOf the repository of a project, or its own name */
const withoutMarks = (
  stored: readonly StoredHour[],
  { from, to, repoKey }: RemovedMinutes,
  timezone: string,
  keyOf: (project: string) => string,
): StoredHour[] => {
  const timeline = timelineOf(stored)
  const counts = new Counts(stored)
  const changed = new Set<number>()
  for (const { hour, localHour } of stored) {
    const day = dayOf(localHour ?? localHourOf(timezone, hour))
    if (day < from || day > to) continue
    for (const minute of minutesOfHour(hour)) {
      const own = timeline.own.ownerOf(minute)
      const agents = timeline.agents.ownerOf(minute)
      const isOwn =
        repoKey === null || counts.ownerOf(minute) === repoKey || (own && keyOf(own.project) === repoKey)
      const isOfAgents = repoKey === null || (agents && keyOf(agents.project) === repoKey)
      if (isOwn && counts.ownerOf(minute) !== undefined) counts.takeOut(minute)
      if (isOwn && own?.gap === 0) timeline.own.unmark(minute)
      if (isOfAgents && agents?.gap === 0) timeline.agents.unmark(minute)
      if (isOwn || isOfAgents) changed.add(hourOf(minute))
    }
  }
  return toStored(timeline, counts, changed)
}
