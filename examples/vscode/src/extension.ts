/** Team settings and active minutes in an editor: an extension to start from. */
import { createFlushQueue, type FlushQueue } from '@team-settings/client'
import * as vscode from 'vscode'
import { storageAt } from '#storage'
import { openRepository, watchRepositories } from './repository.js'
import { enterToken, type Session, signIn, signOut } from './session.js'
import { pull, push, restoreLocked } from './settings.js'

const MINUTE = 60_000
const WAITS: Record<string, string> = { waiting: ', waiting for the service', signed_out: ', signed out' }
let queue: FlushQueue | undefined
export const activate = async (context: vscode.ExtensionContext): Promise<void> => {
  let session: Session | undefined
  let repo: string | undefined
  let [idleMinutes, lastSign, recorded, stops] = [5, 0, 0, 0]
  let state = 'ready'
  const isPaused = () => context.globalState.get('paused', false)
  const log = vscode.window.createOutputChannel('Team settings', { log: true })
  const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Right)
  const show = () => {
    const why =
      (session === undefined && 'You are not signed in.') ||
      (isPaused() && 'You have paused it.') ||
      (state === 'recording_off' && 'You have turned recording off under Privacy in the dashboard.') ||
      (repo === undefined && 'Open a folder of a repository with a remote.')
    const click = !session || state === 'signed_out' ? 'sign in' : isPaused() ? 'resume' : why ? '' : 'pause'
    const what = `Recorded since the start: the number of active minutes in ${repo} by the hour, and nothing else. They are kept here until the service has them.`
    item.text = why ? '$(debug-pause) not recorded' : `$(record) ${recorded} min${WAITS[state] ?? ''}`
    item.tooltip = `${why ? `Nothing is recorded. ${why}` : what}${click && ` Click to ${click}.`}`
    item.command = click === 'sign in' ? 'ext.signIn' : click ? 'ext.togglePause' : undefined
    item.show()
  }
  const stop = async () => {
    const last = queue
    queue = session = undefined
    stops++
    show()
    await last?.dispose()
  }
  const start = async (ask?: boolean) => {
    const before = stops
    const next = await signIn(context, ask)
    if (next === undefined || before !== stops) return refresh()
    const stopped = stop()
    session = next
    queue = createFlushQueue({
      client: next.client,
      // All windows share it; minutes of one person are not to be sent by another.
      storage: storageAt(vscode.Uri.joinPath(context.globalStorageUri, 'minutes', next.login)),
      onState: ({ status, report }) => {
        if (session === next) state = status
        if (report !== undefined) log.warn('Not all minutes counted.', report)
        show()
      },
    })
    isPaused() ? queue.pause() : void queue.flush() // Also what a killed window has left.
    await stopped
    await refresh()
    // Asks once who counts minutes where a WakaTime plugin sends heartbeats as well, because both would add up.
    if (context.globalState.get('sourceChosen', false)) return
    if ((await next.client.request('GET /api/me')).data.heartbeats === null) return
    const question = 'A WakaTime plugin also sends your time. Which one should count your minutes?'
    const who = await vscode.window.showInformationMessage(question, 'The WakaTime plugin', 'This extension')
    if (who !== undefined) await context.globalState.update('sourceChosen', true)
    if (who === 'The WakaTime plugin' && !isPaused()) await togglePause()
  }
  const togglePause = async () => {
    await context.globalState.update('paused', !isPaused())
    isPaused() ? queue?.pause() : queue?.resume()
    show()
  }
  const refresh = async () => {
    repo = await openRepository()
    show()
    if (session !== undefined && repo !== undefined) idleMinutes = await pull(context, session, repo)
  }
  /** Runs work, logs what goes wrong, and tells the person who asked for it. */
  const guarded = (work: () => unknown, tell?: (message: string) => unknown) => async () => {
    try {
      await work()
    } catch (error) {
      const { name, message } = error as Error
      log.warn(message)
      // `fetch` throws a TypeError if no answer comes.
      await tell?.(/^(Type|Timeout)Error$/.test(name) ? 'Not reachable. Your minutes wait.' : message)
    }
  }
  const command = (name: string, work: () => unknown) =>
    vscode.commands.registerCommand(name, guarded(work, vscode.window.showErrorMessage))
  const withRepository = async (work: (session: Session, repo: string) => Promise<unknown>) => {
    if (session === undefined) await start(true)
    if (!session || !repo) throw new Error('Sign in, and open a repository with a remote.')
    await work(session, repo)
  }
  const sign = () => {
    if (vscode.window.state.focused) lastSign = Date.now()
  }
  const countMinute = async () => {
    const isActive = vscode.window.state.focused && Date.now() - lastSign < idleMinutes * MINUTE
    if (!isActive || !queue || !repo || isPaused() || state === 'recording_off') return
    // An extension host whose editor is gone gets no answer. It must not count beside the new one.
    const now = Date.now()
    await context.globalState.update('lastMinute', now)
    if (Date.now() - now > MINUTE) return
    recorded++
    await queue.add(repo, now, 1)
    show()
  }
  const timers = [setInterval(guarded(countMinute), MINUTE), setInterval(guarded(refresh), 60 * MINUTE)]
  const repositoryChanged = guarded(async () => (await openRepository()) !== repo && refresh())
  // An address may be half typed: a host token goes to a new one only once the person signs in.
  const configurationChanged = (event: vscode.ConfigurationChangeEvent) =>
    event.affectsConfiguration('ext.cloudUrl') ? guarded(() => stop().then(() => start()))() : restoreLocked()
  context.subscriptions.push(log, item, { dispose: () => timers.forEach(clearInterval) })
  context.subscriptions.push(
    command('ext.signIn', () => start(true)),
    command('ext.signInWithToken', async () => (await enterToken(context)) && start(true)),
    command('ext.signOut', () => Promise.all([signOut(context, session), stop()])),
    command('ext.pull', () => withRepository(refresh)),
    command('ext.push', () => withRepository((session, repo) => push(context, session, repo))),
    command('ext.togglePause', togglePause),
    vscode.workspace.onDidChangeTextDocument(sign),
    vscode.window.onDidChangeTextEditorSelection(sign),
    vscode.window.onDidChangeWindowState(sign),
    vscode.workspace.onDidChangeConfiguration(configurationChanged),
  )
  show()
  await guarded(async () => context.subscriptions.push(...(await watchRepositories(repositoryChanged))))()
  await guarded(() => start(false))()
}

export const deactivate = (): Promise<void> | undefined => queue?.dispose()
