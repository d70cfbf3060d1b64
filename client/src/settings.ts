import type { EffectiveConfig, PushResult, Snapshot } from './api.js'
import type { Client } from './client.js'
import type { CallOptions } from './operations.js'
import { splitRepoPath } from './pattern.js'
import { isProblem } from './problem.js'

/** `owner/repo`. At GitLab, the owner is a path of groups: `acme/platform/web`. */
export type Repo = string

export interface Pulled extends Snapshot {
  etag: string | undefined
}

interface Where extends Pick<CallOptions, 'signal'> {
  /** A workspace of the caller, instead of the best match. */
  workspace?: string
}

const pathOf = (repository: Repo) => {
  const path = splitRepoPath(repository)
  if (path.owner === '' || path.repo === '')
    throw new TypeError(`A repository is owner/repo, not ${repository}.`)
  return path
}

/** Pulls a repository's settings. Undefined if there are none. */
export const pullSettings = async (
  client: Client,
  repo: Repo,
  { workspace, signal }: Where = {},
): Promise<Pulled | undefined> => {
  const operation = 'GET /api/settings/{owner}/{repo}'
  try {
    const { data, etag } = await client.request(operation, {
      path: pathOf(repo),
      query: { workspace },
      signal,
    })
    return { ...data, etag }
  } catch (error) {
    if (isProblem(error, operation) && error.code === 'never_synced') return undefined
    throw error
  }
}

export interface Push extends Where {
  repo: Repo
  settings: Record<string, unknown>
  /** The caller's own token of the repository host. The service checks with the host whether the caller may push. */
  repohostToken: string
  /** The version that was pulled last, or undefined if there was none. `overwrite` replaces any version. */
  base: Pick<Pulled, 'etag'> | undefined | 'overwrite'
}

export type Pushed =
  | { conflict: false; result: PushResult; etag: string | undefined }
  /**
   * Another person changed the settings since the last pull, or removed them (`theirs` is undefined). Merge, then push
   * again.
   */
  | { conflict: true; mine: Record<string, unknown>; theirs: Pulled | undefined }

/** Pushes settings, unless another person has changed them since they were pulled. */
export const pushSettings = async (client: Client, push: Push): Promise<Pushed> => {
  const { repo, settings, repohostToken, base, workspace, signal } = push
  const operation = 'PUT /api/settings/{owner}/{repo}'
  const condition =
    base === 'overwrite' ? {} : base === undefined ? { if_none_match: '*' } : { if_match: base.etag }
  try {
    const { data, etag } = await client.request(operation, {
      path: pathOf(repo),
      // In the query, because browsers don't let pages send these headers to another origin.
      query: { workspace, ...condition },
      headers: { 'X-Repohost-Token': repohostToken },
      body: { settings },
      signal,
    })
    return { conflict: false, result: data, etag }
  } catch (error) {
    if (!isProblem(error, operation) || error.code !== 'version_conflict') throw error
    const theirs = await pullSettings(client, repo, { ...(workspace !== undefined && { workspace }), signal })
    if (theirs === undefined || JSON.stringify(theirs.settings) !== JSON.stringify(settings)) {
      return { conflict: true, mine: settings, theirs }
    }
    // Both have the same content, for example after an earlier push whose response was lost.
    const { settings: _, etag, ...snapshot } = theirs
    return { conflict: false, result: { ...snapshot, changed: false, workspace_created: false }, etag }
  }
}

/** Reads a repository's effective settings. Undefined if none of the caller's workspaces matches it. */
export const effectiveConfig = async (
  client: Client,
  repo: Repo,
  { workspace, signal }: Where = {},
): Promise<EffectiveConfig | undefined> => {
  const operation = 'GET /api/team/effective-config'
  try {
    return (await client.request(operation, { query: { repo, workspace }, signal })).data
  } catch (error) {
    if (isProblem(error, operation) && error.code === 'not_a_member') return undefined
    throw error
  }
}

/** An editor's own settings. */
export interface Editor {
  /** The value that `write` would replace. */
  read(key: string): unknown
  write(key: string, value: unknown): unknown
}

export interface Applied {
  /** The keys that the team sets, and those of `before` that it still sets. Pass them to the next call. */
  applied: string[]
  /** The keys whose value has changed. */
  changed: string[]
  /** The locked keys among `keys`. No override changes them, and an editor shouldn't either. */
  locked: string[]
}

/**
 * Writes the team's keys to an editor, and leaves all others unchanged.
 * @param before what the last call has `applied`: keys that are no longer in `settings` are written as undefined, and
 * the others that aren't in `keys` are left as they are
 */
export const applySettings = async (
  // An older service has no locks.
  { settings, locked = [] }: Pick<EffectiveConfig, 'settings'> & { locked?: string[] },
  keys: string[],
  { read, write }: Editor,
  before: string[] = [],
): Promise<Applied> => {
  const isDecided = (key: string) => Object.hasOwn(settings, key)
  const wantedFor = (key: string) => (isDecided(key) ? settings[key] : undefined)
  const known = [...new Set([...before, ...keys])]
  const changed = known.filter(
    (key) =>
      (isDecided(key) ? keys : before).includes(key) &&
      JSON.stringify(read(key)) !== JSON.stringify(wantedFor(key)),
  )
  for (const key of changed) await write(key, wantedFor(key))
  return { applied: known.filter(isDecided), changed, locked: keys.filter((key) => locked.includes(key)) }
}

/** Minutes without input after which a person counts as idle. Workspaces set 1 to 15, clients clamp to 5 to 10. */
export const idleWindow = (minutes: number): number => Math.min(10, Math.max(5, minutes))
