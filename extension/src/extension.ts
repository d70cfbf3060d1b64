/** The extension's entry point: who is signed in, which folders are open, and what the commands do. */
import * as vscode from 'vscode'
import { indexedDbStorage } from '../../client/src/browser.js'
import { isPlainHttp, PLAIN_HTTP_MESSAGE } from '../../schemas/service-address.js'
import { MINUTE } from './activity.js'
import { Minutes, type StorageAt } from './minutes.js'
import { type Folder, openFolders, repositoryOf, watchRepositories } from './repositories.js'
import { fail, inform, pick, warn } from './say.js'
import {
  enterToken,
  markOf,
  openSession,
  SESSION,
  type Session,
  serviceUrl,
  setting,
  signIn,
  signOut,
} from './session.js'
import { TeamSettings } from './settings.js'
import { hasLinks, type LeadsOut, SettingsFiles } from './settings-file.js'
import { Snapshots } from './snapshots.js'
import { newsOf, statusOf } from './status.js'
import { isNewer, Team } from './team.js'
import { plain } from './text.js'

export { hasLinks }

/** The team's settings are pulled again when the window gets the focus after this time. */
const ENTER_TOKEN = 'Enter a Token'
const PULL_AFTER = 15 * MINUTE
/** A team's own extension, which has another name, comes from elsewhere than the service. */
const SERVED = 'team-settings.team-settings'
/** They decide which repositories are the team's. */
const HOST_SETTINGS = ['teamSettings.host', 'teamSettings.gitlabHost', 'teamSettings.hostAliases']

/** What a browser and other places do differently. */
interface Platform {
  storageAt: StorageAt
  leadsOut: LeadsOut
}

