/** Remembers the repositories that a person names in full. */
import type { Db } from '../../platform/database/client.js'
import { cacheOf } from '../../platform/process/maps.js'
import { type NamedRepo, writePersonRepos } from './queries/person-repos.js'

const MAX_CACHED_REPOS = 50_000
const DAY_MS = 86_400_000
/** The stored ones that this process remembers, so that most requests write nothing. Ids of people are unique anywhere. */
const stored = cacheOf<string, true>(MAX_CACHED_REPOS)

/** Repositories of a person that this process hasn't stored on a day. */
export interface ReposToRemember {
  userId: string
  /** Days since 1970. */
  day: number
  repos: NamedRepo[]
}

/** Those of today. */
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

/** Call it once they're committed. */
export const rememberRepos = ({ userId, day, repos }: ReposToRemember): void => {
  for (const { repoKey } of repos) stored.set(keyOf(day, userId, repoKey), true)
}

const keyOf = (day: number, userId: string, repoKey: string): string => `${day} ${userId} ${repoKey}`
