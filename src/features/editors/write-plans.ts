/** Writes what heartbeats, imports and assignments change. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Tx } from '../../platform/database/client.js'
import { replaceAgentDays, replacePersonalDays, writeMinutes } from '../minutes/index.js'
import type { AgentChanges } from './count-agents.js'
import { PIECE_MINUTES, type WorkspaceMinutes } from './count-minutes.js'
import type { PersonalMinutes } from './count-personal.js'
import { updateLastHeartbeats, writeMarks } from './queries/marks.js'
import { chooseRepo, deleteOldestNames, type EditorProject, updateNameUse } from './queries/projects.js'
import type { StoredHour } from './timeline.js'

/** A person's changes. */
export interface Plan {
  userId: string
  minutes: WorkspaceMinutes
  /** Minutes that no workspace counts. */
  personal: PersonalMinutes
  agents: AgentChanges
  /** Marks to store. */
  hours: StoredHour[]
  /** Names with the repositories that were chosen for them. */
  chosen: EditorProject[]
  /** The time of each name's last heartbeat. */
  lastAt: ReadonlyMap<string, Date>
  /** Whether there may be more waiting names than a person can have. */
  isFull: boolean
  /** When the person's newest heartbeat was. Undefined: there's no new one. */
  newest: Date | undefined
}

/** Sends all statements, and awaits them only at the commit, except those about a full list of names. */
export const writePlans = async (tx: Tx, plans: readonly Plan[]): Promise<void> => {
  const choosing = plans.flatMap(({ userId, chosen }) =>
    chosen.map((project) => chooseRepo(tx, userId, project)),
  )
  const seeing = updateNameUse(tx, plans)
  // Before the deletion, which counts new names and spares those with a repository. Handed over before anything is
  // awaited, because a statement that fails meanwhile would end the process.
  tx.awaitAtCommit(Promise.all([...choosing, seeing]))

  // Awaited, because a second statement counts the deleted names, if there are any.
  for (const { userId, isFull } of plans) if (isFull) await deleteOldestNames(tx, userId)

  const marking = writeMarks(tx, plans)
  const remembering = updateLastHeartbeats(tx, plans)
  const replacing = plans.flatMap(({ userId, agents, personal }) => [
    ...(agents.kind === 'changed' ? [replaceAgentDays(tx, userId, agents.days)] : []),
    replacePersonalDays(tx, userId, personal.rows),
  ])
  tx.awaitAtCommit(Promise.all([marking, remembering, ...replacing]))

  if (plans.every(({ minutes }) => minutes.addedCount < PIECE_MINUTES)) {
    const adding = writeMinutes(
      tx,
      plans.flatMap(({ minutes }) => minutes.added.flat()),
    )
    tx.awaitAtCommit(adding)
    return
  }
  for (const { minutes } of plans)
    for (const part of minutes.added) {
      const adding = writeMinutes(tx, part)
      tx.awaitAtCommit(adding)
      await yieldToEventLoop()
    }
}
