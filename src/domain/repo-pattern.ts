/**
 * Repo patterns: `owner/*`, `owner/repo`, or `owner/` + a repository name with `*` in it. The owner is always literal,
 * `*` stands for zero or more characters, and case does not matter. The database matches with LIKE over `repoLike`;
 * a property test holds the two matchers together.
 */
import { limits } from '../../schemas/limits.js'

export interface RepoPattern {
  /** As it was given. */
  pattern: string
  ownerKey: string
  repoKey: string
  exact: boolean
  /** Characters that are not `*`, the slash not counted. */
  literalLength: number
  /** `repoKey` for SQL's LIKE, its special characters escaped. */
  repoLike: string
}

const grammar = /^(?!\.{1,2}\/)([A-Za-z0-9_.-]{1,100})\/(?!\.{1,2}$)([A-Za-z0-9_.*-]+)$/

/** Undefined when the text is no pattern. */
export const parsePattern = (pattern: string): RepoPattern | undefined => {
  if (pattern.length > limits.pattern_length) return undefined
  const [, owner, repo] = grammar.exec(pattern) ?? []
  if (owner === undefined || repo === undefined) return undefined
  const exact = !repo.includes('*')
  if (exact && repo.length > limits.repo_length) return undefined
  const repoKey = repo.toLowerCase()
  return {
    pattern,
    ownerKey: owner.toLowerCase(),
    repoKey,
    exact,
    literalLength: owner.length + repo.replaceAll('*', '').length,
    repoLike: repoKey.replace(/[\\_%]/g, '\\$&').replace(/\*+/g, '%'),
  }
}

/** Whether a repository (lower-case keys) matches. At most one step back per `*`: linear in practice, never exponential. */
export const matchesPattern = (pattern: RepoPattern, ownerKey: string, repoKey: string): boolean => {
  if (pattern.ownerKey !== ownerKey) return false
  const pieces = pattern.repoKey.split('*')
  const first = pieces[0] ?? ''
  if (pattern.exact) return first === repoKey
  const last = pieces.at(-1) ?? ''
  if (!repoKey.startsWith(first) || repoKey.length < first.length + last.length) return false
  // Greedy from the left: if any placement of the pieces between fits, the leftmost does.
  const end = repoKey.length - last.length
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = repoKey.indexOf(piece, at)
    if (found < 0 || found + piece.length > end) return false
    at = found + piece.length
  }
  return repoKey.endsWith(last)
}
