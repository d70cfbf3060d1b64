/** Applies the team's settings to the open folders, and takes them out again. */
import * as vscode from 'vscode'
import { ApiProblem, type Client, type EffectiveConfig, idleWindow } from '../../client/src/index.js'
import { isSame, NO_TEAM, planFor, refusalOf, type Team, type Written } from './plan.js'
import { type Folder, gitStateOf } from './repositories.js'

/**
 * The file that settings are written to. In windows with one folder and with several, a different target of the editor
 * writes it.
 */
export const fileOf = ({ uri }: Folder) => vscode.Uri.joinPath(uri, '.vscode/settings.json')
const nameOf = ({ uri }: Folder) => `.vscode/settings.json of ${uri.path.split('/').at(-1)}`
const isOneFolder = () => vscode.workspace.workspaceFile === undefined
const settingsOf = ({ uri }: Folder) => vscode.workspace.getConfiguration(undefined, uri)
export const readSetting = (folder: Folder, key: string): unknown =>
  settingsOf(folder).inspect(key)?.[isOneFolder() ? 'workspaceValue' : 'workspaceFolderValue']
/** The editor rejects keys that no extension registers, and those that belong to the application or the machine. */
export const writeSetting = async (folder: Folder, key: string, value: unknown): Promise<void> => {
  const { Workspace, WorkspaceFolder } = vscode.ConfigurationTarget
  await settingsOf(folder).update(key, value, isOneFolder() ? Workspace : WorkspaceFolder)
}

const exists = (file: vscode.Uri) =>
  vscode.workspace.fs.stat(file).then(
    () => true,
    () => false,
  )

/** The effective configuration, or undefined where the person isn't a member. */
const configOf = async (client: Client, repo: string): Promise<EffectiveConfig | undefined> => {
  try {
    return (await client.request('GET /api/team/effective-config', { query: { repo } })).data
  } catch (error) {
    const isNoMember = error instanceof ApiProblem && error.code === 'not_a_member'
    if (isNoMember) return undefined
    throw error
  }
}

const NOT_WRITTEN = 'not written'

interface State {
  folder: Folder
  config: EffectiveConfig | undefined
  /** The part of the configuration that may be written. */
  team: Team
  /** Why a key isn't written. */
  skipped: Map<string, string>
}

export class TeamSettings {
  /** The configuration of each repository. Null: it's in no workspace. */
  readonly repos = new Map<string, { workspace: string | null; idleMinutes: number }>()
  private readonly states = new Map<string, State>()
  /** Folders in which the person was asked in this window. */
  private readonly asked = new Set<string>()
  private turn: Promise<unknown> = Promise.resolve()

