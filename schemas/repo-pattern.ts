/**
 * Repo patterns: `owner/*`, `owner/repo`, or `owner/` + a repository name with `*` in it. The owner is always literal,
 * `*` stands for zero or more characters, and case doesn't matter. At GitLab, `owner/**` also matches the repositories
 * of all subgroups. The database matches, with LIKE over `repoLike`, and `client/src/pattern.ts` for the client and the
 * page. A property test checks both against the definition.
 */
import type { RepohostKind } from './common.js'
import { limits } from './limits.js'
import { isOwner } from './owners.js'
import { splitRepo } from './repo-keys.js'

/** The repository part of a pattern that reaches into subgroups. */
export const SUBGROUPS = '**'

/**
 * The fixed cost of comparing a name with a pattern, in addition to their lengths. LIKE's time grows with the product
 * of both lengths, so that product bounds what a request compares.
 */
export const COMPARISON_COST = 10

export interface RepoPattern {
  /** The original spelling. */
  pattern: string
  ownerKey: string
  repoKey: string
  exact: boolean
  /** Characters other than `*`, not counting the slash before the repository. */
  literalLength: number
  /** `repoKey` for SQL's LIKE, with its special characters escaped. */
  repoLike: string
}

const repoGrammar = /^(?!\.{1,2}$)[A-Za-z0-9_.*-]+$/

/**
 * Whether a text is a valid pattern for a kind of host. Where there are subgroups, `**` must be the whole repository
 * part.
 */
export const isPattern = (text: string, kind: RepohostKind): boolean => {
  const { owner, repo } = splitRepo(text)
  const isClear = kind !== 'gitlab' || repo === SUBGROUPS || !repo.includes(SUBGROUPS)
  return isClear && isOwner(owner, kind) && parsePattern(text) !== undefined
}

/** Undefined if the text isn't a pattern on any kind of host. */
export const parsePattern = (pattern: string): RepoPattern | undefined => {
  if (pattern.length > limits.pattern_length) return undefined
  const { owner, repo } = splitRepo(pattern)
  if (!isOwner(owner, 'gitlab') || !repoGrammar.test(repo)) return undefined
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

/** A pattern's repository part for SQL's LIKE. It can't contain `%` or a backslash, but both would be escaped. */
export const toLike = (repoKey: string): string => repoKey.replace(/[\\_%]/g, '\\$&').replace(/\*+/g, '%')

/**
 * A whole pattern for LIKE over `owner/repo`, with colons instead of the slashes between groups (`likenessOf`), so
 * that a wildcard for a name stays within a group.
 */
export const likesOf = ({ ownerKey, repoKey, repoLike }: RepoPattern): string[] => {
  const owner = toLike(ownerKey.replaceAll('/', ':'))
  const direct = `${owner}/${repoLike}`
  return repoKey === SUBGROUPS ? [direct, `${owner}:%`] : [direct]
}

/** SQL: an owner as `likesOf` expects it. */
export const likenessOf = (ownerKey: string): string => `replace(${ownerKey}, '/', ':')`

/** Parses texts that a schema has accepted. @throws if one isn't a pattern */
export const parsePatterns = (patterns: string[]): RepoPattern[] =>
  patterns.map((pattern) => {
    const parsed = parsePattern(pattern)
    if (!parsed) throw new Error(`The schema accepted ${pattern}, which isn’t a pattern`)
    return parsed
  })

/**
 * SQL: whether a row of `patterns` matches the repository whose keys are these expressions: a pattern of the
 * same owner, or a `**` pattern of a parent group.
 */
export const patternMatches = (pattern: string, ownerKey: string, repoKey: string): string =>
  `(${pattern}.owner_key = ${ownerKey} and case when ${pattern}.exact then ${pattern}.repo_key = ${repoKey} else ${repoKey} like ${pattern}.repo_like end
    or ${pattern}.repo_key = '${SUBGROUPS}' and starts_with(${ownerKey}, ${pattern}.owner_key || '/'))`
