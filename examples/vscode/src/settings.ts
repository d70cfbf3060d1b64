/** The team's settings for the open repository: pulled and applied, and pushed on command. */
import * as cloud from '@team-settings/client'
import * as vscode from 'vscode'
import type { Session } from './session.js'

/** The settings that this extension declares. Those of a machine are the user's own: a team must not change them. */
const sharedKeys = ({ extension }: vscode.ExtensionContext): string[] => {
  const { properties } = extension.packageJSON.contributes.configuration
  return Object.keys(properties).filter((key) => properties[key].scope !== 'machine')
}
const all = () => vscode.workspace.getConfiguration()
const editor = {
  read: (key: string) => all().inspect(key)?.workspaceValue,
  async write(key: string, value: unknown) {
    // The value goes to `.vscode/settings.json`. Git ignores that file from then on, unless the repository tracks it.
    const { fs, workspaceFile, workspaceFolders: [folder] = [] } = vscode.workspace
    if (value !== undefined && !workspaceFile && folder && folder.uri.scheme !== 'vscode-vfs') {
      const file = vscode.Uri.joinPath(folder.uri, '.vscode/.gitignore')
      const names = new TextEncoder().encode('.gitignore\nsettings.json\n')
      const create = async ({ code = '' }) => code === 'FileNotFound' && fs.writeFile(file, names)
      await Promise.allSettled([fs.stat(file).then(undefined, create)])
    }
    await all().update(key, value, vscode.ConfigurationTarget.Workspace)
  },
}
let team: cloud.EffectiveConfig | undefined
let locked: string[] = []
/** Applies what the team has decided, and takes back what it no longer decides. Returns the idle window in minutes. */
export const pull = async (context: vscode.ExtensionContext, { client }: Session, repo: string) => {
  team = await cloud.effectiveConfig(client, repo)
  const before = context.workspaceState.get<string[]>('applied', [])
  const done = await cloud.applySettings(team ?? { settings: {} }, sharedKeys(context), editor, before)
  locked = done.locked
  await context.workspaceState.update('applied', done.applied)
  return cloud.idleWindow(team?.idle_window_minutes ?? 5)
}
/** Undoes edits of locked settings. An editor protects no setting, so each extension can do this for its own alone. */
export const restoreLocked = async (): Promise<void> => {
  const { changed } = team ? await cloud.applySettings(team, locked, editor) : { changed: [] }
  for (const key of changed) await vscode.window.showInformationMessage(`${key}: Set by your team.`)
}

/** Pushes this workspace's values of the shared settings. */
export const push = async (context: vscode.ExtensionContext, session: Session, repo: string) => {
  const repohostToken = await session.hostToken()
  if (repohostToken === undefined) return
  const settings = Object.fromEntries(sharedKeys(context).map((key) => [key, all().get(key)]))
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
      await cloud.applySettings(theirs ?? { settings: {} }, sharedKeys(context), editor)
      return await remember(theirs?.etag)
    }
  } catch (error) {
    if (!cloud.isProblem(error, 'PUT /api/settings/{owner}/{repo}')) throw error
    if (error.code === 'repo_access_denied')
      throw new Error(`${error.message} If ${repo} is private, turn on ext.pushPrivateRepositories.`)
    if (error.code !== 'workspace_required') throw error
    throw new Error(`${repo} is in no workspace yet. Create one for ${error.suggested_pattern}.`)
  }
}
