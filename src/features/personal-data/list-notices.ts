/** Notices about changes that other people made since the person joined, and that affect the person. */
import type { Static } from '@sinclair/typebox'
import { limits } from '../../../schemas/limits.js'
import type { Notice, NoticeList } from '../../../schemas/notices.js'
import { parsePattern } from '../../../schemas/repo-pattern.js'
import { languagesOf, lockedKeysIn, locksOf } from '../../../schemas/settings-keys.js'
import type { Database, Db } from '../../platform/database/client.js'
import { toTimestamp } from '../../platform/time/clock.js'
import { listPersonRepos } from '../named-repos/index.js'
import { firstNamedDay, type PrivacyRules } from '../privacy/index.js'
import {
  type LockChange,
  listLockChanges,
  listLoosened,
  listNewAdmins,
  listOwnOverrides,
  listPatternChanges,
  listRemovals,
  listRenames,
  listUncovered,
  readOneKind,
} from './queries/notices.js'

interface Entry {
  id: string
  at: string
  workspaceId: string
  workspace: string
  login?: string | null
}

const noticeOf = (
  code: Notice['code'],
  { id, at, workspaceId, workspace, login = null }: Entry,
  more: Partial<Notice> = {},
): Notice => ({
  id: `${code}:${id}`,
  at: toTimestamp(at),
  code,
  workspace: { id: workspaceId, name: workspace },
  login,
  named_from: null,
  keys: [],
  repos: [],
  renamed_to: null,
  ...more,
})

const listLevelNotices = async (db: Db, userId: string, floor: PrivacyRules['floor']): Promise<Notice[]> =>
  (await listLoosened(db, userId)).map(({ teamUntil, ...entry }) =>
    noticeOf('level_loosened', entry, { named_from: firstNamedDay(floor, { level: 'named', teamUntil }) }),
  )

const listAdminNotices = async (db: Db, userId: string): Promise<Notice[]> =>
  (await listNewAdmins(db, userId)).map((entry) => noticeOf('admin_added', entry))

const listRemovalNotices = async (db: Db, userId: string): Promise<Notice[]> =>
  (await listRemovals(db, userId)).map(({ byOrganization, ...entry }) =>
    noticeOf(byOrganization ? 'removed_by_organization' : 'removed_by_admin', entry),
  )

const listRenameNotices = async (db: Db, userId: string): Promise<Notice[]> =>
  (await listRenames(db, userId)).map(({ from, to, ...entry }) =>
    noticeOf('repo_renamed', entry, { repos: [from], renamed_to: to }),
  )

/** The keys that a change locked and that are still locked. */
const newLocksOf = ({ locked, lockedBefore, lockedNow }: LockChange): string[] => {
  const before = new Set(JSON.parse(lockedBefore) as string[])
  const now = new Set(JSON.parse(lockedNow) as string[])
  return (JSON.parse(locked) as string[]).filter((key) => now.has(key) && !before.has(key))
}

/** One notice for each workspace and admin, at the time of the newest lock that applies to an override. */
const listLockNotices = async (db: Db, userId: string): Promise<Notice[]> => {
  const changes = (await listLockChanges(db, userId)).map((change) => ({
    ...change,
    locks: locksOf(newLocksOf(change)),
  }))
  const locked = [...new Set(changes.flatMap(({ locks }) => [...locks.keys]))]
  if (locked.length === 0) return []
  const overrides = await listOwnOverrides(db, userId, {
    workspaceIds: [...new Set(changes.map(({ workspaceId }) => workspaceId))],
    repos: (await listPersonRepos(db, userId)).map(({ repoKey }) => repoKey),
    keys: locked,
    languages: locked.flatMap(languagesOf),
  })
  const parsed = overrides.map((one) => ({ ...one, settings: JSON.parse(one.settings) }))
  const byAuthor = new Map<string, { newest: LockChange; keys: Set<string>; repos: Set<string> }>()
  for (const { locks, ...change } of changes)
    for (const { workspaceId, repo, settings } of parsed) {
      const found = workspaceId === change.workspaceId ? lockedKeysIn(locks, settings) : []
      if (found.length === 0) continue
      const author = `${workspaceId} ${change.login}`
      const known = byAuthor.get(author) ?? { newest: change, keys: new Set(), repos: new Set() }
      byAuthor.set(author, known)
      for (const key of found) known.keys.add(key)
      known.repos.add(repo)
    }
  return [...byAuthor.values()].map(({ newest, keys, repos }) =>
    noticeOf(
      'key_locked',
      { ...newest, id: `${newest.workspaceId}:${newest.version}` },
      {
        keys: [...keys].slice(0, limits.notice_names),
        repos: [...repos].slice(0, limits.notice_names),
      },
    ),
  )
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
  return changes.flatMap(({ isOwn, ...change }) => {
    const repos = lost.get(change.id) ?? []
    return isOwn || repos.length === 0
      ? []
      : [noticeOf('repo_removed', change, { repos: repos.slice(0, limits.notice_names) })]
  })
}

/**
 * A person's notices, newest first. Each kind is read and bounded on its own, so that none hides another.
 * @param floor the operator's. Where it hides names, no admin can show them
 */
export const listNotices = async (
  database: Database,
  { floor }: PrivacyRules,
  userId: string,
): Promise<Static<typeof NoticeList>> => {
  const kinds = [
    ...(floor === 'named' ? [(tx: Db) => listLevelNotices(tx, userId, floor)] : []),
    ...[listAdminNotices, listRemovalNotices, listRenameNotices, listLockNotices, listRepoNotices].map(
      (list) => (tx: Db) => list(tx, userId),
    ),
  ]
  const found = await Promise.all(kinds.map((read) => readOneKind(database, read)))
  const notices = found
    .flatMap((ofKind) => (ofKind ?? []).slice(0, limits.notices))
    .sort((one, other) => other.at.localeCompare(one.at))
  return found.includes(undefined) ? { notices, incomplete: true } : { notices }
}
