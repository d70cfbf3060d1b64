/** Applies the team's settings to the open folders, and removes them again. */
import * as vscode from 'vscode'
import type { Client, EffectiveConfig } from '../../client/src/index.js'
import { isLocked, languagesOf, locksOf } from '../../schemas/settings-keys.js'
import { exists, isAsInGit, isGitBusy } from './git-operations.js'
import { hashOf, type Kept, Memory } from './memory.js'
import { aroundLocks, isSame, pathOf, planFor, type Step, settingsIn } from './plan.js'
import { type Folder, gitStateOf, hasNoRepository } from './repositories.js'
import { ask, inform } from './say.js'
import {
  fileOf,
  folderName,
  IGNORED,
  ignoreOf,
  nameOf,
  type Place,
  type SettingsFile,
  type SettingsFiles,
} from './settings-file.js'
import { readText } from './settings-text.js'
import { type Judge, judgeOf, readManifests } from './trust.js'

const openPlaces = () => (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => ({ uri }))
const isOpen = ({ uri }: Place) => openPlaces().some((place) => `${place.uri}` === `${uri}`)
const inspect = ({ uri }: Place, id: string) => {
  const [key, inner] = pathOf(id)
  return vscode.workspace.getConfiguration(undefined, uri).inspect(inner ?? key)
}

const NOT_WRITTEN = 'not written'
const SHOW = 'Show Settings'
const STOP = 'Stop Writing Here'
/** The maximum number of settings in a dialog, and the maximum length of a value. */
const [MAX_QUESTIONS, MAX_SHOWN] = [20, 500]
/** The number of answers that are remembered. */
const MAX_ANSWERS = 1000

/** Everything is applied, or only locked settings. */
type Part = 'all' | 'locked'
interface State {
  folder: Folder
  config: EffectiveConfig | undefined
  /** Settings that may be written. */
  wanted: Map<string, unknown>
  locked: Set<string>
  /** Settings about which the person is asked first. */
  asked: Set<string>
  /** Why a setting isn't written. */
  skipped: Map<string, string>
  /** Applied at the next focus, because Git was at work. */
  waits: Part | undefined
}
/** The state of a place after a sign-out, or where the person isn't a member. */
const nothingFor = ({ uri }: Place): State => ({
  folder: { uri, repo: '' },
  config: undefined,
  wanted: new Map(),
  locked: new Set(),
  asked: new Set(),
  skipped: new Map(),
  waits: undefined,
})

interface Plan {
  state: State
  file: SettingsFile
  kept: Kept
  steps: Step[]
  /** Steps that wait for an answer. */
  questions: Step[]
}
const isWrite = ({ written }: Step) => written !== undefined
const writesOf = ({ steps, questions }: Plan) =>
  [...steps.filter(isWrite), ...questions].map(({ key }) => key)
const inWords = (keys: string[]) =>
  `${keys.slice(0, 12).join(', ')}${keys.length > 12 ? ` and ${keys.length - 12} more` : ''}`
const countOf = (keys: unknown[]) => (keys.length === 1 ? '1 setting' : `${keys.length} settings`)
const RULE = 'Values that you set there stay, unless they are locked.'

const restoredText = (kept: Kept, { key, value }: Step) => {
  const text = kept.texts[key]
  return text !== undefined && isSame([...readText(`{"":${text}}`).values()], [value]) ? text : undefined
}

/**
 * The file's text after a plan, and what to remember. As long as no one else has changed the file, the text before the first
 * write comes back once nothing of the team is left.
 */
