/** Writes what heartbeats, imports and assignments change. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Tx } from '../../platform/database/client.js'
import {
  type AgentDay,
  addedTo,
  replaceAgentDays,
  replacePersonalDays,
  writeMinutes,
} from '../minutes/index.js'
import type { CountedMinutes } from './count-minutes.js'
import type { PersonalMinutes } from './count-personal.js'
import { rememberHeartbeats, writeMarks } from './queries/marks.js'
import { chooseRepo, dropOldestNames, type EditorProject, seeNames } from './queries/projects.js'
import type { StoredHour } from './timeline.js'

/** A person's changes. */
export interface Plan {
  userId: string
  minutes: CountedMinutes
  /** Minutes that no workspace counts. */
  personal: PersonalMinutes
  agents: AgentDay[]
  /** Marks to store. */
  hours?: StoredHour[]
  /** Names with the repositories that were chosen for them. */
  chosen?: EditorProject[]
  /** The time of each name's last heartbeat. */
  lastAt?: ReadonlyMap<string, Date>
  /** Whether there may be more waiting names than a person can have. */
  isFull?: boolean
  /** When the person's newest heartbeat was. */
  newest?: Date | undefined
}

/** Sends all statements, and awaits them only at the commit, except those about a full list of names. */
export const writePlans = async (tx: Tx, plans: readonly Plan[]): Promise<void> => {
  for (const { userId, chosen = [] } of plans)
    for (const project of chosen) tx.deferToCommit(chooseRepo(tx, userId, project))
  tx.deferToCommit(seeNames(tx, plans))
  for (const { userId, isFull } of plans) if (isFull) await dropOldestNames(tx, userId)
  tx.deferToCommit(writeMarks(tx, plans))
  tx.deferToCommit(rememberHeartbeats(tx, plans))
  for (const { userId, agents, personal } of plans) {
    if (agents.length > 0) tx.deferToCommit(replaceAgentDays(tx, userId, agents))
    if (personal.rows.length > 0) tx.deferToCommit(replacePersonalDays(tx, userId, personal.rows))
  }
  if (plans.every(({ minutes }) => minutes.isSmall)) {
    const added = plans.flatMap(({ minutes }) => addedTo(minutes.members, minutes.names, minutes.timezone))
    tx.deferToCommit(writeMinutes(tx, added))
    return
  }
  for (const { minutes } of plans)
    for (const member of minutes.members) {
      tx.deferToCommit(writeMinutes(tx, addedTo([member], minutes.names, minutes.timezone)))
      await nextTurn()
    }
}
