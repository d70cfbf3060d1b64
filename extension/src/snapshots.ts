/** Pushes and pulls the snapshot of a repository. */
import type * as vscode from 'vscode'
import { isProblem, pullSettings, pushSettings } from '../../client/src/index.js'
import { looksSecret } from '../../schemas/secrets.js'
import { differences, isSame, pathOf, settingsIn, valuesOf } from './plan.js'
import type { Folder } from './repositories.js'
import { ask, choose } from './say.js'
import { pushToken, type Session } from './session.js'
import type { TeamSettings } from './settings.js'
import type { SettingsFile } from './settings-file.js'
import type { Team } from './team.js'
import type { Judge } from './trust.js'

type Values = Record<string, unknown>

export class Snapshots {
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly session: Session,
    private readonly settings: TeamSettings,
    private readonly team: Team,
  ) {}

  private baseOf(repo: string) {
    return this.context.globalState.get<{ etag: string | undefined }>(`snapshot ${repo}`)
  }

  private remember(repo: string, etag: string | undefined) {
    return this.context.globalState.update(`snapshot ${repo}`, etag && { etag })
  }

  /** The settings that the person set in the folder, under the service's prefixes. */
  private async mine(folder: Folder, file: SettingsFile, judge: Judge): Promise<[string, unknown][]> {
    const isFromTeam = await this.settings.fromTeam(folder, file)
    return [...file.values].filter(([id, value]) => judge.refusal(id, value) === undefined && !isFromTeam(id))
  }

  /** Shows what a push sends. Other people read it, so what looks like a secret isn't sent unless the person adds it. */
  private async chosen(repo: string, mine: [string, unknown][]): Promise<Values | undefined> {
    const entries = mine.map(([id, value]) => {
      const isSecret = looksSecret(pathOf(id).at(-1) ?? id, value)
      return {
        label: id,
        description: JSON.stringify(value),
        ...(isSecret && { detail: 'Looks like a secret. Your team could read it.' }),
        picked: !isSecret,
        setting: [id, value] as [string, unknown],
      }
    })
    const chosen = await choose(entries, `Push these settings of ${repo}?`)
    return chosen && valuesOf(chosen.map(({ setting }) => setting))
  }

  /** Changes that a snapshot would make in the folder. Settings that it doesn't have stay. */
  private wanted(folder: Folder, settings: Values, { values }: SettingsFile, judge: Judge) {
    return new Map(
      [...settingsIn(settings)].filter(
        ([id, value]) =>
          judge.refusal(id, value) === undefined &&
          !this.settings.isLocked(folder, id) &&
          !isSame(values.get(id), value),
      ),
    )
  }

  /** Writes a snapshot as the person's own values. */
  private async write(
    { repo }: Folder,
    file: SettingsFile,
    wanted: Map<string, unknown>,
    { judge, etag }: { judge: Judge; etag: string | undefined },
  ) {
    const entries = [...wanted].map(([key, value]) => ({ key, value }))
    const skipped = entries.filter(({ key, value }) => judge.unknown(key, value)).map(({ key }) => key)
    await file.write(file.edited(entries.filter(({ key }) => !skipped.includes(key))))
    await this.remember(repo, etag)
    return `The snapshot is applied.${skipped.length > 0 ? ` Skipped: ${skipped.join(', ')}.` : ''}`
  }

  async pull(folder: Folder): Promise<string | undefined> {
    const { repo } = folder
    const { client } = this.session
    // Other repositories are named to the service only in a push.
    if (!this.team.matches(repo)) return `${repo} is in none of your workspaces.`
    const theirs = await pullSettings(client, repo)
    if (theirs === undefined) return `${repo} has no snapshot yet.`
    const judge = await this.settings.judge(client)
    const file = await this.settings.files.read(folder)
    const wanted = this.wanted(folder, theirs.settings, file, judge)
    const mine = valuesOf([...file.values].filter(([id]) => wanted.has(id)))
    const question = `Apply the snapshot of ${repo} to .vscode/settings.json?`
    if (wanted.size > 0 && (await ask(question, differences(mine, valuesOf(wanted)), 'Apply')) !== 'Apply')
      return undefined
    const done = await this.write(folder, file, wanted, { judge, etag: theirs.etag })
    return wanted.size > 0 ? done : 'You have the newest snapshot.'
  }

  async push(folder: Folder): Promise<string | undefined> {
    const { repo } = folder
    const { client } = this.session
    const repohostToken = await pushToken(this.context)
    if (repohostToken === undefined) return 'Sign in with the account of the repository host first.'
    const judge = await this.settings.judge(client)
    const file = await this.settings.files.read(folder)
    const mine = await this.mine(folder, file, judge)
    // A new snapshot without settings would be useless.
    if (mine.length === 0)
      return `You have set nothing in .vscode/settings.json of ${repo} that your team shares.`
    const settings = await this.chosen(repo, mine)
    if (settings === undefined) return undefined
    if (Object.keys(settings).length === 0) return 'You chose no setting, so nothing is pushed.'
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
      const sides = differences(settings, theirs?.settings ?? {})
      const choice = await ask(question, sides, 'Use Theirs', 'Push Mine')
      if (choice === undefined) return undefined
      base = theirs
      if (choice === 'Push Mine') continue
      const wanted = this.wanted(folder, theirs?.settings ?? {}, file, judge)
      return this.write(folder, file, wanted, { judge, etag: theirs?.etag })
    }
  }

  /** Pushes, and offers to fix whatever is missing. */
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
      if ((await ask(question, [], create)) !== create) return undefined
      await this.session.client.request('POST /api/team/workspaces/create', {
        body: { name: pattern.replace(/\/[^/]*$/, ''), patterns: [pattern] },
      })
      return this.push(folder)
    }
  }
}
