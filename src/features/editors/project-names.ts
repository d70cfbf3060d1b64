/** Reads the project names of editors: addresses of repositories in many spellings, or plain names. */
import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import { isRepoPath } from '../../../schemas/owners.js'
import { pathAtHost, type RemoteHost, remoteAt, remoteHostAt } from '../../../schemas/remotes.js'
import type { EditorProject } from './queries/projects.js'

/** The repository host as it appears in addresses. */
export interface ProjectHost {
  address: RemoteHost | undefined
  kind: RepohostKind
}

export const projectHostOf = ({ kind, url }: { kind: RepohostKind; url: string }): ProjectHost => ({
  kind,
  address: remoteHostAt(url),
})

/** A heartbeat as it was sent. */
export interface SentHeartbeat {
  /** Null: something that can't be a time. Undefined: no time. */
  time: number | string | null | undefined
  project: string | undefined
  alternate: string | undefined
  category: string | undefined
}

/** The category of heartbeats that an assistant sends, in any case. */
const AGENT = 'ai coding'

export const isOfAgent = ({ category }: SentHeartbeat): boolean => category?.toLowerCase() === AGENT

/** Editors send this instead of a project that they don't know. */
export const LAST_PROJECT = '<<LAST_PROJECT>>'

/** Either a repository on the repository host, or another name. */
export type Project = { repo: string; name?: undefined } | { name: string; repo?: undefined }

const NAME = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}$/

/** Whether a name may belong to a folder that contains a repository. */
export const canBeFolder = (name: string): boolean => NAME.test(name)

/** Whether a project is a repository; no other name looks like one. */
export const isRepo = (project: string, kind: RepohostKind): boolean => isRepoPath(project, kind)

const repoOf = (path: string, kind: RepohostKind): string | undefined => {
  const repo = path
    .replace(/^\/+/, '')
    .replace(/\/$/, '')
    .replace(/\.git$/i, '')
  return isRepoPath(repo, kind) ? repo : undefined
}

const URL_LIKE = /^([A-Za-z][A-Za-z0-9+.-]*:)?\/\/(.*)$/s
/** `host:path`, as ssh and git accept it. A Windows path has a one-letter drive. */
const SSH_LIKE = /^([A-Za-z0-9_.-]{2,}|\[[0-9A-Fa-f:.]+\]):(?!\/\/)(.+)$/s

/**
 * Removes users and passwords from an address. If it's unclear where a password ends, everything that could
 * belong to it is removed.
 */
const withoutSecrets = (text: string): string => {
  const url = URL_LIKE.exec(text)
  if (url) {
    const [, scheme = '', rest = ''] = url
    return `${scheme}//${(rest.split(/[?#]/, 1)[0] ?? '').replace(/^.*@/s, '')}`
  }
  const at = text.lastIndexOf('@')
  if (at === -1) return text
  const rest = text.slice(at + 1)
  return SSH_LIKE.test(rest) || text.slice(0, at).includes(':') ? rest : text
}

/** Names are stored without ports. */
const withoutPort = (address: string): string => {
  const [, scheme = '', rest = ''] = URL_LIKE.exec(address) ?? []
  return URL_LIKE.test(address)
    ? `${scheme}//${rest.replace(/^(\[[^\]/]*\]|[^/:]*):[0-9]*(?=\/|$)/, '$1')}`
    : address
}

/** Limits the work on a name, because an address can have any length. */
const MAX_READ = 4 * limits.editor_project_length

const pathAt = (text: string, { address }: ProjectHost) => {
  const remote = remoteAt(text)
  return remote && address && pathAtHost(remote, address)
}

/** @returns undefined if the text doesn't name a project */
const readProject = (text: string | undefined, host: ProjectHost): Project | undefined => {
  if (text === undefined || text.length > MAX_READ || text.includes('\0') || !text.isWellFormed())
    return undefined
  const address = withoutSecrets(text.trim())
  const path = URL_LIKE.test(address) || SSH_LIKE.test(address) ? pathAt(address, host) : address
  const repo = path === undefined ? undefined : repoOf(path, host.kind)
  if (repo !== undefined) return { repo }
  const name = withoutPort(address)
  return name === '' || name.length > limits.editor_project_length ? undefined : { name }
}

