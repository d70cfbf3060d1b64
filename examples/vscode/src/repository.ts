/** Which repository is open, as the editor's Git extension knows it. */
import { repositoryAt } from '@team-settings/client'
import * as vscode from 'vscode'
import type { GitExtension, Repository } from '../types/git.js'

const gitApi = async () => {
  const git = await vscode.extensions.getExtension<GitExtension>('vscode.git')?.activate()
  return git?.enabled ? git.getAPI(1) : undefined
}

/** `owner/repo` of a remote like `git@host:owner/repo.git`, or of a folder at the host, like `vscode-vfs://github/owner/repo/folder`, which at GitLab would not say where the repository ends. */
export const openRepository = async (): Promise<string | undefined> => {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri
  const remotes = (await gitApi())?.repositories[0]?.state.remotes ?? []
  const remote = (remotes.find(({ name }) => name === 'origin') ?? remotes[0])?.fetchUrl
  const root = /^vscode-vfs:\/\/(?:github[^/]*\/[^/]+\/[^/]+|gitlab[^/]*\/[^/]+\/[^/]+\/?$)/
  const url = folder?.scheme === 'vscode-vfs' ? `${folder}`.match(root)?.[0] : remote
  return url && repositoryAt(url)
}

/** Calls `work` whenever Git finds a repository or its remotes, which can be long after the start. */
export const watchRepositories = async (work: () => unknown): Promise<vscode.Disposable[]> => {
  const git = await gitApi()
  if (git === undefined) return []
  const watch = ({ state }: Repository) => state.onDidChange(work)
  const opened = git.onDidOpenRepository((repository) => [watch(repository), work()])
  return [opened, git.onDidCloseRepository(work), git.onDidChangeState(work), ...git.repositories.map(watch)]
}
