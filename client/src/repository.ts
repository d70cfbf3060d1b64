const ADDRESS = /^(?:https?|ssh|git):\/\/([^/]*)\/(.+)$/i
/** `git@host:owner/repo.git`, but not a Windows path. */
const SSH = /^([^:/]{2,}):\/?([^/].*)$/
/**
 * With one of these characters, Git connects to another host than the address seems to name:
 * `https://evil.example#@host/owner/repo`.
 */
const MISLEADING = /[\s?#\\]/
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])$/i
const MAX_LENGTH = 2000
const GITLAB = /(^|\.)gitlab(\.|$)/i

/** The host and the path in the address of a remote, without user and port. */
const remoteAt = (address: string): { host: string; path: string } | undefined => {
  if (address.length > MAX_LENGTH || MISLEADING.test(address)) return undefined
  const [, authority = '', path = ''] = address.match(ADDRESS) ?? address.match(SSH) ?? []
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '')
  return HOST.test(host) ? { host, path } : undefined
}

/**
 * `owner/repo` of a remote's path. Only at GitLab, an owner can have slashes: `group/sub/repo`. Elsewhere, a longer path names
 * no repository, because its end could name someone else's repository.
 */
export const repositoryIn = (path: string, isGitlab: boolean): string | undefined => {
  const names = path
    .replace(/\/$/, '')
    .replace(/\.git$/, '')
    .split('/')
  const isRepository = names.length === 2 || (names.length > 2 && isGitlab)
  return isRepository && names.every((name) => /^[\w.-]+$/.test(name)) ? names.join('/') : undefined
}

/**
 * `owner/repo` of a remote's address.
 * @param gitlab recognizes the hosts that are GitLab, such as your own
 */
export const repositoryAt = (address: string, gitlab: RegExp = GITLAB): string | undefined => {
  const remote = remoteAt(address)
  return remote && repositoryIn(remote.path, gitlab.test(remote.host))
}
