/**
 * Remembers what the extension wrote to each folder, in files: an editor in a browser loses what it keeps itself
 * (`globalState`) if its tab is closed soon after.
 */
import * as vscode from 'vscode'
import { exists } from './git-operations.js'
import type { Written } from './plan.js'

/** What was written to a folder's file. */
export interface Kept {
  /** By setting. */
  written: Map<string, Written>
  /** How the person wrote the values that were replaced, by setting. */
  texts: Record<string, string>
  /** Language blocks that this extension added. */
  blocks: string[]
  /** Whether this extension made the file, and its folder. */
  made: boolean
  madeFolder: boolean
  /** The file's text before the first write, null if there was none, as long as no one else changes the file. */
  before?: string | null | undefined
  /** The hash of the text that was written last. */
  hash?: string | undefined
}
const NOTHING = { texts: {}, blocks: [], made: false, madeFolder: false }

interface Remembered extends Partial<Omit<Kept, 'written'>> {
  folder: string
  written: Record<string, Written>
}
const FORMER = 'written '

export const hashOf = async (text: string): Promise<string> => {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return [...hash.slice(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

export class Memory {
  constructor(private readonly context: vscode.ExtensionContext) {}

  private get place() {
    return vscode.Uri.joinPath(this.context.globalStorageUri, 'written')
  }

  /** Folder addresses are too long for a file name, and contain characters that it can't have. */
  private async fileOf(folder: string) {
    return vscode.Uri.joinPath(this.place, `${await hashOf(folder)}.json`)
  }

  async of(folder: string): Promise<Kept> {
    const file = await this.fileOf(folder)
    const { written, ...more } = (await exists(file))
      ? await readFile(file)
      : { written: this.formerly(folder) }
    return { ...NOTHING, ...more, written: new Map(Object.entries(written)) }
  }

  async remember(folder: string, kept: Kept): Promise<void> {
    const file = await this.fileOf(folder)
    const written = Object.fromEntries(kept.written)
    if (kept.written.size > 0) await writeFile(file, { ...kept, folder, written })
    else if (await exists(file)) await vscode.workspace.fs.delete(file)
    await this.context.globalState.update(`${FORMER}${folder}`, undefined)
  }

  /** The folders to which something was written. */
  async folders(): Promise<string[]> {
    const { globalState } = this.context
    const former = globalState.keys().filter((name) => name.startsWith(FORMER))
    const listed = (await exists(this.place)) ? await vscode.workspace.fs.readDirectory(this.place) : []
    const files = listed.filter(([name]) => name.endsWith('.json'))
    const read = files.map(async ([name]) => (await readFile(vscode.Uri.joinPath(this.place, name))).folder)
    return [...new Set([...(await Promise.all(read)), ...former.map((name) => name.slice(FORMER.length))])]
  }

  /** Earlier versions kept this in the editor's own storage. */
  private formerly(folder: string) {
    return this.context.globalState.get<Remembered['written']>(`${FORMER}${folder}`, {})
  }
}

const readFile = async (file: vscode.Uri): Promise<Remembered> =>
  JSON.parse(new TextDecoder().decode(await vscode.workspace.fs.readFile(file)))

/**
 * Writes the whole file or nothing, because another window may be reading it, and the editor may close at any moment.
 */
const writeFile = async (file: vscode.Uri, remembered: Remembered): Promise<void> => {
  const part = file.with({ path: `${file.path}.${crypto.randomUUID()}` })
  await vscode.workspace.fs.writeFile(part, new TextEncoder().encode(JSON.stringify(remembered)))
  await vscode.workspace.fs.rename(part, file, { overwrite: true })
}