const nextOf = async (
  { text, hasFolder, values, textOf, edited }: SettingsFile,
  kept: Kept,
  { steps, changes }: { steps: Step[]; changes: Step[] },
): Promise<{ text: string | null; next: Kept }> => {
  const isFirst = kept.written.size === 0
  const written = new Map(kept.written)
  const texts = new Map(Object.entries(kept.texts))
  for (const { key, written: entry } of steps) {
    const own =
      entry?.own === undefined ? undefined : isSame(entry.own, values.get(key)) ? textOf(key) : texts.get(key)
    if (own === undefined) texts.delete(key)
    else texts.set(key, own)
    if (entry) written.set(key, entry)
    else written.delete(key)
  }
  const isUntouched =
    kept.before !== undefined && (kept.before === text || kept.hash === (await hashOf(text ?? '')))
  const before = isFirst ? text : isUntouched ? kept.before : undefined
  const blocks = new Set(isFirst ? [] : kept.blocks)
  const made = isFirst ? text === null : kept.made
  const texted = changes.map((step) => (isWrite(step) ? step : { ...step, text: restoredText(kept, step) }))
  let after: string | null = edited(texted, blocks)
  if (written.size === 0 && before !== undefined) after = before
  else if (written.size === 0 && made && /^\uFEFF?\s*\{\s*\}\s*$/.test(after)) after = null
  return {
    text: after,
    next: {
      written,
      texts: Object.fromEntries(texts),
      blocks: [...blocks],
      made,
      madeFolder: isFirst ? !hasFolder : kept.madeFolder,
      before,
      hash: await hashOf(after ?? ''),
    },
  }
}

export class TeamSettings {
  private states = new Map<string, State>()
  /** Folders in which the person was asked in this window. Empty: before the first write. */
  private readonly asked = new Set<string>()
  private asking = false
  private turn: Promise<unknown> = Promise.resolve()

  private readonly memory: Memory

  constructor(
    private readonly context: vscode.ExtensionContext,
    readonly files: SettingsFiles,
    /** Whether no other window has signed in or out meanwhile. */
    private readonly isCurrent: () => Promise<boolean>,
  ) {
    this.memory = new Memory(context)
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.turn.then(work)
    this.turn = result.catch(() => {})
    return result
  }

  /** Rules of the service and of the editor, which hold whatever the service says. */
  async judge(client: Client): Promise<Judge> {
    const { extension } = this.context
    const { data: limits } = await client.request('GET /api/limits')
    const judge = judgeOf({
      limits,
      manifests: readManifests(vscode.extensions.all, extension.id),
      declared: Object.keys(extension.packageJSON.contributes.configuration.properties),
      isKnown: (key) => vscode.workspace.getConfiguration().inspect(key)?.defaultValue !== undefined,
    })
    const keyOf = (id: string) => pathOf(id).at(-1) ?? id
    return {
      refusal: (id, value) => judge.refusal(keyOf(id), value),
      unknown: (id, value) => judge.unknown(keyOf(id), value),
      asks: (id, value) => judge.asks(keyOf(id), value),
    }
  }

  private stateOf(folder: Folder, config: EffectiveConfig | undefined, judge: Judge): State {
    const state: State = { ...nothingFor(folder), folder, config }
    const locks = locksOf(config?.locked ?? [])
    for (const [id, value] of settingsIn(config?.settings ?? {})) {
      const isLong = judge.asks(id, value) && JSON.stringify(value).length > MAX_SHOWN
      const why =
        judge.refusal(id, value) ??
        judge.unknown(id, value) ??
        (isLong ? 'Its value is too long to ask you about.' : undefined)
      if (why !== undefined) state.skipped.set(id, why)
      else state.wanted.set(id, value)
      if (isLocked(locks, pathOf(id)[0])) state.locked.add(id)
      if (judge.asks(id, value)) state.asked.add(id)
    }
    return state
  }

  /**
   * @param configs the service's response about each folder's repository
   * @param isCurrent whether the same person is still signed in
   */
  async pull(
    client: Client,
    folders: Folder[],
    configs: PromiseSettledResult<EffectiveConfig | undefined>[],
    isCurrent: () => boolean,
  ): Promise<void> {
    const judge = await this.judge(client)
    await this.inTurn(async () => {
      if (!isCurrent()) return
      const open = new Set(folders.map(({ uri }) => `${uri}`))
      const states = new Map([...this.states].filter(([uri]) => open.has(uri)))
      for (const [index, folder] of folders.entries()) {
        const config = configs[index]
        if (config?.status !== 'fulfilled') continue
        states.set(`${folder.uri}`, this.stateOf(folder, config.value, judge))
      }
      this.states = states
      await this.apply([...states.values(), ...(await this.leftovers(open))])
    })
    for (const config of configs) if (config.status === 'rejected') throw config.reason
  }

