/** All text in notifications, lists and tooltips goes through this file. */
import * as vscode from 'vscode'
import { plain } from './text.js'

export const inform = async (message: string, ...buttons: string[]): Promise<string | undefined> =>
  vscode.window.showInformationMessage(plain(message), ...buttons)

export const warn = async (message: string, ...buttons: string[]): Promise<string | undefined> =>
  vscode.window.showWarningMessage(plain(message), ...buttons)

export const fail = (message: string): void => void vscode.window.showErrorMessage(plain(message))

/** A dialog with one line for each detail, which also has a button to cancel. */
export const ask = async (
  question: string,
  lines: string[],
  ...buttons: string[]
): Promise<string | undefined> =>
  vscode.window.showWarningMessage(
    plain(question),
    { modal: true, detail: lines.map(plain).join('\n') },
    ...buttons.map(plain),
  )

const itemOf = <T extends vscode.QuickPickItem>(entry: T) => ({
  label: plain(entry.label),
  ...(entry.description !== undefined && { description: plain(entry.description) }),
  ...(entry.detail !== undefined && { detail: plain(entry.detail) }),
  ...(entry.picked !== undefined && { picked: entry.picked }),
  entry,
})

/** @returns the entry that was chosen, with the texts as they were given */
export const pick = async <T extends vscode.QuickPickItem>(
  entries: T[],
  placeHolder?: string,
): Promise<T | undefined> => {
  const options = {
    ...(placeHolder !== undefined && { placeHolder: plain(placeHolder) }),
    matchOnDetail: true,
  }
  return (await vscode.window.showQuickPick(entries.map(itemOf), options))?.entry
}

/** @returns the entries that are ticked, once the person agrees */
export const choose = async <T extends vscode.QuickPickItem>(
  entries: T[],
  title: string,
): Promise<T[] | undefined> => {
  const options = { title: plain(title), canPickMany: true, ignoreFocusOut: true } as const
  return (await vscode.window.showQuickPick(entries.map(itemOf), options))?.map(({ entry }) => entry)
}