/** A heartbeat's project. The alternate project is used if the project doesn't name a repository. */
export const projectOf = (
  { project, alternate }: Pick<SentHeartbeat, 'project' | 'alternate'>,
  host: ProjectHost,
): Project | undefined => {
  const first = readProject(project, host)
  if (first?.repo !== undefined) return first
  const second = readProject(alternate, host)
  return second?.repo === undefined ? (first ?? second) : second
}

/** An SSH alias of a person's computer, and the repository in an address with it: `github.com-work:acme/web.git`. */
export interface AliasedRepo {
  alias: string
  repo: string
}

/** @param name a name that isn't a repository of the host */
export const readAlias = (name: string, kind: RepohostKind): AliasedRepo | undefined => {
  const remote = URL_LIKE.test(name) || SSH_LIKE.test(name) ? remoteAt(name) : undefined
  if (remote?.scheme !== 'ssh') return undefined
  const repo = repoOf(remote.path, kind)
  return repo === undefined ? undefined : { alias: remote.host, repo }
}

/** Whether an address was assigned to the owner and name in it, so that its alias stands for the host. */
export const isOwnRepo = ({ repo }: AliasedRepo, assigned: string | null): boolean =>
  repo.toLowerCase() === assigned?.toLowerCase()

/** A project's name in marks: a repository in lower case, or another name. */
export const markNameOf = ({ repo, name }: Project): string =>
  repo === undefined ? name : repo.toLowerCase()

/** A project by its name in marks. */
export const projectNamed = (name: string, kind: RepohostKind): Project =>
  isRepo(name, kind) ? { repo: name } : { name }

/** The repositories to which projects in marks belong. */
export class Projects {
  /** Repositories as given, by their keys. If there are several spellings, the first is used. */
  readonly spellings: ReadonlyMap<string, string>

  /**
   * @param known what's stored about names
   * @param sent projects as they came, whose spelling comes first
   */
  constructor(
    private readonly kind: RepohostKind,
    private readonly known: ReadonlyMap<string, EditorProject>,
    private readonly sent: readonly Project[],
  ) {
    const repos = [
      ...sent.map(({ repo, name }) => (repo === undefined ? known.get(name)?.repo : repo)),
      ...Array.from(known.values(), ({ repo }) => repo),
    ].filter((repo) => typeof repo === 'string')
    this.spellings = new Map(repos.toReversed().map((repo) => [repo.toLowerCase(), repo]))
  }

  /** The same projects, with the spellings of more. */
  withSpellings(sent: readonly Project[]): Projects {
    return new Projects(this.kind, this.known, [...this.sent, ...sent])
  }

  /** Whether it's a repository that was named in full, and not assigned to another one. */
  isRepo(project: string): boolean {
    return isRepo(project, this.kind) && this.keyOf(project) === project
  }

  /** The key of its repository. Undefined for a name without one. */
  keyOf(project: string): string | undefined {
    const assigned = this.known.get(project)?.repo?.toLowerCase()
    return assigned ?? (isRepo(project, this.kind) ? project : undefined)
  }

  /** Whether it's among the names that are stored for the person. */
  isListed(project: string): boolean {
    return this.known.has(project)
  }

  /** Whether the person has assigned or ignored it. */
  isChosen(project: string): boolean {
    const known = this.known.get(project)
    return known !== undefined && (known.repo !== null || known.ignored)
  }

  /** Whether the person ignores the name. */
  isIgnored(project: string): boolean {
    return this.known.get(project)?.ignored === true
  }

  /** A repository as given. */
  spellingOf(repoKey: string): string {
    return this.spellings.get(repoKey) ?? repoKey
  }
}