  /** Folders that had settings of a team, and now belong to no repository, or to several. */
  private async leftovers(known: Set<string>): Promise<State[]> {
    const written = new Set(await this.memory.folders())
    const others = openPlaces().filter(({ uri }) => !known.has(`${uri}`) && written.has(`${uri}`))
    const isLeft = await Promise.all(others.map(({ uri }) => hasNoRepository(uri)))
    return others.filter((_, index) => isLeft[index]).map(nothingFor)
  }

  /** Removes everything that was written for the team, even in folders that aren't open. */
  async release(): Promise<void> {
    this.states.clear()
    await this.inTurn(async () => {
      const folders = await this.memory.folders()
      await this.apply(folders.map((folder) => nothingFor({ uri: vscode.Uri.parse(folder) })))
    })
  }

  /**
   * Removes everything that was written to a folder, and writes nothing more there until the person applies the
   * settings.
   */
  async stopWriting(place: Place): Promise<void> {
    await this.context.globalState.update(`agreed ${place.uri}`, false)
    await this.inTurn(() => this.apply([nothingFor(place)]))
  }

  /**
   * Undoes edits of locked settings. Editors can't keep their users from changing a setting. A change by Git
   * isn't an edit. It's handled when the window next gets the focus, so that the extension doesn't interfere
   * with a checkout or a merge.
   */
  async restoreLocked({ affectsConfiguration }: vscode.ConfigurationChangeEvent): Promise<void> {
    await this.inTurn(async () => {
      for (const state of this.states.values()) {
        const { folder, locked } = state
        const { uri } = folder
        const isAffected = (id: string) => {
          const [key, inner] = pathOf(id)
          if (affectsConfiguration(key, uri)) return true
          // Another block for the same language may have changed.
          const languages = inner === undefined ? [] : languagesOf(key)
          return languages.some((languageId) => affectsConfiguration(`${inner}`, { uri, languageId }))
        }
        if (![...locked].some(isAffected)) continue
        if ((await isGitBusy(fileOf(folder))) || (await isAsInGit(fileOf(folder)))) state.waits ??= 'locked'
        else await this.restore(state)
      }
    })
  }

  private async restore(state: State): Promise<void> {
    const keys = await this.apply([state], 'locked')
    if (keys.length === 0) return
    void inform(`${inWords(keys)}: Set by your team.`, SHOW, STOP).then((choice) => {
      if (choice === SHOW) void vscode.commands.executeCommand('teamSettings.show')
      if (choice === STOP) void this.stopWriting(state.folder)
    })
  }

  /** Makes the changes that waited for Git, once. */
  async followFocus(): Promise<void> {
    await this.inTurn(async () => {
      for (const state of this.states.values()) {
        const { folder, waits } = state
        if (waits === undefined || (await isGitBusy(fileOf(folder)))) continue
        state.waits = undefined
        await (waits === 'all' ? this.apply([state]) : this.restore(state))
      }
    })
  }

  /** Forgets that the person declined, so that they are asked again. */
  async askAgain(): Promise<void> {
    this.asked.clear()
    const { globalState } = this.context
    for (const { uri } of openPlaces())
      if (!globalState.get(`agreed ${uri}`, true)) await globalState.update(`agreed ${uri}`, undefined)
    await globalState.update(
      'answers',
      [...this.answers].filter(([, yes]) => yes),
    )
  }

  /** The person's answers about values that could run a program. */
  private get answers() {
    return new Map(this.context.globalState.get<[string, boolean][]>('answers', []))
  }

  private async planOf(state: State, part: Part): Promise<Plan> {
    const { folder, wanted, locked, asked } = state
    const kept = await this.memory.of(`${folder.uri}`)
    const { written: memory } = kept
    const file = await this.files.read(folder)
    // The folder may be on a disk that will be mounted again.
    if (file.text === null && !isOpen(folder)) return { state, file, kept, steps: [], questions: [] }
    const { answers } = this
    const answerTo = (id: string) =>
      asked.has(id) ? answers.get(JSON.stringify([id, wanted.get(id)])) : true
    const written = [...wanted].filter(([id]) => answerTo(id) !== false)
    const fixed = [...locked].filter((id) => wanted.has(id) && answerTo(id) === true)
    const around = aroundLocks([...file.values.keys(), ...memory.keys()], fixed)
    const team = {
      settings: Object.fromEntries([...around.map((id) => [id, undefined]), ...written]),
      locked: [...locked, ...around],
    }
    const isIncluded = ({ key }: Step) => part === 'all' || team.locked.includes(key)
    const all = planFor(team, (id) => file.values.get(id), memory).filter(isIncluded)
    const isQuestion = (step: Step) => isWrite(step) && answerTo(step.key) === undefined
    return {
      state,
      file,
      kept,
      steps: all.filter((step) => !isQuestion(step)),
      questions: all.filter(isQuestion),
    }
  }

