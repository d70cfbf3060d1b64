/**
 * Repo patterns: `owner/*`, `owner/repo`, or `owner/` + a repository name with `*` in it. The owner is always literal,
 * `*` stands for zero or more characters, and case does not matter. The database matches, with LIKE over `repoLike`,
 * and `client/src/pattern.ts` for the client and the page. One property test holds both to the definition.
 */
import { limits } from './limits.js'

/**
 * The fixed cost of comparing a name with a pattern, besides their characters. LIKE takes time for each
 * character of the one times each of the other; a product of both bounds what a request compares.
 */
export const COMPARED = 10

export interface RepoPattern {
  /** The original spelling. */
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

/** Undefined if the text is not a pattern. */
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
    repoLike: toLike(repoKey),
  }
}

/** The same for SQL's LIKE. A pattern cannot contain `%` or a backslash, but both would be escaped. */
export const toLike = (repoKey: string): string => repoKey.replace(/[\\_%]/g, '\\$&').replace(/\*+/g, '%')

/** Parses texts that a schema has accepted. @throws if one is not a pattern */
export const parsePatterns = (patterns: string[]): RepoPattern[] =>
  patterns.map((pattern) => {
    const parsed = parsePattern(pattern)
    if (!parsed) throw new Error(`The schema accepted ${pattern}, which is not a pattern`)
    return parsed
  })
