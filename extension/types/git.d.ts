/** The part of the built-in Git extension's API that this extension uses. */
import type { Event, Uri } from 'vscode'

export interface Repository {
  rootUri: Uri
  state: { remotes: { name: string; fetchUrl?: string }[]; onDidChange: Event<void> }
  /** Reads a file in the index, if the first argument is empty. Rejects for a file that Git doesn't track. */
  getObjectDetails(treeish: string, path: string): Promise<unknown>
  /** The file's text in the index, if the first argument is empty. */
  show(ref: string, path: string): Promise<string>
}

export interface GitExtension {
  enabled: boolean
  getAPI(version: 1): {
    state: 'uninitialized' | 'initialized'
    repositories: Repository[]
    getRepository(uri: Uri): Repository | null
    onDidChangeState: Event<unknown>
    onDidOpenRepository: Event<Repository>
    onDidCloseRepository: Event<Repository>
  }
}