  /** @returns the settings whose values have changed */
  private async apply(states: State[], part: Part = 'all'): Promise<string[]> {
    const faults: unknown[] = []
    const plans: Plan[] = []
    for (const state of states)
      await this.planOf(state, part).then(
        (plan) => plans.push(plan),
        (error) => faults.push(error),
      )
    const allowed = await this.allowedOf(plans)
    const changed: string[] = []
    for (const plan of allowed)
      await this.write(plan).then(
        (keys) => changed.push(...keys),
        (error) => faults.push(error),
      )
    const questions = allowed.flatMap(({ questions }) => questions)
    if (questions.length > 0) void this.askAbout(questions)
    if (faults.length > 0) throw faults[0]
    return changed
  }

  private async write({ state: { folder }, file, kept, steps }: Plan): Promise<string[]> {
    if (steps.length === 0) return []
    if (steps.some(isWrite) && !(await this.isCurrent())) return []
    const remember = (next: Kept) => this.memory.remember(`${folder.uri}`, next)
    const changes = steps.filter(({ key, value }) => !isSame(file.values.get(key), value))
    const { text, next } = await nextOf(file, kept, { steps, changes })
    // Remembered before they are written. After a crash in between, values not yet replaced still count as the person's
    // own.
    await remember({ ...next, written: new Map([...kept.written, ...next.written]) })
    try {
      if (changes.length > 0) await file.write(text)
    } catch (error) {
      await remember(kept)
      throw error
    }
    if (text === null) await this.files.removeFolder(folder, kept.madeFolder)
    await remember(next)
    if (file.text === null && changes.some(isWrite)) void this.offerToIgnore(folder)
    return changes.map(({ key }) => key)
  }

  /** The plans that may be carried out now. Nothing waits for an answer: if it's yes, the settings are applied again. */
  private async allowedOf(plans: Plan[]): Promise<Plan[]> {
    const { globalState } = this.context
    const allowed: Plan[] = []
    const first: Plan[] = []
    for (const plan of plans) {
      const { state } = plan
      const isTracked = writesOf(plan).length > 0 && (await gitStateOf(fileOf(state.folder))) === 'tracked'
      const agreed = globalState.get<boolean>(`agreed ${state.folder.uri}`)
      if (writesOf(plan).length === 0) allowed.push(plan)
      else if (agreed === false) continue
      else if (isTracked && agreed === undefined) void this.askAboutTracked(plan)
      else if (isTracked && (await isGitBusy(fileOf(state.folder)))) state.waits = 'all'
      else if (!isTracked && !globalState.get('explained', false)) first.push(plan)
      else allowed.push(plan)
    }
    if (first.length > 0) void this.askFirst(first)
    return allowed
  }

  private async applyAgain(): Promise<void> {
    await this.inTurn(() => this.apply([...this.states.values()])).catch(({ message }) => inform(message))
  }

  /** Asks before the first write. */
  private async askFirst(plans: Plan[]): Promise<void> {
    if (this.asked.has('')) return
    this.asked.add('')
    const names = inWords(plans.map(({ state }) => `${folderName(state.folder)}`))
    const question = `Your team has ${countOf(plans.flatMap(writesOf))} for ${names}, which go to .vscode/settings.json of the folder. ${RULE}`
    if ((await inform(question, 'Apply', 'Not Now')) !== 'Apply') return
    await this.context.globalState.update('explained', true)
    await this.applyAgain()
  }

  /** Asks once per folder. */
  private async askAboutTracked(plan: Plan): Promise<void> {
    const { folder } = plan.state
    if (this.asked.has(`${folder.uri}`)) return
    this.asked.add(`${folder.uri}`)
    const keys = writesOf(plan)
    const question = `Your team has ${countOf(keys)} for ${nameOf(folder)}: ${inWords(keys)}. ${RULE} Git tracks this file, so the repository will show the change.`
    const choice = await inform(question, 'Write', 'Don’t Write Here')
    if (choice === undefined) return
    await this.context.globalState.update(`agreed ${folder.uri}`, choice === 'Write')
    await this.applyAgain()
  }

