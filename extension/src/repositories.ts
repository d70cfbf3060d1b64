/** Which repositories are open, as the editor's Git extension knows them. */
import * as vscode from 'vscode'
import { repositoryAt } from '../../client/src/index.js'
import type { GitExtension, Repository } from '../types/git.js'
import { setting } from './session.js'

/** An open folder, and its repository: `owner/repo`. */
export type Folder = { uri: vscode.Uri; repo: string }

const gitApi = async () => {
  const git = await vscode.extensions.getExtension<GitExtension>('vscode.git')?.activate()
  return git?.enabled ? git.getAPI(1) : undefined
}

/**
 * A folder at the host, like `vscode-vfs://github/owner/repo/folder`, which at GitLab wouldn't say where the repository
 * ends.
 */
const AT_HOST = /^vscode-vfs:\/\/(?:github[^/]*\/[^/]+\/[^/]+|gitlab[^/]*\/[^/]+\/[^/]+\/?$)/
const isAtHost = ({ scheme }: vscode.Uri) => scheme === 'vscode-vfs'

/** The name in the address of a remote. Longer paths name a repository at GitLab only. */
const nameIn = (address: string) => {
  const own = `${setting('gitlabHost')}`.replaceAll('.', '\\.')
  return repositoryAt(address, own === '' ? undefined : new RegExp(`^${own}$`, 'i'))
}

/** The Git repository of a file or folder. An open folder can also have one in it, but not several: which would it be? */
export const gitOf = async (uri: vscode.Uri): Promise<Repository | undefined> => {
  const { uri: folder } = vscode.workspace.getWorkspaceFolder(uri) ?? { uri }
  const git = isAtHost(folder) ? undefined : await gitApi()
  const found = git?.getRepository(uri)
  if (found) return found
  const within = git?.repositories.filter(({ rootUri }) => `${rootUri}`.startsWith(`${folder}/`)) ?? []
  // Before that, Git may still find others.
  return git?.state === 'initialized' && within.length === 1 ? within[0] : undefined
}

/** Whether a folder surely belongs to no one repository. At first, Git is still looking for them. */
export const hasNoRepository = async (uri: vscode.Uri): Promise<boolean> =>
  !isAtHost(uri) && (await gitApi())?.state === 'initialized' && (await repositoryOf(uri)) === undefined

/** The repository of a file or folder, by the address of its remote, such as `git@host:owner/repo.git`. */
export const repositoryOf = async (uri: vscode.Uri): Promise<string | undefined> => {
  const { uri: folder } = vscode.workspace.getWorkspaceFolder(uri) ?? { uri }
  const remotes = (await gitOf(uri))?.state.remotes ?? []
  const remote = (remotes.find(({ name }) => name === 'origin') ?? remotes[0])?.fetchUrl
  const address = isAtHost(folder) ? `${folder}`.match(AT_HOST)?.[0] : remote
  return address && nameIn(address)
}

/** `tracked`: a change shows up in the repository. `none`: there is no Git. */
export const gitStateOf = async (file: vscode.Uri): Promise<'tracked' | 'untracked' | 'none'> => {
  // A file that is written at the host is a pending change of the repository.
  if (isAtHost(file)) return 'tracked'
  const git = await gitOf(file)
  if (git === undefined) return 'none'
  return git.getObjectDetails('', file.fsPath).then(
    () => 'tracked',
    () => 'untracked',
  )
}

export const openFolders = async (): Promise<Folder[]> => {
  const uris = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri)
  const folders = await Promise.all(uris.map(async (uri) => ({ uri, repo: await repositoryOf(uri) })))
  return folders.filter((folder): folder is Folder => folder.repo !== undefined)
}

/** Calls `work` when folders open or close, and when Git finds a repository or its remotes, which can be long after the start. */
export const watchRepositories = async (work: () => unknown): Promise<vscode.Disposable[]> => {
  const git = await gitApi()
  const watch = ({ state }: Repository) => state.onDidChange(work)
  const opened = git?.onDidOpenRepository((repository) => [watch(repository), work()])
  const others = [git?.onDidCloseRepository(work), git?.onDidChangeState(work), opened]
  const folders = vscode.workspace.onDidChangeWorkspaceFolders(work)
  return [folders, ...others, ...(git?.repositories.map(watch) ?? [])].filter((one) => one !== undefined)
}
