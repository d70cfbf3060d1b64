/**
 * Remembers what the extension wrote to each folder, in files: an editor in a browser loses what it keeps itself
 * (`globalState`) if its tab is closed soon after.
 */
import * as vscode from 'vscode'
import { exists } from './git-operations.js'
import type { Written } from './plan.js'

/** What was written to a folder's file. */
export interface Kept {
  /** Whether anything was remembered about the folder. If not, it's new, was renamed, or the memory was lost. */
  known: boolean
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

interface Remembered extends Partial<Omit<Kept, 'written' | 'known'>> {
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
    const found = await readFile(await this.fileOf(folder))
    const formerly = this.formerly(folder)
    const { written, ...more } = found ?? { written: formerly }
    const known = found !== undefined || Object.keys(formerly).length > 0
    return { ...NOTHING, ...more, known, written: new Map(Object.entries(written)) }
  }

  async remember(folder: string, { known, ...kept }: Kept): Promise<void> {
    const written = Object.fromEntries(kept.written)
    const all = kept.written.size > 0 ? { ...kept, folder, written } : { folder, written }
    await writeFile(await this.fileOf(folder), all)
    if (this.context.globalState.get(`${FORMER}${folder}`))
      await this.context.globalState.update(`${FORMER}${folder}`, undefined)
  }

  private async all(): Promise<Remembered[]> {
    const listed = (await exists(this.place)) ? await vscode.workspace.fs.readDirectory(this.place) : []
    const files = listed.filter(([name]) => name.endsWith('.json'))
    const read = await Promise.all(files.map(([name]) => readFile(vscode.Uri.joinPath(this.place, name))))
    return read.filter((one) => one !== undefined && Object.keys(one.written).length > 0) as Remembered[]
  }

  /** The folders to which something was written. */
  async folders(): Promise<string[]> {
    const former = this.context.globalState.keys().filter((name) => name.startsWith(FORMER))
    const found = (await this.all()).map(({ folder }) => folder)
    return [...new Set([...found, ...former.map((name) => name.slice(FORMER.length))])]
  }

  /** What was written to a file with this text: the folder was renamed, copied, or is opened in another way. */
  async ofText(text: string): Promise<Kept | undefined> {
    const hash = await hashOf(text)
    const found = (await this.all()).find((one) => one.hash === hash)
    return found && { ...(await this.of(found.folder)), known: false }
  }

  /** Earlier versions kept this in the editor's own storage. */
  private formerly(folder: string) {
    return this.context.globalState.get<Remembered['written']>(`${FORMER}${folder}`, {})
  }
}

/** A file that can't be read is as good as none. */
const readFile = async (file: vscode.Uri): Promise<Remembered | undefined> => {
  try {
    const read = JSON.parse(new TextDecoder().decode(await vscode.workspace.fs.readFile(file)))
    return typeof read?.folder === 'string' && typeof read.written === 'object' ? read : undefined
  } catch {
    return undefined
  }
}

/**
 * Writes the whole file or nothing, because another window may be reading it, and the editor may close at any moment.
 */
const writeFile = async (file: vscode.Uri, remembered: Remembered): Promise<void> => {
  const part = file.with({ path: `${file.path}.${crypto.randomUUID()}` })
  await vscode.workspace.fs.writeFile(part, new TextEncoder().encode(JSON.stringify(remembered)))
  await vscode.workspace.fs.rename(part, file, { overwrite: true })
}
