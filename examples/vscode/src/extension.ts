/** Team settings and active minutes in an editor: an extension to start from. */
import { join } from 'node:path'
import { createFlushQueue, type FlushQueue, type QueueState, type Repo } from '@team-settings/client'
import { folderStorage } from '@team-settings/client/node'
import * as vscode from 'vscode'
import { openRepository } from './repository.js'
import { enterToken, type Session, signIn, signOut } from './session.js'
import { pull, push } from './settings.js'

const MINUTE = 60_000
const PAUSED = 'paused'

let queue: FlushQueue | undefined

export const activate = async (context: vscode.ExtensionContext): Promise<void> => {
  let session: Session | undefined
  let repo: Repo | undefined
  let idleMinutes = 5
  let lastSign = 0
  let recorded = 0
  let state: QueueState['status'] = 'ready'
  const isPaused = () => context.globalState.get(PAUSED, false)

  const log = vscode.window.createOutputChannel('Team settings', { log: true })
  const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Right)
  item.command = 'ext.togglePause'
  const show = () => {
    const recording = session !== undefined && repo !== undefined && !isPaused() && state !== 'recording_off'
    item.text = `${recording ? '$(record)' : '$(debug-pause)'} ${recording ? `${recorded} min` : 'not recorded'}`
    const why = isPaused()
      ? 'You have paused it.'
      : state === 'recording_off'
        ? 'You have switched it off at the service.'
        : session === undefined
          ? 'You are not signed in.'
          : 'No repository is open.'
    item.tooltip = recording
      ? `Recorded since the start: the number of active minutes in ${repo} by the hour, and nothing else. ` +
        'They are kept here until the service has them. Click to pause.'
      : `Nothing is recorded. ${why}`
    item.show()
  }

  const start = async (ask: boolean) => {
    await queue?.dispose()
    queue = undefined
    session = await signIn(context, { ask })
    if (session !== undefined) {
      queue = createFlushQueue({
        client: session.client,
        // All windows share it; minutes of one person are not to be sent by another.
        storage: folderStorage(join(context.globalStorageUri.fsPath, 'minutes', session.login)),
        onState: ({ status, report }) => {
          state = status
          if (report !== undefined) log.warn('Not all minutes counted.', report)
          show()
        },
      })
      if (isPaused()) queue.pause()
    }
    await refresh()
  }

  const refresh = async () => {
    repo = await openRepository()
    if (session !== undefined && repo !== undefined) idleMinutes = await pull(context, session, repo)
    show()
  }

  /** Runs a command, and says what went wrong with it. */
  const command = (name: string, work: () => unknown) =>
    vscode.commands.registerCommand(name, async () => {
      try {
        await work()
      } catch (error) {
        await vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error))
      }
    })

  const withRepository = async (work: (session: Session, repo: Repo) => Promise<unknown>) => {
    if (session === undefined) await start(true)
    repo = await openRepository()
    if (session === undefined || repo === undefined)
      throw new Error('Sign in, and open a repository with a remote.')
    await work(session, repo)
  }

  const sign = () => {
    if (vscode.window.state.focused) lastSign = Date.now()
  }
  const everyMinute = setInterval(() => {
    const active = Date.now() - lastSign < idleMinutes * MINUTE
    if (!active || !vscode.window.state.focused || repo === undefined || isPaused()) return
    recorded++
    queue?.add(repo, Date.now(), 1).catch((error) => log.warn('A minute was not kept.', error))
    show()
  }, MINUTE)
  const everyHour = setInterval(() => refresh().catch(() => {}), 60 * MINUTE)

  context.subscriptions.push(
    log,
    item,
    command('ext.signIn', () => start(true)),
    command('ext.signInWithToken', async () => (await enterToken(context)) && start(true)),
    command('ext.signOut', async () => {
      const last = session
      await queue?.dispose()
      queue = undefined
      session = undefined
      await signOut(context, last)
      show()
    }),
    command('ext.pull', () => withRepository(refresh)),
    command('ext.push', () => withRepository((session, repo) => push(context, session, repo))),
    command('ext.togglePause', async () => {
      await context.globalState.update(PAUSED, !isPaused())
      isPaused() ? queue?.pause() : queue?.resume()
      show()
    }),
    vscode.workspace.onDidChangeTextDocument(sign),
    vscode.window.onDidChangeTextEditorSelection(sign),
    vscode.window.onDidChangeWindowState(sign),
    vscode.workspace.onDidChangeWorkspaceFolders(() => refresh().catch(() => {})),
    { dispose: () => [everyMinute, everyHour].forEach(clearInterval) },
  )
  show()
  // Without a network the extension starts all the same; the minutes wait.
  await start(false).catch((error) => log.warn('The team’s settings could not be pulled.', error))
}

export const deactivate = (): Promise<void> | undefined => queue?.dispose()
