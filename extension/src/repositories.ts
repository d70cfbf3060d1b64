/** Which repositories are open, as the editor's Git extension knows them. */
import * as vscode from 'vscode'
import { matchesPattern } from '../../client/src/pattern.js'
import { repositoryIn } from '../../client/src/repository.js'
import { pathAtHost, remoteAt, remoteHostAt } from '../../schemas/remotes.js'
import type { GitExtension, Repository } from '../types/git.js'
import { setting } from './session.js'

/** An open folder, and its repository: `owner/repo`. */
export type Folder = { uri: vscode.Uri; repo: string }

const gitApi = async () => {
  const git = await vscode.extensions.getExtension<GitExtension>('vscode.git')?.activate()
  return git?.enabled ? git.getAPI(1) : undefined
}

/**
 * A folder at the host, like `vscode-vfs://github/owner/repo/folder`. At GitLab, such an address wouldn't say
 * where the repository's name ends.
 */
const AT_HOST = /^vscode-vfs:\/\/(?:(github)[^/]*\/([^/]+\/[^/]+)|(gitlab)[^/]*\/([^/]+\/[^/]+)\/?$)/
const isAtHost = ({ scheme }: vscode.Uri) => scheme === 'vscode-vfs'

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const aliases = () => [setting('hostAliases')].flat()
/** The repository that the address of a remote names. Repositories at other hosts aren't the team's, whatever they are called. */
const repositoryAt = (address: string) => {
  const remote = remoteAt(address)
  if (remote === undefined) return undefined
  const isGitlab = isText(setting('gitlabHost'))
  for (const name of [setting('host'), setting('gitlabHost'), ...aliases()].filter(isText)) {
    const host = remoteHostAt(name)
    const path = host && pathAtHost(remote, host)
    if (path !== undefined) return repositoryIn(path, isGitlab)
  }
  return undefined
}
const repositoryAtHost = (folder: vscode.Uri) => {
  const [, github, atGithub, gitlab, atGitlab] = `${folder}`.match(AT_HOST) ?? []
  return repositoryAt(`https://${github ?? gitlab}.com/${atGithub ?? atGitlab}`)
}

/**
 * The Git repository of a file or folder. An open folder can also contain one, but not several, because it wouldn't be
 * clear which one is meant.
 */
export const gitOf = async (uri: vscode.Uri): Promise<Repository | undefined> => {
  const { uri: folder } = vscode.workspace.getWorkspaceFolder(uri) ?? { uri }
  const git = isAtHost(folder) ? undefined : await gitApi()
  const found = git?.getRepository(uri)
  if (found) return found
  const within = git?.repositories.filter(({ rootUri }) => `${rootUri}`.startsWith(`${folder}/`)) ?? []
  // Until Git is initialized, it may still find others.
  return git?.state === 'initialized' && within.length === 1 ? within[0] : undefined
}

const ORDER = ['origin', 'upstream']
const rank = ({ name }: { name: string }) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length)

/** The repositories that a file or folder belongs to, by its remotes: a fork also belongs to its original. */
const repositoriesOf = async (uri: vscode.Uri): Promise<string[]> => {
  const { uri: folder } = vscode.workspace.getWorkspaceFolder(uri) ?? { uri }
  const remotes = [...((await gitOf(uri))?.state.remotes ?? [])].sort((one, other) => rank(one) - rank(other))
  const found = isAtHost(folder)
    ? [repositoryAtHost(folder)]
    : remotes.map(({ fetchUrl }) => repositoryAt(fetchUrl ?? ''))
  return found.filter((repo) => repo !== undefined)
}

/**
 * Whether a folder certainly doesn't belong to a single repository. At first, Git is still looking for repositories.
 */
export const hasNoRepository = async (uri: vscode.Uri): Promise<boolean> =>
  !isAtHost(uri) && (await gitApi())?.state === 'initialized' && (await repositoriesOf(uri)).length === 0

export const isMatch = (patterns: readonly string[], repo: string): boolean =>
  patterns.some((pattern) => matchesPattern(pattern, repo))

/** The repository of a file or folder: the first that one of the patterns matches, or else the first. */
export const repositoryOf = async (
  uri: vscode.Uri,
  patterns: readonly string[],
): Promise<string | undefined> => {
  const found = await repositoriesOf(uri)
  return found.find((repo) => isMatch(patterns, repo)) ?? found[0]
}

/** `tracked`: a change shows up in the repository. `none`: there is no Git. */
export const gitStateOf = async (file: vscode.Uri): Promise<'tracked' | 'untracked' | 'none'> => {
  // Writing a file in a folder at the host makes it a pending change of the repository.
  if (isAtHost(file)) return 'tracked'
  const git = await gitOf(file)
  if (git === undefined) return 'none'
  return git.getObjectDetails('', file.fsPath).then(
    () => 'tracked',
    () => 'untracked',
  )
}

export const openFolders = async (patterns: readonly string[]): Promise<Folder[]> => {
  const uris = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri)
  const folders = await Promise.all(
    uris.map(async (uri) => ({ uri, repo: await repositoryOf(uri, patterns) })),
  )
  return folders.filter((folder): folder is Folder => folder.repo !== undefined)
}

/** Git finds many repositories one after the other, and changes their state several times. */
const QUIET_TIME = 1_000

/**
 * Calls `work` when folders open or close, and when Git finds a repository or its remotes, which can be long after the start:
 * once nothing more has happened for a second.
 */
export const watchRepositories = async (work: () => unknown): Promise<vscode.Disposable[]> => {
  const git = await gitApi()
  let timer: ReturnType<typeof setTimeout> | undefined
  const changed = () => {
    clearTimeout(timer)
    timer = setTimeout(work, QUIET_TIME)
  }
  const watched = new Map<Repository, vscode.Disposable>()
  const watch = (repository: Repository) => watched.set(repository, repository.state.onDidChange(changed))
  const leave = (repository: Repository) => {
    watched.get(repository)?.dispose()
    watched.delete(repository)
  }
  git?.repositories.forEach(watch)
  const opened = git?.onDidOpenRepository((repository) => {
    leave(repository)
    watch(repository)
    changed()
  })
  const closed = git?.onDidCloseRepository((repository) => {
    leave(repository)
    changed()
  })
  const others = [
    vscode.workspace.onDidChangeWorkspaceFolders(changed),
    { dispose: () => clearTimeout(timer) },
    { dispose: () => [...watched.keys()].forEach(leave) },
  ]
  return [...others, opened, closed, git?.onDidChangeState(changed)].filter((one) => one !== undefined)
}
