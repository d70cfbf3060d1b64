/** Finds out whether Git is in the middle of changing a settings file. */
import * as vscode from 'vscode'
import { gitOf, gitStateOf } from './repositories.js'

/** Files that Git keeps in its folder during an operation, or while it waits for someone to continue one. */
const UNDER_WAY = [
  ...['index.lock', 'MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'BISECT_LOG', 'rebase-merge'],
  'rebase-apply',
]

export const exists = (file: vscode.Uri): Promise<boolean> =>
  Promise.resolve(
    vscode.workspace.fs.stat(file).then(
      () => true,
      () => false,
    ),
  )

const readText = async (file: vscode.Uri) =>
  new TextDecoder().decode(await vscode.workspace.fs.readFile(file)).replaceAll('\r\n', '\n')

/** In a work tree or submodule, `.git` is a file that names Git's folder. */
const gitFolderOf = async (root: vscode.Uri) => {
  const place = vscode.Uri.joinPath(root, '.git')
  const text = await readText(place).catch(() => '')
  const [, path] = /^gitdir: (.+)$/m.exec(text) ?? []
  if (path === undefined) return place
  return /^(\/|[a-z]:)/i.test(path)
    ? root.with({ path: vscode.Uri.file(path).path })
    : vscode.Uri.joinPath(root, path)
}

/** Whether Git is in the middle of an operation on a file that it tracks. */
export const isGitBusy = async (file: vscode.Uri): Promise<boolean> => {
  const git = await gitOf(file)
  if (git === undefined || (await gitStateOf(file)) !== 'tracked') return false
  const folder = await gitFolderOf(git.rootUri)
  const found = await Promise.all(UNDER_WAY.map((name) => exists(vscode.Uri.joinPath(folder, name))))
  return found.includes(true)
}

/** Whether the file matches Git's index, so that Git was the last to change it. */
export const isAsInGit = async (file: vscode.Uri): Promise<boolean> => {
  const git = await gitOf(file)
  if (git === undefined || (await gitStateOf(file)) !== 'tracked') return false
  const [text, inGit] = await Promise.all([readText(file).catch(() => undefined), git.show('', file.fsPath)])
  return text === inGit.replaceAll('\r\n', '\n')
}
