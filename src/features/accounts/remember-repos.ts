/** Remembers the repositories that a person names in full. */
import type { LRUCache } from 'lru-cache'
import type { Database, Db } from '../../platform/database/client.js'
import { cacheOf } from '../../platform/process/maps.js'
import { type NamedRepo, writePersonRepos } from './queries/person-repos.js'

/** How many stored repositories a process remembers, so that most requests write nothing. */
const REMEMBERED = 50_000
const DAY_MS = 86_400_000
const stored = new WeakMap<Database, LRUCache<string, true>>()

/** Repositories of a person that this process hasn't stored on a day. */
export interface ReposToRemember {
  userId: string
  /** Days since 1970. */
  day: number
  repos: NamedRepo[]
}

/** Those of today. */
export const reposToRemember = (
  database: Database,
  userId: string,
  repos: readonly string[],
): ReposToRemember => {
  const known = storedIn(database)
  const day = Math.floor(Date.now() / DAY_MS)
  const fresh = new Map<string, NamedRepo>()
  for (const repo of repos) {
    const repoKey = repo.toLowerCase()
    if (!known.has(keyOf(day, userId, repoKey)) && !fresh.has(repoKey)) fresh.set(repoKey, { repoKey, repo })
  }
  return { userId, day, repos: [...fresh.values()] }
}

export const storeRepos = async (tx: Db, { userId, repos }: ReposToRemember): Promise<void> => {
  if (repos.length > 0) await writePersonRepos(tx, userId, repos)
}

/** Call it once they're committed. */
export const rememberRepos = (database: Database, { userId, day, repos }: ReposToRemember): void => {
  const known = storedIn(database)
  for (const { repoKey } of repos) known.set(keyOf(day, userId, repoKey), true)
}

const storedIn = (database: Database): LRUCache<string, true> => {
  const known = stored.get(database) ?? cacheOf<string, true>(REMEMBERED)
  stored.set(database, known)
  return known
}

const keyOf = (day: number, userId: string, repoKey: string): string => `${day} ${userId} ${repoKey}`
