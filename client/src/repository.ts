const ADDRESS = /^[a-z+-]+:\/\/(?:[^/]*@)?([^:/]+)(?::\d+)?\/(.+)$/i
/** `git@host:owner/repo.git`, but not a Windows path. */
const SSH = /^(?:[^/]*@)?([^:/]{2,}):\/?([^/].*)$/
const GITLAB = /(^|\.)gitlab(\.|$)/i

/**
 * `owner/repo` of a remote's address. Only at GitLab, an owner can have slashes: `group/sub/repo`. Elsewhere, a longer path names
 * no repository, because its end could be a repository of someone else.
 * @param gitlab recognizes the hosts that are GitLab, such as your own
 */
export const repositoryAt = (address: string, gitlab: RegExp = GITLAB): string | undefined => {
  const [, host = '', path = ''] = address.match(ADDRESS) ?? address.match(SSH) ?? []
  const names = path
    .replace(/\/$/, '')
    .replace(/\.git$/, '')
    .split('/')
  const isRepository = names.length === 2 || (names.length > 2 && gitlab.test(host))
  return isRepository && names.every((name) => /^[\w.-]+$/.test(name)) ? names.join('/') : undefined
}
