/** Reads and writes the `.vscode/settings.json` of a folder. */
import * as vscode from 'vscode'
import { exists } from './git-operations.js'
import type { Folder } from './repositories.js'
import { type Change, editText, readText, textOf } from './settings-text.js'

export type Place = Pick<Folder, 'uri'>
export const fileOf = ({ uri }: Place) => vscode.Uri.joinPath(uri, '.vscode/settings.json')
export const folderName = ({ uri }: Place) => uri.path.split('/').at(-1)
export const nameOf = (place: Place) => `.vscode/settings.json of ${folderName(place)}`

/**
 * The settings in a folder's own file. In windows with several folders, the editor doesn't report all of its
 * values, so it's read and written as a file, in one write however many settings change.
 */
export interface SettingsFile {
  /** Null: there's no file. */
  text: string | null
  /** Whether its folder, `.vscode`, exists. */
  hasFolder: boolean
  values: Map<string, unknown>
  /** The text of a setting's value. */
  textOf(key: string): string | undefined
  /** The file's text after the changes. `added` is as in `editText`. */
  edited(changes: readonly Change[], added?: Set<string>): string
  /** Null removes the file. */
  write(text: string | null): Promise<void>
}
/** What `.vscode/.gitignore` has, if this extension made it. */
export const IGNORED = '.gitignore\nsettings.json\n'
export const ignoreOf = ({ uri }: Place) => vscode.Uri.joinPath(uri, '.vscode/.gitignore')
const contentOf = async (file: vscode.Uri) =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await vscode.workspace.fs.readFile(file))
const WRITING_TIME = 200
/** The maximum size of a settings file. */
const MAX_BYTES = 5_000_000

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
    const found = await Promise.resolve(vscode.workspace.fs.stat(file)).catch(() => undefined)
    const isThere = found !== undefined
    const read = async () => (isThere ? contentOf(file) : '')
    try {
      if (isThere && found.size > MAX_BYTES) throw new Error('it has more than 5 MB')
      let whole = await read()
      if (isThere && whole === '') {
        // A program that writes a file empties it first.
        await new Promise((resolve) => setTimeout(resolve, WRITING_TIME))
        whole = await read()
      }
      const [, mark = '', text = ''] = /^(\uFEFF?)(.*)$/s.exec(whole) ?? []
      const values = readText(text)
      const folder = vscode.Uri.joinPath(place.uri, '.vscode')
      return {
        text: isThere ? whole : null,
        hasFolder: await exists(folder),
        values,
        textOf: (key) => textOf(text, key),
        edited: (changes, added) => mark + editText(text, changes, added),
        async write(next) {
          const { fs, textDocuments } = vscode.workspace
          if (textDocuments.some(({ uri, isDirty }) => isDirty && `${uri}` === `${file}`))
            throw new Error(
              `${nameOf(place)} has changes that aren’t saved. Your team’s settings follow once you save it.`,
            )
          await rejectLinks()
          if ((await read()) !== whole) throw new Error(`${nameOf(place)} has just been changed.`)
          if (next === null) await fs.delete(file)
          else if (next !== whole || !isThere) await fs.writeFile(file, new TextEncoder().encode(next))
        },
      }
    } catch (error) {
      throw new Error(`${nameOf(place)} can’t be read: ${(error as Error).message}.`)
    }
  }

  /** Removes what this extension made besides the file, unless something else is there. */
  async removeFolder({ uri }: Place, madeFolder: boolean): Promise<void> {
    const { fs } = vscode.workspace
    const ignored = ignoreOf({ uri })
    if ((await contentOf(ignored).catch(() => undefined)) === IGNORED) await fs.delete(ignored)
    const folder = vscode.Uri.joinPath(uri, '.vscode')
    if (madeFolder && (await fs.readDirectory(folder)).length === 0) await fs.delete(folder)
  }
}
