/** The names that package.json declares. It is the one place of the prefix, and `npm run prefix -- mine` changes it there. */
import * as vscode from 'vscode'
import { contributes } from '../package.json'

/** `ext.` of `ext.signIn`. */
export const PREFIX = contributes.commands.map(({ command }) => command.replace(/[^.]*$/, ''))[0] ?? ''
/** A setting of this extension itself. */
export const setting = (name: string) => vscode.workspace.getConfiguration().get<unknown>(PREFIX + name)
