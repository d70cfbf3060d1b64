/** Remembers the repositories that a person names in full. */
import type { Db } from '../../platform/database/client.js'
import { createCache } from '../../platform/process/maps.js'
import { type NamedRepo, writePersonRepos } from './queries.js'

const MAX_CACHED_REPOS = 50_000
const DAY_MS = 86_400_000
/** Repositories that this process knows are stored, so that most requests write nothing. User ids are unique across databases. */
const stored = createCache<string, true>(MAX_CACHED_REPOS)

/** The person's repositories that this process hasn't stored on that day. */
export interface ReposToRemember {
  userId: string
  /** Days since 1970. */
  day: number
  repos: NamedRepo[]
}

/** The repositories to remember today. */
export const reposToRemember = (userId: string, repos: readonly string[]): ReposToRemember => {
  const day = Math.floor(Date.now() / DAY_MS)
  const fresh = new Map<string, NamedRepo>()
  for (const repo of repos) {
    const repoKey = repo.toLowerCase()
    if (!stored.has(keyOf(day, userId, repoKey)) && !fresh.has(repoKey)) fresh.set(repoKey, { repoKey, repo })
  }
  return { userId, day, repos: [...fresh.values()] }
}

export const storeRepos = async (tx: Db, { userId, repos }: ReposToRemember): Promise<void> => {
  if (repos.length > 0) await writePersonRepos(tx, userId, repos)
}

/** Call it once the repositories are committed. */
export const rememberRepos = ({ userId, day, repos }: ReposToRemember): void => {
  for (const { repoKey } of repos) stored.set(keyOf(day, userId, repoKey), true)
}

const keyOf = (day: number, userId: string, repoKey: string): string => `${day} ${userId} ${repoKey}`
