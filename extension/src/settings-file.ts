/** Reads and writes the `.vscode/settings.json` of a folder. */
import * as vscode from 'vscode'
import { exists } from './git-operations.js'
import type { Folder } from './repositories.js'
import { editText, readText } from './settings-text.js'

export type Place = Pick<Folder, 'uri'>
export const fileOf = ({ uri }: Place) => vscode.Uri.joinPath(uri, '.vscode/settings.json')
export const folderName = ({ uri }: Place) => uri.path.split('/').at(-1)
export const nameOf = (place: Place) => `.vscode/settings.json of ${folderName(place)}`

/**
 * The settings in a folder's own file. In windows with several folders, the editor doesn't report all of its
 * values, so it's read and written as a file, in one write however many settings change.
 */
export interface SettingsFile {
  exists: boolean
  values: Map<string, unknown>
  write(changes: readonly { key: string; value: unknown }[]): Promise<void>
}
const WRITING_TIME = 200

/** Whether a link leads from a file of a folder to a place outside of it, even if nothing is there. */
export type LeadsOut = (folder: vscode.Uri, names: readonly string[]) => Promise<boolean>

/** Without real paths, as in a browser, no link is followed. */
export const hasLinks: LeadsOut = async (folder, names) => {
  const types = names.map((name) =>
    vscode.workspace.fs.stat(vscode.Uri.joinPath(folder, name)).then(
      ({ type }) => (type & vscode.FileType.SymbolicLink) !== 0,
      () => false,
    ),
  )
  return (await Promise.all(types)).includes(true)
}

export class SettingsFiles {
  constructor(private readonly leadsOut: LeadsOut) {}

  /** A repository can contain a link to any file of the person. */
  async rejectLinks(place: Place): Promise<void> {
    if (await this.leadsOut(place.uri, ['.vscode', '.vscode/settings.json', '.vscode/.gitignore']))
      throw new Error(`${nameOf(place)} is a link to another place, so it’s neither read nor written.`)
  }

  async read(place: Place): Promise<SettingsFile> {
    const file = fileOf(place)
    const rejectLinks = () => this.rejectLinks(place)
    await rejectLinks()
    const isThere = await exists(file)
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    const read = async () => (isThere ? decoder.decode(await vscode.workspace.fs.readFile(file)) : '')
    try {
      let whole = await read()
      if (isThere && whole === '') {
        // A program that writes a file empties it first.
        await new Promise((resolve) => setTimeout(resolve, WRITING_TIME))
        whole = await read()
      }
      const [, mark = '', text = ''] = /^(\uFEFF?)(.*)$/s.exec(whole) ?? []
      const values = readText(text)
      return {
        exists: isThere,
        values,
        async write(changes) {
          const { textDocuments } = vscode.workspace
          if (textDocuments.some(({ uri, isDirty }) => isDirty && `${uri}` === `${file}`))
            throw new Error(
              `${nameOf(place)} has changes that aren’t saved. Save it, and apply the settings again.`,
            )
          await rejectLinks()
          if ((await read()) !== whole) throw new Error(`${nameOf(place)} has just been changed.`)
          const edited = editText(text, changes)
          if (edited !== text)
            await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(mark + edited))
        },
      }
    } catch (error) {
      throw new Error(`${nameOf(place)} can’t be read: ${(error as Error).message}.`)
    }
  }
}
