/** Believable activity of a team: working hours in several time zones, weekends, holidays, a handful of repositories each. */
import type { Database } from '../src/db/client.js'
import { localHoursOf } from '../src/domain/heatmap.js'
import { insertSeed } from '../src/queries/seed.js'

const timezones = [
  'Europe/Berlin',
  'Europe/London',
  'America/New_York',
  'America/Los_Angeles',
  'Asia/Kolkata',
  'Asia/Tokyo',
]

const repoNames = [
  'api-gateway',
  'web',
  'mobile',
  'billing',
  'docs',
  'infra',
  'search',
  'auth',
  'design-system',
  'cli',
  'data-pipeline',
  'notifications',
  'editor-extension',
  'sdk-js',
  'sdk-python',
  'website',
  'monitoring',
  'experiments',
  'release-tools',
  'playground',
]

export interface TeamActivity {
  workspaceId: string
  userIds: string[]
  owner: string
  from: string
  to: string
}

/** Adds activity without touching what is there; the rollups follow by themselves. @returns how many rows */
export const seedActivity = (
  database: Database,
  { workspaceId, userIds, owner, from, to }: TeamActivity,
): Promise<number> => {
  const people = userIds.map((userId, index) => {
    // Most of a team is in one place.
    const timezone = (index % 3 === 0 ? timezones[(index / 3) % timezones.length] : timezones[0]) ?? 'UTC'
    return { userId, timezone, ahead: localHoursOf(timezone, from)[0] ?? 0 }
  })
  const repos = repoNames.map((name) => `${owner}/${name}`)
  return database.transaction((tx) => insertSeed(tx, { workspaceId, people, repos, from, to }), {
    background: true,
  })
}
