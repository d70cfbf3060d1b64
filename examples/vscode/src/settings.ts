/** The team's settings for the open repositories: pulled and applied, and pushed on command. */
import * as cloud from '@team-settings/client'
import * as vscode from 'vscode'
import { PREFIX } from './names.js'
import type { Folder } from './repositories.js'
import type { Session } from './session.js'

/** The settings that this extension declares. Those of a machine are the user's own: a team must not change them. */
const sharedKeys = ({ extension }: vscode.ExtensionContext): string[] => {
  const { properties } = extension.packageJSON.contributes.configuration
  return Object.keys(properties).filter((key) => properties[key].scope !== 'machine')
}
const settingsOf = ({ uri }: Folder) => vscode.workspace.getConfiguration(undefined, uri)
/** Reads and writes the settings of a folder, or of the window if it has one folder. */
const editorOf = (folder: Folder): cloud.Editor => {
  const { fs, workspaceFile, workspaceFolders = [] } = vscode.workspace
  const isOne = workspaceFolders.length === 1
  const { Workspace, WorkspaceFolder } = vscode.ConfigurationTarget
  return {
    read: (key) => settingsOf(folder).inspect(key)?.[isOne ? 'workspaceValue' : 'workspaceFolderValue'],
    async write(key, value) {
      // The value goes to `.vscode/settings.json`. Git ignores that file from then on, unless the repository tracks it.
      if (value !== undefined && !(isOne && workspaceFile) && folder.uri.scheme !== 'vscode-vfs') {
        const file = vscode.Uri.joinPath(folder.uri, '.vscode/.gitignore')
        const names = new TextEncoder().encode('.gitignore\nsettings.json\n')
        const create = async ({ code = '' }) => code === 'FileNotFound' && fs.writeFile(file, names)
        await Promise.allSettled([fs.stat(file).then(undefined, create)])
      }
      await settingsOf(folder).update(key, value, isOne ? Workspace : WorkspaceFolder)
    },
  }
}

/** Takes back edits of what is locked, for each folder by its address. */
const restorers = new Map<string, () => Promise<cloud.Applied>>()
const NOTHING = { settings: {}, idle_window_minutes: 5 }
/** Applies what the team has decided, and takes back what it no longer decides. Returns the idle window in minutes. */
const pullFolder = async (context: vscode.ExtensionContext, { client }: Session, folder: Folder) => {
  const team = (await cloud.effectiveConfig(client, folder.repo)) ?? NOTHING
  const place = `applied ${folder.uri}`
  const before = context.workspaceState.get<string[]>(place, [])
  const { applied, locked } = await cloud.applySettings(team, sharedKeys(context), editorOf(folder), before)
  restorers.set(`${folder.uri}`, () => cloud.applySettings(team, locked, editorOf(folder)))
  await context.workspaceState.update(place, applied)
  return cloud.idleWindow(team.idle_window_minutes)
}
/** Pulls for all open folders. Returns the idle window of each repository. */
export const pull = async (context: vscode.ExtensionContext, session: Session, folders: Folder[]) => {
  const uris = folders.map(({ uri }) => `${uri}`)
  for (const uri of restorers.keys()) if (!uris.includes(uri)) restorers.delete(uri)
  const idle = folders.map(
    async (folder) => [folder.repo, await pullFolder(context, session, folder)] as const,
  )
  return new Map(await Promise.all(idle))
}
/** Undoes edits of locked settings. An editor protects no setting, so each extension can do this for its own alone. */
export const restoreLocked = async (): Promise<void> => {
  for (const restore of restorers.values())
    for (const key of (await restore()).changed)
      await vscode.window.showInformationMessage(`${key}: Set by your team.`)
}

/** Pushes this window's values of the shared settings. */
export const push = async (context: vscode.ExtensionContext, session: Session, folder: Folder) => {
  const { repo } = folder
  const repohostToken = await session.hostToken()
  if (repohostToken === undefined) return
  const settings = Object.fromEntries(sharedKeys(context).map((key) => [key, settingsOf(folder).get(key)]))
  const remember = (etag: string | undefined) => context.workspaceState.update(repo, etag && { etag })
  let base = context.workspaceState.get<{ etag: string | undefined }>(repo) // Pushed or seen last, here.
  try {
    for (;;) {
      const pushed = await cloud.pushSettings(session.client, { repo, settings, repohostToken, base })
      if (!pushed.conflict) {
        await remember(pushed.etag)
        const faults = pushed.result.warnings?.map(({ path, message }) => `${path.split('/')[3]} ${message}`)
        const done = faults ? `Pushed, but: ${faults.join(', ')}.` : `The settings of ${repo} are pushed.`
        return await vscode.window.showInformationMessage(done)
      }
      const { theirs } = pushed
      const question = `Other settings of ${repo} were pushed meanwhile.`
      const options = { modal: true, detail: JSON.stringify(theirs?.settings ?? {}, null, 2) }
      const choice = await vscode.window.showWarningMessage(question, options, 'Use Theirs', 'Push Mine')
      if (choice === undefined) return
      base = theirs
      if (choice === 'Push Mine') continue
      await cloud.applySettings(theirs ?? { settings: {} }, sharedKeys(context), editorOf(folder))
      return await remember(theirs?.etag)
    }
  } catch (error) {
    if (!cloud.isProblem(error, 'PUT /api/settings/{owner}/{repo}')) throw error
    if (error.code === 'repo_access_denied')
      throw new Error(`${error.message} If ${repo} is private, turn on ${PREFIX}pushPrivateRepositories.`)
    if (error.code !== 'workspace_required') throw error
    throw new Error(`${repo} is in no workspace yet. Create one for ${error.suggested_pattern}.`)
  }
}
