/** Which repository is open, as the editor's Git extension knows it. */
import type { Repo } from '@team-settings/client'
import * as vscode from 'vscode'

interface GitApi {
  repositories: { state: { remotes: { name: string; fetchUrl?: string }[] } }[]
}

/** `owner/repo` of a remote like `git@host:owner/repo.git` or `https://host/owner/repo`. */
const repoOf = (url: string): Repo | undefined => {
  const [, owner, repo] = url.match(/[:/]([\w.-]+)\/([\w.-]+?)(?:\.git)?\/?$/) ?? []
  return owner === undefined || repo === undefined ? undefined : `${owner}/${repo}`
}

export const openRepository = async (): Promise<Repo | undefined> => {
  const git = vscode.extensions.getExtension<{ getAPI(version: 1): GitApi }>('vscode.git')
  const [repository] = (await git?.activate())?.getAPI(1).repositories ?? []
  const remotes = repository?.state.remotes ?? []
  const url = (remotes.find(({ name }) => name === 'origin') ?? remotes[0])?.fetchUrl
  return url === undefined ? undefined : repoOf(url)
}
