import { SUBGROUPS } from '../../../../schemas/repo-pattern.js'

/**
 * SQL: whether a row of `patterns` matches the repository whose keys are these expressions: a pattern of the
 * same owner, or a `**` pattern of a parent group.
 */
export const patternMatches = (pattern: string, ownerKey: string, repoKey: string): string =>
  `(${pattern}.owner_key = ${ownerKey} and case when ${pattern}.exact then ${pattern}.repo_key = ${repoKey} else ${repoKey} like ${pattern}.repo_like end
    or ${pattern}.repo_key = '${SUBGROUPS}' and starts_with(${ownerKey}, ${pattern}.owner_key || '/'))`
