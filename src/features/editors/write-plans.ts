/** Writes what heartbeats, imports and assignments change. */
import type { Tx } from '../../platform/database/client.js'
import { type PersonDays, writePersonDays } from '../minutes/index.js'
import { type AgentDay, replaceAgentDays } from '../own-time/index.js'
import { updateLastHeartbeats, writeMarks } from './queries/marks.js'
import { chooseRepo, deleteOldestNames, type EditorProject, updateNameUse } from './queries/projects.js'
import type { StoredHour } from './timeline.js'

/** A person's changes. */
export interface Plan {
  userId: string
  timezone: string
  /** The days in workspaces and of the person's own time. */
  days: PersonDays
  agentDays: AgentDay[]
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

  tx.awaitAtCommit(
    writeMarks(tx, plans),
    updateLastHeartbeats(tx, plans),
    ...plans.map((plan) => replaceAgentDays(tx, plan, plan.agentDays)),
    writePersonDays(
      tx,
      plans.map(({ days }) => days),
    ),
  )
}
