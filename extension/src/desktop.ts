/** Editors outside a browser load this: the same code, with minutes in a folder that all windows share, and real paths. */
import { lstat, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type * as vscode from 'vscode'
import { folderStorage } from '../../client/src/node.js'
import { activateWith, hasLinks } from './extension.js'
import type { LeadsOut } from './settings-file.js'

export { deactivate } from './extension.js'

const leadsOut: LeadsOut = async (folder, names) => {
  if (folder.scheme !== 'file') return hasLinks(folder, names)
  const root = await realpath(folder.fsPath).catch(() => undefined)
  if (root === undefined) return false
  const within = root.endsWith(sep) ? root : root + sep
  const checks = names.map(async (name) => {
    const path = join(root, name)
    const real = await realpath(path).catch(() => undefined)
    if (real !== undefined) return !real.startsWith(within)
    return lstat(path).then(
      (found) => found.isSymbolicLink(),
      () => false,
    )
  })
  return (await Promise.all(checks)).includes(true)
}

export const activate = (context: vscode.ExtensionContext): void =>
  activateWith(context, { storageAt: ({ fsPath }) => folderStorage(fsPath), leadsOut })
