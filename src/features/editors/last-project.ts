/** The placeholder that editors send if they don't know the current project. */
import type { RepohostKind } from '../../../schemas/common.js'
import type { Db } from '../../platform/database/client.js'
import type { Batch, Heartbeat } from './batch.js'
import { LAST_PROJECT, type Project, projectNamed } from './project-names.js'
import { type LastMarks, readLastMarks } from './queries/marks.js'
import { hourOf, MINUTES } from './timeline.js'

interface Found {
  minute: number
  project: Project
}

/** The project of the last heartbeat in these hours that isn't later than the minute. */
const findLastProject = (hours: LastMarks[], minute: number, kind: RepohostKind): Found | undefined => {
  let found: { minute: number; project: string } | undefined
  for (const { hour, projects, lastMarks } of hours) {
    if (hour > hourOf(minute)) continue
    const until = hour === hourOf(minute) ? minute % MINUTES : MINUTES - 1
    projects.forEach((project, index) => {
      const last = lastMarks[index]?.lastIndexOf('1', until) ?? -1
      const at = hour * MINUTES + last
      if (last !== -1 && (found === undefined || at > found.minute)) found = { minute: at, project }
    })
  }
  if (found === undefined) return undefined
  const { minute: at, project } = found
  return { minute: at, project: projectNamed(project, kind) }
}

const hasPlaceholder = ({ project }: Heartbeat) => project.name === LAST_PROJECT

/** Whether any heartbeat has the placeholder. */
export const asksForLastProject = ({ heartbeats }: Batch): boolean => heartbeats.some(hasPlaceholder)

/**
 * Replaces each placeholder with the project of the person's latest earlier heartbeat, stored or in this batch. Drops
 * placeholders without an earlier heartbeat. The person's minutes must be locked.
 */
export const resolveLastProjects = async (tx: Db, batch: Batch): Promise<Batch> => {
  const { userId, heartbeats, ignored, kind } = batch
  const asking = heartbeats.filter(hasPlaceholder)
  if (asking.length === 0) return batch
  const stored = await readLastMarks(tx, userId, [...new Set(asking.map(({ minute }) => hourOf(minute)))])
  let last: Found | undefined
  const resolved = heartbeats.flatMap((heartbeat) => {
    const { minute, project: given, isOfAgent } = heartbeat
    let project: Project | undefined = given
    if (hasPlaceholder(heartbeat)) {
      const before = findLastProject(stored, minute, kind)
      project = (last && (!before || last.minute >= before.minute) ? last : before)?.project
    }
    if (project === undefined) return []
    if (!isOfAgent) last = { minute, project }
    return [{ ...heartbeat, project }]
  })
  const project = ignored.project + heartbeats.length - resolved.length
  return { ...batch, heartbeats: resolved, ignored: { ...ignored, project } }
}