  /** Asks, once per value, about extension settings that the editor would ignore in an untrusted folder. */
  private async askAbout(steps: Step[]): Promise<void> {
    if (this.asking) return
    this.asking = true
    const questions = new Map(steps.map(({ key, value }) => [JSON.stringify([key, value]), { key, value }]))
    const shown = [...questions].slice(0, MAX_QUESTIONS)
    const lines = shown.map(([, { key, value }]) => `${key}: ${JSON.stringify(value)}`)
    const question = 'Your team sets values of extensions that could run programs with them. Apply them?'
    const choice = await ask(question, lines, 'Apply').finally(() => {
      this.asking = false
    })
    const answers = [...this.answers, ...shown.map(([name]): [string, boolean] => [name, choice === 'Apply'])]
    await this.context.globalState.update('answers', answers.slice(-MAX_ANSWERS))
    await this.applyAgain()
  }

  /** Offers to keep a file that this extension created out of Git. */
  private async offerToIgnore(folder: Folder): Promise<void> {
    const ignored = ignoreOf(folder)
    if ((await gitStateOf(fileOf(folder))) !== 'untracked' || (await exists(ignored))) return
    const question = `Made ${nameOf(folder)} for your team’s settings. Should Git ignore it?`
    if ((await inform(question, 'Ignore It', 'No')) !== 'Ignore It') return
    await vscode.workspace.fs.writeFile(ignored, new TextEncoder().encode(IGNORED))
  }

  /** The settings of a file that come from the team. */
  async fromTeam(folder: Folder, { values }: SettingsFile): Promise<(id: string) => boolean> {
    const { written: memory } = await this.memory.of(`${folder.uri}`)
    return (id) => {
      const written = memory.get(id)
      return written !== undefined && isSame(written.value, values.get(id))
    }
  }

  /** Whether the team doesn't let a person have this setting in the folder. */
  isLocked({ uri }: Folder, id: string): boolean {
    const locked = this.states.get(`${uri}`)?.locked ?? []
    return [...locked].includes(id) || aroundLocks([id], [...locked]).length > 0
  }

  /** Each setting with its value, its source, and what it overrides. */
  async list(): Promise<{ folder: Folder; key: string; value: unknown; says: string }[]> {
    const lists = [...this.states.values()].map(async ({ folder, config, skipped, asked }) => {
      const file = await this.files.read(folder)
      const isFromTeam = await this.fromTeam(folder, file)
      const { written: memory } = await this.memory.of(`${folder.uri}`)
      const { answers } = this
      return [...settingsIn(config?.settings ?? {})].map(([key, value]) => {
        const { globalValue, defaultValue } = inspect(folder, key) ?? {}
        const other = memory.get(key)?.own ?? globalValue ?? defaultValue
        const own = file.values.get(key)
        const isDeclined = asked.has(key) && answers.get(JSON.stringify([key, value])) === false
        const state =
          skipped.get(key) ??
          (isFromTeam(key)
            ? `overrides ${JSON.stringify(other) ?? 'nothing'}`
            : own !== undefined
              ? `you have set ${JSON.stringify(own)}`
              : isDeclined
                ? 'You declined it.'
                : NOT_WRITTEN)
        return { folder, key, value, says: `${config?.sources[pathOf(key)[0]]}: ${state}` }
      })
    })
    return (await Promise.all(lists)).flat()
  }

  /** Summarizes the state in one sentence, for the person who asked. */
  async summary(): Promise<string> {
    const listed = await this.list()
    const count = (has: (one: (typeof listed)[number]) => boolean) => listed.filter(has).length
    const applied = count(({ says }) => says.includes(': overrides '))
    const own = count(({ says }) => says.includes(': you have set'))
    const waiting = count(({ says }) => says.endsWith(NOT_WRITTEN))
    const skipped = listed.length - applied - own - waiting
    if (listed.length === 0) return 'Your team has no settings for the open folders.'
    const more = waiting > 0 ? ` ${waiting} wait until you agree to a change of .vscode/settings.json.` : ''
    return `Team settings: ${applied} applied, ${own} of your own kept, ${skipped} skipped.${more}`
  }
}
