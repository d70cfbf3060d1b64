/** The team's settings for the open repository: pulled and applied, and pushed on command. */
import { effectiveConfig, idleWindow, isProblem, pushSettings, type Repo } from '@team-settings/client'
import * as vscode from 'vscode'
import type { Session } from './session.js'

/** The settings that this extension declares. Those of a machine are the user's own: a team must not change them. */
const sharedKeys = ({ extension }: vscode.ExtensionContext): string[] => {
  const declared: Record<string, { scope?: string }> =
    extension.packageJSON.contributes.configuration.properties
  return Object.keys(declared).filter((key) => declared[key]?.scope !== 'machine')
}

const apply = async (context: vscode.ExtensionContext, settings: Record<string, unknown>) => {
  const configuration = vscode.workspace.getConfiguration()
  for (const key of sharedKeys(context)) {
    if (!(key in settings) || configuration.inspect(key)?.workspaceValue === settings[key]) continue
    await configuration.update(key, settings[key], vscode.ConfigurationTarget.Workspace)
  }
}

/** Applies what the team has decided. Returns the idle window in minutes. */
export const pull = async (context: vscode.ExtensionContext, { client }: Session, repo: Repo) => {
  const config = await effectiveConfig(client, repo)
  if (config !== undefined) await apply(context, config.settings)
  return idleWindow(config?.idle_window_minutes ?? 5)
}

/** Pushes this workspace's values of the shared settings. */
export const push = async (context: vscode.ExtensionContext, session: Session, repo: Repo): Promise<void> => {
  const repohostToken = await session.hostToken()
  if (repohostToken === undefined) return
  const configuration = vscode.workspace.getConfiguration()
  const settings = Object.fromEntries(sharedKeys(context).map((key) => [key, configuration.get(key)]))
  const remember = (etag: string | undefined) => context.workspaceState.update(repo, etag && { etag })
  // What was pushed or seen last, here.
  const base = context.workspaceState.get<{ etag: string }>(repo)
  try {
    let pushed = await pushSettings(session.client, { repo, settings, repohostToken, base })
    if (pushed.conflict) {
      const { theirs } = pushed
      const choice = await vscode.window.showWarningMessage(
        `Other settings of ${repo} were pushed meanwhile.`,
        { modal: true, detail: JSON.stringify(theirs?.settings ?? {}, null, 2) },
        'Use Theirs',
        'Push Mine',
      )
      if (choice === undefined) return
      if (choice === 'Use Theirs') {
        await apply(context, theirs?.settings ?? {})
        return await remember(theirs?.etag)
      }
      pushed = await pushSettings(session.client, { repo, settings, repohostToken, base: theirs })
    }
    if (pushed.conflict) throw new Error('They were changed once more. Try again.')
    await remember(pushed.etag)
    await vscode.window.showInformationMessage(`The settings of ${repo} are pushed.`)
  } catch (error) {
    if (!isProblem(error, 'PUT /api/settings/{owner}/{repo}')) throw error
    if (error.code === 'repo_access_denied')
      throw new Error(`${error.detail} If ${repo} is private, turn on ext.pushPrivateRepositories.`)
    if (error.code !== 'workspace_required') throw error
    const { suggested_pattern: pattern } = error
    throw new Error(`${repo} belongs to no workspace yet. Create one with the pattern ${pattern}.`)
  }
}
