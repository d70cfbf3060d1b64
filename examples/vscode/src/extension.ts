/** Puts it together: who is signed in, which folders are open, and what the commands do. */
import * as vscode from 'vscode'
import { MINUTE, Minutes } from './minutes.js'
import { PREFIX, setting } from './names.js'
import { type Folder, openFolders, repositoryOf, watchRepositories } from './repositories.js'
import { enterToken, type Session, signIn, signOut } from './session.js'
import { pull, push, restoreLocked } from './settings.js'
import { show as showIn } from './status-bar.js'

let minutes: Minutes | undefined
export const activate = async (context: vscode.ExtensionContext): Promise<void> => {
  let session: Session | undefined
  let folders: Folder[] = []
  let idle = new Map<string, number>()
  let stops = 0
  const log = vscode.window.createOutputChannel('Team settings', { log: true })
  const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Right)
  const show = () =>
    showIn(
      item,
      counted,
      session !== undefined,
      folders.map(({ repo }) => repo),
    )
  const counted = new Minutes(context, (report) => log.warn('Not all minutes counted.', report), show)
  minutes = counted

  const stop = async () => {
    session = undefined
    stops++
    const stopped = counted.stop()
    show()
    await stopped
  }
  const start = async (ask?: boolean) => {
    const before = stops
    const next = await signIn(context, ask)
    if (next === undefined || before !== stops) return refresh()
    const stopped = stop()
    session = next
    counted.start(next)
    await stopped
    await refresh()
    await counted.chooseSource(next)
  }
  const startAsking = async (withToken = setting('signInWith') === 'token') => {
    if (!withToken || (await enterToken(context))) await start(true)
  }
  const refresh = async () => {
    folders = await openFolders()
    show()
    if (session !== undefined) idle = await pull(context, session, folders)
  }
  const pushOne = async (session: Session) => {
    const items = folders.map((folder) => ({ label: folder.repo, folder }))
    const [chosen] = items.length > 1 ? [await vscode.window.showQuickPick(items)] : items
    if (chosen) await push(context, session, chosen.folder)
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
    vscode.commands.registerCommand(PREFIX + name, guarded(work, vscode.window.showErrorMessage))
  const withRepositories = async (work: (session: Session) => Promise<unknown>) => {
    if (session === undefined) await startAsking()
    if (!session || folders.length === 0) throw new Error('Sign in, and open a repository with a remote.')
    await work(session)
  }
  /** The repository of the file that the person has worked in, or else of the first folder. */
  const current = async (file?: vscode.Uri) => (file && (await repositoryOf(file))) ?? folders[0]?.repo
  const namesOf = (folders: Folder[]) => folders.map(({ uri, repo }) => `${uri} ${repo}`).join()
  const foldersChanged = guarded(async () => namesOf(await openFolders()) !== namesOf(folders) && refresh())
  // An address may be half typed: a host token goes to a new one only once the person signs in.
  const configurationChanged = (event: vscode.ConfigurationChangeEvent) =>
    event.affectsConfiguration(`${PREFIX}cloudUrl`)
      ? guarded(() => stop().then(() => start()))()
      : restoreLocked()
  const timers = [
    setInterval(
      guarded(() => counted.count(current, idle)),
      MINUTE,
    ),
    setInterval(guarded(refresh), 60 * MINUTE),
  ]
  context.subscriptions.push(log, item, { dispose: () => timers.forEach(clearInterval) })
  context.subscriptions.push(
    command('signIn', () => startAsking()),
    command('signInWithToken', () => startAsking(true)),
    command('signOut', () => Promise.all([signOut(context, session), stop()])),
    command('pull', () => withRepositories(refresh)),
    command('push', () => withRepositories(pushOne)),
    command('togglePause', () => counted.togglePause()),
    vscode.workspace.onDidChangeTextDocument(({ document }) => counted.sign(document.uri)),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => counted.sign(textEditor.document.uri)),
    vscode.window.onDidChangeWindowState(() => counted.sign()),
    vscode.workspace.onDidChangeConfiguration(configurationChanged),
  )
  show()
  await guarded(async () => context.subscriptions.push(...(await watchRepositories(foldersChanged))))()
  await guarded(() => start(false))()
}

export const deactivate = (): Promise<void> | undefined => minutes?.stop()
