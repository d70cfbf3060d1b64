/** Pushes and pulls the snapshot of a repository. */
import * as vscode from 'vscode'
import { isProblem, pullSettings, pushSettings } from '../../client/src/index.js'
import { parseJson } from '../../client/src/jsonc.js'
import { differences, isSame } from './plan.js'
import type { Folder } from './repositories.js'
import { pushToken, type Session } from './session.js'
import { fileOf, readSetting, type TeamSettings, writeSetting } from './settings.js'

type Values = Record<string, unknown>
type Refusal = Awaited<ReturnType<TeamSettings['refusals']>>

/** The keys of a folder's own settings: no defaults, and nothing from the person's other folders. */
const keysOf = async (folder: Folder): Promise<string[]> => {
  const bytes = await vscode.workspace.fs.readFile(fileOf(folder)).then(undefined, () => undefined)
  if (bytes === undefined) return []
  const { value } = parseJson(new TextDecoder().decode(bytes))
  return typeof value === 'object' && value !== null ? Object.keys(value) : []
}

export class Snapshots {
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly session: Session,
    private readonly settings: TeamSettings,
  ) {}

  private baseOf(repo: string) {
    return this.context.globalState.get<{ etag: string | undefined }>(`snapshot ${repo}`)
  }

  private remember(repo: string, etag: string | undefined) {
    return this.context.globalState.update(`snapshot ${repo}`, etag && { etag })
  }

  /** The settings that the person set in the folder, under the service's prefixes. */
  private async mine(folder: Folder, refusal: Refusal): Promise<Values> {
    const keys = (await keysOf(folder)).filter(
      (key) => !refusal(key) && !this.settings.isFromTeam(folder, key),
    )
    return Object.fromEntries(keys.map((key) => [key, readSetting(folder, key)]))
  }

  /** Changes that a snapshot would make in the folder. Settings that it doesn't have stay. */
  private wanted(folder: Folder, settings: Values, refusal: Refusal): Values {
    const isKept = (key: string) => refusal(key) !== undefined || this.settings.isLocked(folder, key)
    return Object.fromEntries(
      Object.entries(settings).filter(
        ([key, value]) => !isKept(key) && !isSame(readSetting(folder, key), value),
      ),
    )
  }

  /** Writes a snapshot as the person's own values. */
  private async write({
    folder,
    values,
    etag,
  }: {
    folder: Folder
    values: Values
    etag: string | undefined
  }) {
    const skipped: string[] = []
    for (const [key, value] of Object.entries(values))
      await writeSetting(folder, key, value).catch(() => skipped.push(key))
    await this.remember(folder.repo, etag)
    return `The snapshot is applied.${skipped.length > 0 ? ` Skipped: ${skipped.join(', ')}.` : ''}`
  }

  async pull(folder: Folder): Promise<string | undefined> {
    const { repo } = folder
    const theirs = await pullSettings(this.session.client, repo)
    if (theirs === undefined) return `${repo} has no snapshot yet.`
    const refusal = await this.settings.refusals(this.session.client)
    const values = this.wanted(folder, theirs.settings, refusal)
    const keys = Object.keys(values)
    const mine = Object.fromEntries(
      keys.map((key) => [key, readSetting(folder, key)]).filter(([, value]) => value !== undefined),
    )
    const options = { modal: true, detail: differences(mine, values).join('\n') }
    const question = `Apply the snapshot of ${repo} to .vscode/settings.json?`
    if (
      keys.length > 0 &&
      (await vscode.window.showInformationMessage(question, options, 'Apply')) !== 'Apply'
    )
      return undefined
    const done = await this.write({ folder, values, etag: theirs.etag })
    return keys.length > 0 ? done : 'You have the newest snapshot.'
  }

  async push(folder: Folder): Promise<string | undefined> {
    const { repo } = folder
    const { client } = this.session
    const repohostToken = await pushToken(this.context)
    if (repohostToken === undefined) return 'Sign in with the account of the repository host first.'
    const refusal = await this.settings.refusals(client)
    const settings = await this.mine(folder, refusal)
    // A new snapshot without settings would be useless.
    if (Object.keys(settings).length === 0)
      return `You have set nothing in .vscode/settings.json of ${repo} that your team shares.`
    let base = this.baseOf(repo) // Last pushed or seen in this editor.
    for (;;) {
      const pushed = await pushSettings(client, { repo, settings, repohostToken, base })
      if (!pushed.conflict) {
        await this.remember(repo, pushed.etag)
        const faults = pushed.result.warnings?.map(({ path, message }) => `${path.split('/')[3]} ${message}`)
        return faults ? `Pushed, but: ${faults.join(', ')}.` : `The settings of ${repo} are pushed.`
      }
      const { theirs } = pushed
      const question = `Someone else pushed settings of ${repo}.`
      const options = { modal: true, detail: differences(settings, theirs?.settings ?? {}).join('\n') }
      const choice = await vscode.window.showWarningMessage(question, options, 'Use Theirs', 'Push Mine')
      if (choice === undefined) return undefined
      base = theirs
      if (choice === 'Push Mine') continue
      const values = this.wanted(folder, theirs?.settings ?? {}, refusal)
      return this.write({ folder, values, etag: theirs?.etag })
    }
  }

  /** Pushes, and offers what is missing. */
  async pushWithHelp(folder: Folder): Promise<string | undefined> {
    try {
      return await this.push(folder)
    } catch (error) {
      if (!isProblem(error, 'PUT /api/settings/{owner}/{repo}')) throw error
      if (error.code === 'repo_access_denied')
        throw new Error(
          `${error.message} If ${folder.repo} is private, turn on teamSettings.pushPrivateRepositories.`,
        )
      if (error.code !== 'workspace_required') throw error
      const pattern = error.suggested_pattern
      const create = `Create workspace for ${pattern}`
      const question = `${folder.repo} is in none of your workspaces.`
      if ((await vscode.window.showWarningMessage(question, { modal: true }, create)) !== create)
        return undefined
      await this.session.client.request('POST /api/team/workspaces/create', {
        body: { name: pattern.replace(/\/[^/]*$/, ''), patterns: [pattern] },
      })
      return this.push(folder)
    }
  }
}
