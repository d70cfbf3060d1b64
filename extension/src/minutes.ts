/** Counts active minutes, and keeps them until the service has them. */
import * as vscode from 'vscode'
import { createFlushQueue, type FlushQueue, type FlushStorage } from '../../client/src/index.js'
import { addMinute, type Counted, countsNow, isTyping, MINUTE, minutesOn, NONE } from './activity.js'
import { inform } from './say.js'
import type { Session } from './session.js'

/** A closing window has five seconds, and a person who signs out shouldn't wait long either. */
const SENDING_TIME = 3_000

/** Where minutes wait until the service has them. */
export type StorageAt = (place: vscode.Uri) => FlushStorage

export class Minutes {
  /** The queue's state: `waiting` for the service, for example. */
  state = 'ready'
  /** The file in which the person was last active. */
  file: vscode.Uri | undefined
  private queue: FlushQueue | undefined
  private lastSign = 0
  private hasSent = false

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly storageAt: StorageAt,
    private readonly report: (what: object) => void,
    private readonly changed: () => void,
  ) {}

  /** All windows share it. */
  get isPaused(): boolean {
    return this.context.globalState.get('paused', false)
  }

  get today(): number {
    return minutesOn(Date.now(), this.counted)
  }

  private get counted(): Counted {
    return this.context.globalState.get('counted', NONE)
  }

  start({ client, login }: Session): void {
    const queue = createFlushQueue({
      client,
      // All windows share it, and one person's minutes must not be sent by another person.
      storage: this.storageAt(vscode.Uri.joinPath(this.context.globalStorageUri, 'minutes', login)),
      onState: ({ status, report }) => {
        if (this.queue === queue) this.state = status
        if (report !== undefined) this.report(report)
        this.changed()
      },
    })
    this.queue = queue
    this.hasSent = false
    this.isPaused ? queue.pause() : void queue.flush() // Includes minutes that a killed window left behind.
  }

  /** Sends waiting minutes while the session and the window still exist. */
  async send(): Promise<void> {
    const { queue } = this
    if (queue === undefined || this.isPaused) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, SENDING_TIME)
      void queue.flush().finally(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  async stop(): Promise<void> {
    const stopped = this.queue
    this.queue = undefined
    this.state = 'ready'
    this.lastSign = 0
    await stopped?.dispose()
  }

  async togglePause(): Promise<void> {
    await this.context.globalState.update('paused', !this.isPaused)
    this.followPause()
  }

  /** Another window may have paused or resumed. */
  followPause(): void {
    this.isPaused ? this.queue?.pause() : this.queue?.resume()
    if (this.isPaused) this.lastSign = 0
    this.changed()
  }

  /** The person's activity in this window. */
  watch(): vscode.Disposable[] {
    const { debug, window, workspace } = vscode
    // Newer editors report when a command starts in a terminal.
    const { onDidStartTerminalShellExecution: onShell } = window as {
      onDidStartTerminalShellExecution?: vscode.Event<unknown>
    }
    const sign = () => this.sign()
    return [
      window.onDidChangeTextEditorSelection(({ kind, textEditor: { document } }) => {
        if (isTyping(kind, document.uri.scheme)) this.sign(document.uri)
      }),
      window.onDidChangeActiveTextEditor((editor) => editor && this.sign(editor.document.uri)),
      workspace.onWillSaveTextDocument(({ document, reason }) => {
        if (reason === vscode.TextDocumentSaveReason.Manual) this.sign(document.uri)
      }),
      debug.onDidStartDebugSession(sign),
      debug.onDidChangeActiveStackItem(sign),
      window.onDidChangeActiveTerminal(sign),
      // Fires at the first key press in a terminal. Extensions don't learn of later ones.
      window.onDidChangeTerminalState(({ state }) => state.isInteractedWith && sign()),
      ...(onShell ? [onShell(sign)] : []),
    ]
  }

  private sign(file?: vscode.Uri): void {
    const { focused, active } = vscode.window.state
    // A program can switch editors, save and run commands too, but not while the person uses the window.
    if (!focused || !active) return
    // What was done before a sign-in or during a pause makes no later minute count.
    if (this.queue !== undefined && !this.isPaused) this.lastSign = Date.now()
    if (file && vscode.workspace.getWorkspaceFolder(file)) this.file = file
  }

  /** Called every minute. */
  async count(repo: string | undefined, idleMinutes: number) {
    const now = Date.now()
    const { counted, lastSign, queue } = this
    const isFocused = vscode.window.state.focused
    this.followPause()
    if (!repo || !queue || this.isPaused || this.state === 'recording_off') return
    if (!countsNow({ now, lastSign, lastCounted: counted.at, idleMinutes, isFocused })) return
    // If its editor is gone, an extension host gets no response here, so it can't count minutes on top of the new host.
    await this.context.globalState.update('counted', addMinute(now, counted))
    if (Date.now() - now > MINUTE) return
    await queue.add(repo, now, 1)
    this.changed()
    // The first minute is sent at once, so that the person sees it on the page. Later ones are sent together.
    if (!this.hasSent) void queue.flush()
    this.hasSent = true
  }

  /**
   * If a WakaTime plugin also sends heartbeats, asks once which of the two counts minutes, because minutes from both
   * would add up.
   */
  async chooseSource({ client }: Session): Promise<void> {
    if (this.context.globalState.get('sourceChosen', false)) return
    if ((await client.request('GET /api/me')).data.heartbeats === null) return
    const question = 'A WakaTime plugin also sends your time. Which one should count your minutes?'
    const who = await inform(question, 'The WakaTime plugin', 'This extension')
    if (who !== undefined) await this.context.globalState.update('sourceChosen', true)
    if (who === 'The WakaTime plugin' && !this.isPaused) await this.togglePause()
  }
}
