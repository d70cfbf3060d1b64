/** The addresses of remotes, and which of them are at a repository host. */

const ADDRESS = /^(?:([a-z][a-z\d+.-]*):)?\/\/([^/]*)\/(.+)$/i
/** `git@host:owner/repo.git`, but not a Windows path. */
const SSH = /^((?:[^:/]*@)?(?:[^:/@[\]]{2,}|\[[\da-f:.]+\])):(?!\/\/)\/?(.+)$/i
/**
 * With one of these characters, Git connects to another host than the address seems to name:
 * `https://evil.example#@host/owner/repo`.
 */
const MISLEADING = /[\s?#\\]/
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(?::(\d*))?$/i
const MAX_LENGTH = 2000
/** Git takes these for `ssh`, too. */
const SSH_SCHEMES = ['git+ssh', 'ssh+git']

const PORTS = new Map([
  ['https', '443'],
  ['http', '80'],
  ['ssh', '22'],
  ['git', '9418'],
])

export interface Remote {
  /** `ssh` for the form `git@host:owner/repo`. Undefined for `//host/owner/repo`, which editors send. */
  scheme: string | undefined
  host: string
  /** Empty: the scheme's default. */
  port: string
  path: string
}

/** Reads the address of a remote. Users and passwords are left out. */
export const remoteAt = (address: string): Remote | undefined => {
  if (address.length > MAX_LENGTH || MISLEADING.test(address)) return undefined
  const url = ADDRESS.exec(address)
  const [, authority = '', path = ''] = (url ? url.slice(1) : SSH.exec(address)) ?? []
  const [, host = '', port = ''] = HOST.exec(authority.slice(authority.lastIndexOf('@') + 1)) ?? []
  if (host === '') return undefined
  const scheme = url ? url[1]?.toLowerCase() : 'ssh'
  const isSsh = scheme !== undefined && SSH_SCHEMES.includes(scheme)
  return { scheme: isSsh ? 'ssh' : scheme, host: host.toLowerCase(), port, path }
}

/** A repository host, such as `github.com` or `http://git.example.com:3000/gitlab`. */
export interface RemoteHost {
  scheme: 'https' | 'http'
  name: string
  port: string
  /** Without slashes at its ends. */
  path: string
}

const HOST_ADDRESS = /^(?:(https?):\/\/)?([^/]+)(?:\/(.*?)\/*)?$/i

/** Reads the address of a host. `https://` may be missing. */
export const remoteHostAt = (address: string): RemoteHost | undefined => {
  const [, scheme = 'https', authority = '', path = ''] = HOST_ADDRESS.exec(address.trim()) ?? []
  const [, name, port = ''] = HOST.exec(authority) ?? []
  if (name === undefined) return undefined
  const isPlain = scheme.toLowerCase() === 'http'
  return { scheme: isPlain ? 'http' : 'https', name: name.toLowerCase(), port, path }
}

/** The names of public hosts for SSH on port 443, for networks that let nothing else out. */
const SSH_NAMES = new Map([
  ['github.com', 'ssh.github.com'],
  ['gitlab.com', 'altssh.gitlab.com'],
])

/** Whether a remote's scheme and port are the host's. Plain HTTP counts only at a host that has nothing else. */
const isReachedBy = ({ scheme, port }: Pick<Remote, 'scheme' | 'port'>, host: RemoteHost): boolean => {
  const isPort = (name: string, other: string) => (port || PORTS.get(name)) === (other || PORTS.get(name))
  if (scheme === host.scheme) return isPort(scheme, host.port)
  if (scheme === 'git') return isPort(scheme, '')
  // A host's own address doesn't say on which port it takes SSH. Those of public hosts are known.
  if (scheme === 'ssh') return !SSH_NAMES.has(host.name) || isPort(scheme, '') || port === '443'
  return scheme === undefined && [host.scheme, 'ssh'].some((one) => isReachedBy({ scheme: one, port }, host))
}

/** The path of a repository at a host. Undefined: the remote is elsewhere. */
export const pathAtHost = (remote: Remote, host: RemoteHost): string | undefined => {
  const isNamed = [host.name, `www.${host.name}`, SSH_NAMES.get(host.name)].includes(remote.host)
  if (!isNamed || !isReachedBy(remote, host)) return undefined
  // Addresses for SSH don't have the path of the host's pages. Without a scheme, the port decides.
  const { scheme = host.scheme, port } = remote
  const isPage = scheme === host.scheme && isReachedBy({ scheme, port }, host)
  const start = isPage && host.path !== '' ? `${host.path}/` : ''
  return remote.path.startsWith(start) ? remote.path.slice(start.length) : undefined
}
