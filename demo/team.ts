import { v7 as uuidv7 } from 'uuid'
import type { Database } from '../src/db/client.js'
import { insertTeam } from '../src/queries/seed.js'
import { seedActivity } from './activity.js'

export interface MadeUpTeam {
  name: string
  /** Of its repositories; the members' logins are this and a number, and the first is the admin. */
  owner: string
  /** The members get so many numbers of the repository host, from here on. */
  firstRepohostId: number
  members: number
  /** Days of activity. */
  from: string
  to: string
}

/** Makes a workspace with members who were active; the rollups follow by themselves. @returns its id and how many rows */
export const seedTeam = async (
  database: Database,
  { from, to, ...team }: MadeUpTeam,
): Promise<{ workspaceId: string; rows: number }> => {
  const workspaceId = uuidv7()
  const userIds = await database.transaction((tx) => insertTeam(tx, { workspaceId, ...team }))
  const rows = await seedActivity(database, { workspaceId, userIds, owner: team.owner, from, to })
  return { workspaceId, rows }
}
