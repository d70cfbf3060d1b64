/** Notices about changes that other people made since the person joined, and that affect the person. */
import { limits } from '../../../schemas/limits.js'
import type { Notice } from '../../../schemas/notices.js'
import { parsePattern } from '../../../schemas/repo-pattern.js'
import { languagesOf, lockedKeysIn, locksOf } from '../../../schemas/settings-keys.js'
import type { Db } from '../../platform/database/client.js'
import { toTimestamp } from '../../platform/time/clock.js'
import { listPersonRepos } from '../accounts/index.js'
import { firstNamedDay, type PrivacyRules } from '../privacy/index.js'
import {
  type AuditNotice,
  type LockChange,
  listAuditNotices,
  listLockChanges,
  listOwnOverrides,
  listPatternChanges,
  listUncovered,
} from './queries/notices.js'

const noticeOfEntry = (
  floor: PrivacyRules['floor'],
  { id, at, code, workspaceId, workspace, login, teamUntil }: AuditNotice,
): Notice => ({
  id: `${code}:${id}`,
  at: toTimestamp(at),
  code,
  workspace: { id: workspaceId, name: workspace },
  login,
  named_from: code === 'level_loosened' ? firstNamedDay(floor, { level: 'named', teamUntil }) : null,
  keys: [],
  repos: [],
})

/** The keys that a change locked and that are still locked. */
const newLocksOf = ({ locked, lockedBefore, lockedNow }: LockChange): string[] => {
  const before = new Set(JSON.parse(lockedBefore) as string[])
  const now = new Set(JSON.parse(lockedNow) as string[])
  return (JSON.parse(locked) as string[]).filter((key) => now.has(key) && !before.has(key))
}

/**
 * Texts, one of which is in every override that a lock on the key applies to. Overrides are stored as `JSON.stringify`
 * writes them.
 */
const partsOf = (key: string): string[] => {
  const languages = languagesOf(key)
  // A locked block locks all blocks for its languages.
  if (languages.length > 0) return languages.map((language) => JSON.stringify(`[${language}]`).slice(1, -1))
  return [`${JSON.stringify(key)}:`]
}

const listLockNotices = async (db: Db, userId: string): Promise<Notice[]> => {
  const changes = (await listLockChanges(db, userId)).map((change) => ({
    ...change,
    keys: newLocksOf(change),
  }))
  const keys = new Set(changes.flatMap((change) => change.keys))
  if (keys.size === 0) return []
  const overrides = await listOwnOverrides(db, userId, {
    workspaceIds: [...new Set(changes.map(({ workspaceId }) => workspaceId))],
    repos: (await listPersonRepos(db, userId)).map(({ repoKey }) => repoKey),
    parts: [...keys].flatMap(partsOf),
  })
  const parsed = overrides.map((one) => ({ ...one, settings: JSON.parse(one.settings) }))
  return changes.flatMap(({ workspaceId, workspace, version, at, login, keys }) => {
    const locks = locksOf(keys)
    const affected = parsed.flatMap((one) => {
      const found = one.workspaceId === workspaceId ? lockedKeysIn(locks, one.settings) : []
      return found.length > 0 ? [{ repo: one.repo, found }] : []
    })
    if (affected.length === 0) return []
    return [
      {
        id: `key_locked:${workspaceId}:${version}`,
        at: toTimestamp(at),
        code: 'key_locked' as const,
        workspace: { id: workspaceId, name: workspace },
        login,
        named_from: null,
        keys: [...new Set(affected.flatMap(({ found }) => found))].slice(0, limits.notice_names),
        repos: affected.map(({ repo }) => repo).slice(0, limits.notice_names),
      },
    ]
  })
}

/** Repositories in which the person has worked, or to which the person pushed, that no longer count in a workspace. */
const listRepoNotices = async (db: Db, userId: string): Promise<Notice[]> => {
  const changes = await listPatternChanges(db, userId)
  if (changes.every(({ isOwn }) => isOwn)) return []
  const removed = changes.flatMap((change) =>
    (JSON.parse(change.removed) as string[]).flatMap((text) => {
      const pattern = parsePattern(text)
      return pattern ? [{ change, workspaceId: change.workspaceId, pattern }] : []
    }),
  )
  const names = new Map((await listPersonRepos(db, userId)).map(({ repoKey, repo }) => [repoKey, repo]))
  const uncovered = await listUncovered(db, removed.slice(0, limits.patterns_per_person), [...names.keys()])
  const told = new Set<string>()
  const lost = new Map(changes.map(({ id }): [string, string[]] => [id, []]))
  for (const { removed, repo } of uncovered) {
    // The newest change is the one that took effect. Earlier ones were undone, or removed a pattern that overlapped.
    const name = `${removed.workspaceId} ${repo}`
    if (!told.has(name)) lost.get(removed.change.id)?.push(names.get(repo) ?? repo)
    told.add(name)
  }
  return changes.flatMap(({ workspaceId, workspace, id, at, login, isOwn }) => {
    const repos = lost.get(id) ?? []
    if (isOwn || repos.length === 0) return []
    return [
      {
        id: `repo_removed:${id}`,
        at: toTimestamp(at),
        code: 'repo_removed' as const,
        workspace: { id: workspaceId, name: workspace },
        login,
        named_from: null,
        keys: [],
        repos: repos.slice(0, limits.notice_names),
      },
    ]
  })
}

/** A person's notices, newest first. @param floor the operator's. Where it hides names, no admin can show them */
export const listNotices = async (db: Db, { floor }: PrivacyRules, userId: string): Promise<Notice[]> => {
  const [entries, locks, repos] = await Promise.all([
    listAuditNotices(db, userId),
    listLockNotices(db, userId),
    listRepoNotices(db, userId),
  ])
  return [
    ...entries
      .filter(({ code }) => floor === 'named' || code !== 'level_loosened')
      .map((entry) => noticeOfEntry(floor, entry)),
    ...locks,
    ...repos,
  ]
    .sort((one, other) => other.at.localeCompare(one.at))
    .slice(0, limits.notices)
}