  constructor(private readonly context: vscode.ExtensionContext) {}

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.turn.then(work)
    this.turn = result.catch(() => {})
    return result
  }

  /** Why a key is never written. */
  async refusals(client: Client) {
    const { contributes } = this.context.extension.packageJSON
    const declared = Object.keys(contributes.configuration.properties)
    return refusalOf((await client.request('GET /api/limits')).data, declared)
  }

  /** The service's response about a repository, and whether minutes count there. */
  async learn(client: Client, repo: string): Promise<EffectiveConfig | undefined> {
    const [config, { data: me }] = await Promise.all([
      configOf(client, repo),
      client.request('GET /api/team/me'),
    ])
    this.repos.set(repo, {
      workspace: (config && me.workspaces.find(({ id }) => id === config.workspace_id)?.name) ?? null,
      idleMinutes: idleWindow(config?.idle_window_minutes ?? 5),
    })
    return config
  }

  /** @param isCurrent whether the same person is still signed in */
  async pull(client: Client, folders: Folder[], isCurrent: () => boolean): Promise<void> {
    const refusal = await this.refusals(client)
    const one = async (folder: Folder) => {
      const config = await this.learn(client, folder.repo)
      const wanted = Object.entries(config?.settings ?? {}).map(([key, value]) => ({
        key,
        value,
        why: refusal(key),
      }))
      const skipped = new Map(wanted.flatMap(({ key, why }) => (why === undefined ? [] : [[key, why]])))
      const settings = Object.fromEntries(
        wanted.flatMap(({ key, value, why }) => (why === undefined ? [[key, value]] : [])),
      )
      const state = { folder, config, team: { settings, locked: config?.locked ?? [] }, skipped }
      await this.inTurn(async () => {
        if (!isCurrent()) return
        this.states.set(`${folder.uri}`, state)
        await this.apply(state)
      })
    }
    const results = await Promise.allSettled(folders.map(one))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  /** Takes out what was written for the team. */
  async release(folders: Folder[]): Promise<void> {
    this.states.clear()
    this.repos.clear()
    for (const folder of folders)
      await this.inTurn(() => this.apply({ folder, config: undefined, team: NO_TEAM, skipped: new Map() }))
  }

  /** Undoes edits of locked settings. Editors can't keep their users from changing a setting. */
  async restoreLocked({ affectsConfiguration }: vscode.ConfigurationChangeEvent): Promise<void> {
    for (const state of this.states.values()) {
      if (!state.team.locked.some((key) => affectsConfiguration(key, state.folder.uri))) continue
      for (const key of await this.inTurn(() => this.apply(state)))
        void vscode.window.showInformationMessage(`${key}: Set by your team.`)
    }
  }

  /** Forgets that the person declined, so that they are asked again. */
  async askAgain(folders: Folder[]): Promise<void> {
    for (const { uri } of folders) {
      this.asked.delete(`${uri}`)
      if (!this.context.globalState.get(`agreed ${uri}`, true))
        await this.context.globalState.update(`agreed ${uri}`, undefined)
    }
  }

  private memoryOf({ uri }: Folder) {
    return new Map(
      Object.entries(this.context.globalState.get<Record<string, Written>>(`written ${uri}`, {})),
    )
  }

  /** @returns the keys whose values have changed */
  private async apply(state: State): Promise<string[]> {
    const { folder, team, skipped } = state
    const memory = this.memoryOf(folder)
    const steps = planFor(team, (key) => readSetting(folder, key), memory)
    if (steps.length === 0) return []
    const isNew = steps.some(({ written }) => written !== undefined) && !(await exists(fileOf(folder)))
    if (steps.some(({ written }) => written !== undefined) && !(await this.mayWrite(folder))) return []
    const remember = () =>
      this.context.globalState.update(
        `written ${folder.uri}`,
        memory.size === 0 ? undefined : Object.fromEntries(memory),
      )
    const before = new Map(memory)
    // Remembered before they are written. After a crash in between, values not yet replaced still count as the person's
    // own.
    for (const { key, written } of steps) if (written) memory.set(key, written)
    await remember()
    const changed: string[] = []
    for (const { key, value, written } of steps) {
      try {
        if (!isSame(readSetting(folder, key), value)) {
          await writeSetting(folder, key, value)
          changed.push(key)
        }
        if (written === undefined) memory.delete(key)
      } catch (error) {
        skipped.set(key, (error as Error).message)
        const last = before.get(key)
        last ? memory.set(key, last) : memory.delete(key)
      }
    }
    await remember()
    if (isNew && changed.length > 0) void this.offerToIgnore(folder)
    return changed
  }

  /**
   * Asks once per folder if Git tracks the file. Nothing waits for the answer: if it's yes, the settings are applied
   * again.
   */
  private async mayWrite(folder: Folder): Promise<boolean> {
    const place = `agreed ${folder.uri}`
    const { globalState } = this.context
    const agreed = globalState.get<boolean>(place)
    if (agreed !== undefined) return agreed
    const rule = `Your team’s settings go to ${nameOf(folder)}. Values that you set there stay, unless they are locked.`
    if ((await gitStateOf(fileOf(folder))) !== 'tracked') {
      if (!globalState.get('explained', false)) void vscode.window.showInformationMessage(rule)
      await globalState.update('explained', true)
      return true
    }
    if (this.asked.has(`${folder.uri}`)) return false
    this.asked.add(`${folder.uri}`)
    const question = `${rule} Git tracks this file, so the repository will show the change.`
    vscode.window.showInformationMessage(question, 'Write', 'Don’t Write Here').then(async (choice) => {
      if (choice === undefined) return
      await globalState.update(place, choice === 'Write')
      const state = this.states.get(`${folder.uri}`)
      if (state) await this.inTurn(() => this.apply(state))
    })
    return false
  }

  /** Offers to keep a file that this extension created out of Git. */
  private async offerToIgnore(folder: Folder): Promise<void> {
    const ignored = vscode.Uri.joinPath(folder.uri, '.vscode/.gitignore')
    if ((await gitStateOf(fileOf(folder))) !== 'untracked' || (await exists(ignored))) return
    const question = `Made ${nameOf(folder)} for your team’s settings. Should Git ignore it?`
    if ((await vscode.window.showInformationMessage(question, 'Ignore It', 'No')) !== 'Ignore It') return
    await vscode.workspace.fs.writeFile(ignored, new TextEncoder().encode('.gitignore\nsettings.json\n'))
  }

  /** Whether the folder has this value from the team. */
  isFromTeam(folder: Folder, key: string): boolean {
    const written = this.memoryOf(folder).get(key)
    return written !== undefined && isSame(written.value, readSetting(folder, key))
  }

  isLocked({ uri }: Folder, key: string): boolean {
    return this.states.get(`${uri}`)?.team.locked.includes(key) ?? false
  }

  /** Each key with its value, its source, and what it overrides. */
  list(): { folder: Folder; key: string; value: unknown; says: string }[] {
    return [...this.states.values()].flatMap(({ folder, config, skipped }) =>
      Object.entries(config?.settings ?? {}).map(([key, value]) => {
        const { globalValue, defaultValue } = settingsOf(folder).inspect(key) ?? {}
        const other = this.memoryOf(folder).get(key)?.own ?? globalValue ?? defaultValue
        const own = readSetting(folder, key)
        const state =
          skipped.get(key) ??
          (this.isFromTeam(folder, key)
            ? `overrides ${JSON.stringify(other) ?? 'nothing'}`
            : own === undefined
              ? NOT_WRITTEN
              : `you have set ${JSON.stringify(own)}`)
        return { folder, key, value, says: `${config?.sources[key]}: ${state}` }
      }),
    )
  }

  /** In one sentence, for the person who asked. */
  get summary(): string {
    const listed = this.list()
    const count = (has: (one: (typeof listed)[number]) => boolean) => listed.filter(has).length
    const applied = count(({ folder, key }) => this.isFromTeam(folder, key))
    const own = count(({ says }) => says.includes(': you have set'))
    const waiting = count(({ says }) => says.endsWith(NOT_WRITTEN))
    const skipped = listed.length - applied - own - waiting
    if (listed.length === 0) return 'Your team has no settings for the open folders.'
    const more = waiting > 0 ? ` ${waiting} wait until you agree to a change of .vscode/settings.json.` : ''
    return `Team settings: ${applied} applied, ${own} of your own kept, ${skipped} skipped.${more}`
  }
}
