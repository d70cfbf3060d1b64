/** Editors outside a browser load this: the same code, with minutes in a folder that all windows share. */
import type * as vscode from 'vscode'
import { folderStorage } from '../../client/src/node.js'
import { activateWith } from './extension.js'

export { deactivate } from './extension.js'

export const activate = (context: vscode.ExtensionContext): void =>
  activateWith(context, ({ fsPath }) => folderStorage(fsPath))
