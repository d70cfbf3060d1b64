/** The part of the built-in Git extension's API that this extension uses. */
import type { Event, Uri } from 'vscode'

export interface Repository {
  rootUri: Uri
  state: { remotes: { name: string; fetchUrl?: string }[]; onDidChange: Event<void> }
}

export interface GitExtension {
  enabled: boolean
  getAPI(version: 1): {
    repositories: Repository[]
    getRepository(uri: Uri): Repository | null
    onDidChangeState: Event<unknown>
    onDidOpenRepository: Event<Repository>
    onDidCloseRepository: Event<Repository>
  }
}
