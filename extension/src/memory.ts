/**
 * Remembers what the extension wrote to each folder, in files: an editor in a browser loses what it keeps itself
 * (`globalState`) if its tab is closed soon after.
 */
import * as vscode from 'vscode'
import { exists } from './git-operations.js'
import type { Written } from './plan.js'

interface Remembered {
  folder: string
  written: Record<string, Written>
}
const FORMER = 'written '

export class Memory {
  constructor(private readonly context: vscode.ExtensionContext) {}

  private get place() {
    return vscode.Uri.joinPath(this.context.globalStorageUri, 'written')
  }

  /** Folder addresses are too long for a file name, and contain characters that it can't have. */
  private async fileOf(folder: string) {
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(folder)))
    const name = [...hash.slice(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    return vscode.Uri.joinPath(this.place, `${name}.json`)
  }

  /** @returns what was written to the folder, by setting */
  async of(folder: string): Promise<Map<string, Written>> {
    const file = await this.fileOf(folder)
    const written = (await exists(file)) ? (await readFile(file)).written : this.formerly(folder)
    return new Map(Object.entries(written))
  }

  async remember(folder: string, entries: Map<string, Written>): Promise<void> {
    const file = await this.fileOf(folder)
    if (entries.size > 0) await writeFile(file, { folder, written: Object.fromEntries(entries) })
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
