/** Counts active minutes, and keeps them until the service has them. */
import { createFlushQueue, type FlushQueue } from '@team-settings/client'
import * as vscode from 'vscode'
import { storageAt } from '#storage'
import type { Session } from './session.js'

export const MINUTE = 60_000

export class Minutes {
  /** Since the start. */
  recorded = 0
  /** The queue's state: `waiting` for the service, for example. */
  state = 'ready'
  private queue: FlushQueue | undefined
  private last = { sign: 0, file: undefined as vscode.Uri | undefined }

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly report: (what: object) => void,
    private readonly changed: () => void,
  ) {}

  get isPaused(): boolean {
    return this.context.globalState.get('paused', false)
  }

  start({ client, login }: Session): void {
    const queue = createFlushQueue({
      client,
      // All windows share it; minutes of one person are not to be sent by another.
      storage: storageAt(vscode.Uri.joinPath(this.context.globalStorageUri, 'minutes', login)),
      onState: ({ status, report }) => {
        if (this.queue === queue) this.state = status
        if (report !== undefined) this.report(report)
        this.changed()
      },
    })
    this.queue = queue
    this.isPaused ? queue.pause() : void queue.flush() // Also what a killed window has left.
  }

  async stop(): Promise<void> {
    const stopped = this.queue
    this.queue = undefined
    await stopped?.dispose()
  }

  async togglePause(): Promise<void> {
    await this.context.globalState.update('paused', !this.isPaused)
    this.isPaused ? this.queue?.pause() : this.queue?.resume()
    this.changed()
  }

  /** The person has done something, in this file if any. Decide here what counts as activity. */
  sign(file?: vscode.Uri): void {
    if (!vscode.window.state.focused) return
    this.last.sign = Date.now()
    if (file && vscode.workspace.getWorkspaceFolder(file)) this.last.file = file
  }

  /** Called every minute, which counts if the person was active within the idle window of the repository. */
  async count(repositoryOf: (file?: vscode.Uri) => Promise<string | undefined>, idle: Map<string, number>) {
    const now = Date.now()
    const { sign, file } = this.last
    if (!vscode.window.state.focused || this.isPaused || this.state === 'recording_off') return
    const repo = await repositoryOf(file)
    if (!repo || !this.queue || now - sign >= (idle.get(repo) ?? 5) * MINUTE) return
    // An extension host whose editor is gone gets no answer. It must not count beside the new one.
    await this.context.globalState.update('lastMinute', now)
    if (Date.now() - now > MINUTE) return
    this.recorded++
    await this.queue.add(repo, now, 1)
    this.changed()
  }

  /** Asks once who counts where a WakaTime plugin sends heartbeats as well, because both would add up. */
  async chooseSource({ client }: Session): Promise<void> {
    if (this.context.globalState.get('sourceChosen', false)) return
    if ((await client.request('GET /api/me')).data.heartbeats === null) return
    const question = 'A WakaTime plugin also sends your time. Which one should count your minutes?'
    const who = await vscode.window.showInformationMessage(question, 'The WakaTime plugin', 'This extension')
    if (who !== undefined) await this.context.globalState.update('sourceChosen', true)
    if (who === 'The WakaTime plugin' && !this.isPaused) await this.togglePause()
  }
}