let minutes: Minutes | undefined
/** Activates without waiting for anything, not even the network or Git. */
export const activateWith = (context: vscode.ExtensionContext, { storageAt, leadsOut }: Platform): void => {
  let session: Session | undefined
  let revoked = false
  let folders: Folder[] = []
  let repo: string | undefined
  let pulledAt = 0
  const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Right)
  /** The mark of the sign-in or sign-out that this window has followed. */
  let mark: string | undefined
  const isCurrentMark = async () => (await markOf(context)) === mark
  const settings = new TeamSettings(context, new SettingsFiles(leadsOut), isCurrentMark, () => show())
  const team = new Team(context)
  const { id, packageJSON } = context.extension
  const name = `${packageJSON.displayName}`
  const log = vscode.window.createOutputChannel(name, { log: true })
  const counted = new Minutes(
    context,
    storageAt,
    (report) => log.warn('Not all minutes counted.', report),
    () => show(),
  )
  minutes = counted

  const show = () => {
    const isOld = id === SERVED && isNewer(team.version, packageJSON.version)
    const { text, tooltip, command } = statusOf({
      signedIn: session !== undefined,
      revoked,
      paused: counted.isPaused,
      queue: counted.state,
      today: counted.today,
      repo,
      workspace: repo === undefined ? undefined : team.repos.get(repo)?.workspace,
      isTeams: team.matches(repo),
      host: `${setting('host')}`,
      news: isOld && session ? newsOf(team.version, session.baseUrl) : undefined,
      waiting: settings.waiting,
      problems: settings.problems,
    })
    Object.assign(item, { text, tooltip: plain(tooltip), command: command && `teamSettings.${command}` })
    item.show()
    void vscode.commands.executeCommand(
      'setContext',
      'teamSettings.signedIn',
      session !== undefined && !revoked,
    )
  }
  /** Finds the repository of the file in which the person works, or else of the first folder. */
  const find = async () => {
    const { file } = counted
    repo = file ? await repositoryOf(file, team.patterns) : folders[0]?.repo
    show()
  }
  const findAll = async () => {
    folders = await openFolders(team.patterns)
    await find()
  }

  /** Runs work and logs what goes wrong. Pass `tell` if the person asked for the work. */
  const guarded = (work: () => unknown, tell?: (message: string) => unknown) => async () => {
    try {
      await work()
    } catch (error) {
      const { name, message } = error as Error
      log.warn(message)
      // `fetch` throws a TypeError if no response comes.
      const isUnreachable = /^(Type|Timeout)Error$/.test(name)
      const why = isPlainHttp(error as Error) ? ` ${PLAIN_HTTP_MESSAGE}` : ''
      await tell?.(isUnreachable ? `Not reachable. Your minutes wait.${why}` : message)
    }
  }
  let refreshes = 0
  /**
   * Refreshes everything. Once another refresh has begun, this one's responses have no effect, however late they
   * arrive.
   */
  const refresh = async (what: 'all' | 'folders' | 'asked' = 'all') => {
    const mine = session
    const number = ++refreshes
    const isCurrent = () => session === mine && refreshes === number
    await findAll()
    if (mine === undefined) return settings.release()
    if (what !== 'folders') {
      pulledAt = Date.now()
      team.forget()
    }
    await team.learn(mine, isCurrent)
    if (!isCurrent()) return
    await findAll()
    const open = folders
    const configs = await Promise.allSettled(
      open.map(({ repo }) => team.configOf(mine.client, repo, isCurrent)),
    )
    show()
    if (isCurrent())
      await settings.pull(mine.client, open, configs, {
        isCurrent,
        isAsked: what === 'asked',
      })
  }
  const onRevoked = () => {
    if (revoked) return
    revoked = true
    show()
    const question = 'Your session was ended elsewhere. Your minutes wait. Sign in again?'
    void warn(question, 'Sign In').then((choice) => (choice ? start()() : undefined))
  }
  let switching: Promise<unknown> = Promise.resolve()
  /** @returns whether the stored session differs from this window's */
  const switchSession = async () => {
    mark = await markOf(context)
    const next = await openSession(context, onRevoked)
    if (next?.client.token === session?.client.token) return false
    session = next
    revoked = false
    team.start(next)
    show()
    await counted.stop()
    if (next) counted.start(next)
    return true
  }
  /** Follows the stored session: this window's sign-in, or that of another. */
  const follow = async () => {
    const switched = switching.then(switchSession)
    switching = switched.catch(() => {})
    if (!(await switched)) return
    await refresh()
    if (session) await counted.chooseSource(session)
  }
  /** Follows a sign-in or sign-out in another tab. */
  const followMark = async () => {
    if (!(await isCurrentMark())) await follow()
  }
  const start =
    (withToken = setting('signInWith') === 'token') =>
    async () => {
      if (withToken && !(await enterToken(context))) return
      const signedIn = await signIn(context)
      if (!signedIn) return
      await follow()
      if (signedIn.missingScope !== undefined && team.patterns.length === 0)
        void inform(
          `You have no workspace yet. If your team’s workspace takes in the members of an organization, sign in with a token that has the scope ${signedIn.missingScope}.`,
          ENTER_TOKEN,
        ).then((choice) => (choice === ENTER_TOKEN ? guarded(start(true), fail)() : undefined))
    }
  const stop = async () => {
    await counted.send()
    await signOut(context, session)
    await follow()
  }

  const choose = async (work: (snapshots: Snapshots, folder: Folder) => Promise<string | undefined>) => {
    const [one, ...others] = folders
    if (!session || !one)
      throw new Error(`Sign in, and open a repository with a remote at ${setting('host')}.`)
    const items = folders.map((folder) => ({ label: folder.repo, folder }))
    const folder = others.length === 0 ? one : (await pick(items))?.folder
    const said = folder && (await work(new Snapshots(context, session, settings, team), folder))
    if (said) void inform(said)
    if (folder) await refresh()
  }
  const apply = async () => {
    if (!session) await start()()
    if (!session) return
    await refresh('asked')
    const [problem] = settings.problems
    if (problem !== undefined) throw new Error(problem)
    void inform(await settings.summary(), 'Show Settings').then((choice) => (choice ? list() : undefined))
  }
  const list = async () => {
    if (!session) throw new Error('You aren’t signed in, so your team has no settings here.')
    const items = (await settings.list()).map(({ folder, key, value, says }) => ({
      label: key,
      description: JSON.stringify(value),
      detail: `${folder.repo}, ${says}`,
    }))
    const chosen = await pick(items, items.length === 0 ? await settings.summary() : 'Your team’s settings')
    if (chosen) await vscode.commands.executeCommand('workbench.action.openSettings', chosen.label)
  }
  const stopWriting = async () => {
    const [one, ...others] = folders
    const items = folders.map((folder) => ({ label: folder.repo, folder }))
    const folder = others.length === 0 ? one : (await pick(items))?.folder
    if (folder) await settings.stopWriting(folder)
  }
  const command = (name: string, work: () => unknown) =>
    vscode.commands.registerCommand(`teamSettings.${name}`, () =>
      vscode.window.withProgress(
        { location: vscode.ProgressLocation.Window, title: name },
        guarded(work, fail),
      ),
    )

  const namesOf = (folders: Folder[]) => folders.map(({ uri, repo }) => `${uri} ${repo}`).join()
  const foldersChanged = guarded(async () => {
    if (namesOf(await openFolders(team.patterns)) !== namesOf(folders)) await refresh('folders')
    // Git may be done with an operation, or have brought back what it had undone.
    else if (session) await settings.tryAgain()
  })
  const focusChanged = guarded(async () => {
    counted.followPause()
    await followMark()
    if (session && vscode.window.state.focused) await settings.tryAgain()
    if (session && vscode.window.state.focused && Date.now() - pulledAt >= PULL_AFTER) await refresh()
  })
  let learning = false
  /** Asks the service about a repository that isn't in an open folder, or about which it hasn't responded yet. */
  const learn = guarded(async () => {
    const mine = session
    const number = refreshes
    const isCurrent = () => session === mine && refreshes === number
    if (learning || mine === undefined) return
    learning = true
    try {
      await team.learn(mine, isCurrent)
      await find()
      if (isCurrent() && repo !== undefined) await team.configOf(mine.client, repo, isCurrent)
    } finally {
      learning = false
    }
    show()
  })
  const minutePasses = guarded(async () => {
    await followMark()
    await find()
    const known = repo === undefined ? undefined : team.repos.get(repo)
    // Minutes of other repositories wouldn't count anywhere, and the service isn't told of them.
    if (team.matches(repo) && known?.workspace !== null) await counted.count(repo, known?.idleMinutes ?? 5)
    // Not awaited, because it takes minutes if the service doesn't respond.
    if (repo !== undefined && !known) void learn()
  })
  const timer = setInterval(minutePasses, MINUTE)
  context.subscriptions.push(
    log,
    item,
    { dispose: () => clearInterval(timer) },
    command('signIn', () => start()()),
    command('signInWithToken', () => start(true)()),
    command('signOut', stop),
    command('apply', apply),
    command('show', list),
    command('stopWriting', stopWriting),
    command('review', () => settings.review()),
    command('push', () => choose((snapshots, folder) => snapshots.pushWithHelp(folder))),
    command('pull', () => choose((snapshots, folder) => snapshots.pull(folder))),
    command('togglePause', () => counted.togglePause()),
    command('openDashboard', () => vscode.env.openExternal(vscode.Uri.parse(serviceUrl()))),
    ...counted.watch(),
    vscode.window.onDidChangeWindowState(focusChanged),
    vscode.workspace.onDidSaveTextDocument(({ uri }) =>
      guarded(() => settings.tryAgain((file) => `${file}` === `${uri}`))(),
    ),
    vscode.workspace.onDidChangeConfiguration((event) =>
      guarded(() => {
        // An address may be half typed: a host token goes to a new one only once the person signs in.
        if (event.affectsConfiguration('teamSettings.url')) return follow()
        if (HOST_SETTINGS.some((name) => event.affectsConfiguration(name))) return foldersChanged()
        return settings.restoreLocked(event)
      })(),
    ),
    context.secrets.onDidChange(({ key }) => key === SESSION && guarded(follow)()),
  )
  show()
  void guarded(async () => context.subscriptions.push(...(await watchRepositories(foldersChanged))))()
  void guarded(async () => {
    await follow()
    if (session === undefined) await refresh()
  })()
}

/** In a browser, all extensions' databases are in one place. */
export const activate = (context: vscode.ExtensionContext): void =>
  activateWith(context, { storageAt: (place) => indexedDbStorage(`${place}`), leadsOut: hasLinks })

export const deactivate = async (): Promise<void> => {
  await minutes?.send()
  await minutes?.stop()
}
