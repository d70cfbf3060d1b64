/** Remembers the repositories that a person names in full. */
import type { LRUCache } from 'lru-cache'
import type { Database, Db } from '../../platform/database/client.js'
import { cacheOf } from '../../platform/process/maps.js'
import { type NamedRepo, writePersonRepos } from './queries/person-repos.js'

/** How many stored repositories a process remembers, so that most requests write nothing. */
const REMEMBERED = 50_000
const DAY_MS = 86_400_000
const stored = new WeakMap<Database, LRUCache<string, true>>()

export interface ReposToRemember {
  write(tx: Db): Promise<void>
  /** Call it after the commit. */
  committed(): void
}

/** The repositories that this process hasn't stored today. */
export const reposToRemember = (
  database: Database,
  userId: string,
  repos: readonly string[],
): ReposToRemember => {
  const known = stored.get(database) ?? cacheOf<string, true>(REMEMBERED)
  stored.set(database, known)
  const day = Math.floor(Date.now() / DAY_MS)
  const keyOf = (repoKey: string) => `${day} ${userId} ${repoKey}`
  const fresh = new Map<string, NamedRepo>()
  for (const repo of repos) {
    const repoKey = repo.toLowerCase()
    if (!known.has(keyOf(repoKey)) && !fresh.has(repoKey)) fresh.set(repoKey, { repoKey, repo })
  }
  return {
    write: async (tx) => {
      if (fresh.size > 0) await writePersonRepos(tx, userId, [...fresh.values()])
    },
    committed: () => {
      for (const repoKey of fresh.keys()) known.set(keyOf(repoKey), true)
    },
  }
}
