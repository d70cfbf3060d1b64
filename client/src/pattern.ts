/** `owner/repo`, divided at the last slash: at GitLab, the owner is a group path. */
export const splitRepoPath = (path: string): { owner: string; repo: string } => {
  const end = path.lastIndexOf('/')
  return { owner: path.slice(0, Math.max(end, 0)), repo: path.slice(end + 1) }
}

/** The repository part of a pattern that also matches the repositories of all subgroups. */
const SUBGROUPS = '**'

/**
 * Whether a repository matches a pattern: `*` stands for zero or more characters of the repository's own name,
 * `owner/**` for all repositories of a group and its subgroups, and case doesn't matter. The queue and the dashboard use
 * it. The service matches in SQL; one test holds both to the same definition.
 */
export const matchesPattern = (pattern: string, repo: string): boolean => {
  const wanted = splitRepoPath(pattern.toLowerCase())
  const given = splitRepoPath(repo.toLowerCase())
  if (wanted.repo === SUBGROUPS) return `${given.owner}/`.startsWith(`${wanted.owner}/`)
  return wanted.owner === given.owner && matchesName(wanted.repo, given.repo)
}

const matchesName = (pattern: string, name: string): boolean => {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first)) return false
  let from = first.length
  for (const part of rest) {
    const found = name.indexOf(part, from)
    if (found < 0) return false
    from = found + part.length
  }
  return name.length - last.length >= from && name.endsWith(last)
}
