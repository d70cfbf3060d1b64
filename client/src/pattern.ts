/**
 * Whether a repository matches a pattern: `*` stands for zero or more characters, and case does not matter. The queue and
 * the dashboard use it. The service matches in SQL; one test holds both to the same definition.
 */
export const matchesPattern = (pattern: string, repo: string): boolean => {
  const [first = '', ...rest] = pattern.toLowerCase().split('*')
  const name = repo.toLowerCase()
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
