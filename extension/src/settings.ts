/** Applies the team's settings to the open folders, and removes them again. */
import * as vscode from 'vscode'
import type { Client, EffectiveConfig } from '../../client/src/index.js'
import { isLocked, locksOf } from '../../schemas/settings-keys.js'
import { exists, isAsInGit, isGitBusy } from './git-operations.js'
import { hashOf, type Kept, Memory } from './memory.js'
import {
  aroundLocks,
  type FolderTeam,
  isSame,
  pathOf,
  planFor,
  type Step,
  settingsIn,
  teamIn,
} from './plan.js'
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

const SHOW = 'Show Settings'
const STOP = 'Stop Writing Here'
/** The maximum number of settings in a dialog, and the maximum length of a value. */
const [MAX_QUESTIONS, MAX_SHOWN] = [20, 500]
/** The number of answers, and of a repository's values, that are remembered. */
const [MAX_ANSWERS, MAX_VALUES] = [1000, 2000]

/** Everything is applied, or only locked settings. */
type Part = 'all' | 'locked'
/** Why nothing is written to a folder now. */
type Wait = 'whose' | 'first' | 'tracked' | 'declined' | 'git' | 'undone'
interface State {
  folder: Folder
  config: EffectiveConfig | undefined
  /** Settings that may be written. */
  wanted: Map<string, unknown>
  locked: Set<string>
  /** Settings about which the person is asked first, with their extension. */
  asked: Map<string, string>
  /** Why a setting isn't written. */
  skipped: Map<string, string>
  /** The latest plan, and why it isn't carried out. */
  plan: Plan | undefined
  wait: Wait | undefined
  /** Why the file can't be read or written. */
  problem: string | undefined
}
/** The state of a place after a sign-out, or where the person isn't a member. */
const nothingFor = ({ uri }: Place): State => ({
  folder: { uri, repo: '' },
  config: undefined,
  wanted: new Map(),
  locked: new Set(),
  asked: new Map(),
  skipped: new Map(),
  plan: undefined,
  wait: undefined,
  problem: undefined,
})

interface Plan {
  file: SettingsFile
  kept: Kept
  team: FolderTeam
  steps: Step[]
  /** Steps that wait for an answer. */
  questions: Step[]
  /** Settings that may be the team's, because the folder is new or the memory of it is lost. */
  lost: string[]
}
const isWrite = ({ written }: Step) => written !== undefined
const writesOf = ({ steps, questions }: Plan) =>
  [...steps.filter(isWrite), ...questions].map(({ key }) => key)
/** The settings that wait for an answer. */
const waitingIn = ({ plan, wait }: State): string[] => {
  if (plan === undefined || wait === 'declined' || wait === 'git' || wait === 'undone') return []
  if (wait === 'whose') return plan.lost
  return wait === undefined ? plan.questions.map(({ key }) => key) : writesOf(plan)
}
/** The settings that Git has undone: those that are locked, if there are any. */
const undoneIn = ({ plan, wait }: State) => {
  const keys = plan && wait === 'undone' ? writesOf(plan) : []
  const locked = keys.filter((key) => plan?.team.held.has(key))
  return { keys: locked.length > 0 ? locked : keys, isLocked: locked.length > 0 }
}
const WHY: Record<Wait, string> = {
  whose: 'It waits for your answer.',
  first: 'It waits for your answer.',
  tracked: 'It waits for your answer.',
  declined: 'You chose not to write here.',
  git: 'It waits until Git is done.',
  undone: 'Git has undone it.',
}
interface Outcome {
  is: 'applied' | 'yours' | 'waits' | 'not applied'
  says: string
}
const messageOf = (error: unknown) => (error as Error).message
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
      known: true,
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
  /** Whether the person has just said that what Git has undone comes back. */
  private restores = false
  private turn: Promise<unknown> = Promise.resolve()

  private readonly memory: Memory

  constructor(
    private readonly context: vscode.ExtensionContext,
    readonly files: SettingsFiles,
    /** Whether no other window has signed in or out meanwhile. */
    private readonly isCurrent: () => Promise<boolean>,
    private readonly changed: () => void,
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
      ownerOf: (id) => judge.ownerOf(keyOf(id)),
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
      if (judge.asks(id, value)) state.asked.set(id, judge.ownerOf(id))
    }
    return state
  }

  /**
   * @param configs the service's response about each folder's repository
   * @param isCurrent whether the same person is still signed in
   * @param isAsked whether the person has asked for it, so that what they declined is asked again
   */
  async pull(
    client: Client,
    folders: Folder[],
    configs: PromiseSettledResult<EffectiveConfig | undefined>[],
    { isCurrent, isAsked }: { isCurrent: () => boolean; isAsked: boolean },
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
      if (isAsked) await this.askAgain()
      await this.keepValues([...states.values()])
      await this.apply([...states.values(), ...(await this.leftovers(open))])
    })
    for (const config of configs) if (config.status === 'rejected') throw config.reason
  }

  /** Keeps hashes of the values that a team has had for a repository, in case that the memory of a folder gets lost. */
  private async keepValues(states: State[]): Promise<void> {
    for (const { folder, wanted } of states) {
      const name = `values ${folder.repo}`
      const known = this.context.globalState.get<string[]>(name, [])
      const values = await Promise.all([...wanted].map(([id, value]) => hashOf(JSON.stringify([id, value]))))
      const all = new Set([...known, ...values])
      if (all.size > known.length) await this.context.globalState.update(name, [...all].slice(-MAX_VALUES))
    }
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
      const states = folders.map((folder) => nothingFor({ uri: vscode.Uri.parse(folder) }))
      await this.apply(states)
      // A file that isn't saved, for example, is tried again.
      this.states = new Map(
        states.filter(({ problem }) => problem !== undefined).map((state) => [`${state.folder.uri}`, state]),
      )
      this.changed()
    })
  }

  /**
   * Removes everything that was written to a folder, and writes nothing more there until the person applies the
   * settings.
   */
  async stopWriting(place: Place): Promise<void> {
    await this.context.globalState.update(`agreed ${place.uri}`, false)
    await this.inTurn(async () => {
      const nothing = nothingFor(place)
      await this.apply([nothing])
      const state = this.states.get(`${place.uri}`)
      if (state) await this.apply([state])
      if (nothing.problem !== undefined) throw new Error(nothing.problem)
    })
  }

  /**
   * Undoes edits of locked settings. Editors can't keep their users from changing a setting. A change by Git
   * isn't an edit: what it has undone comes back only when the person says so.
   */
  async restoreLocked({ affectsConfiguration }: vscode.ConfigurationChangeEvent): Promise<void> {
    await this.inTurn(async () => {
      for (const state of this.states.values()) {
        const { locked, wait } = state
        if (wait !== undefined && wait !== 'git' && wait !== 'undone') continue
        // A change of the same setting in a block counts, too.
        const isAffected = (id: string) => affectsConfiguration(pathOf(id).at(-1) ?? id)
        if (wait === 'undone' || [...locked].some(isAffected)) await this.restore(state)
      }
    })
  }

  private async restore(state: State): Promise<void> {
    const keys = await this.apply([state], 'locked')
    if (keys.length === 0) return
    void inform(`${inWords(keys)}: Set by your team.`, SHOW, STOP).then((choice) => {
      if (choice === SHOW) void vscode.commands.executeCommand('teamSettings.show')
      if (choice === STOP) void this.stopWriting(state.folder).catch(({ message }) => inform(message))
    })
  }

  /** Tries again what couldn't be written: Git may be done, and files may be saved. */
  async tryAgain(isMeant: (file: vscode.Uri) => boolean = () => true): Promise<void> {
    await this.inTurn(async () => {
      const states = [...this.states.values()].filter(
        ({ wait, problem, folder }) =>
          (problem !== undefined || wait === 'git' || wait === 'undone') && isMeant(fileOf(folder)),
      )
      if (states.length > 0) await this.apply(states)
    })
  }

  /** Why files can't be read or written. */
  get problems(): string[] {
    return [...this.states.values()].flatMap(({ problem }) => problem ?? [])
  }

  /** What waits for the person, in words. */
  get waiting(): string | undefined {
    const states = [...this.states.values()]
    const asked = states.flatMap(waitingIn)
    if (asked.length > 0) return `${countOf(asked)} ${asked.length === 1 ? 'waits' : 'wait'} for your answer`
    const undone = states.map(undoneIn)
    const keys = undone.flatMap(({ keys }) => keys)
    if (keys.length === 0) return undefined
    const what = undone.some(({ isLocked }) => isLocked) ? 'locked setting' : 'setting'
    return keys.length === 1 ? `1 ${what} differs` : `${keys.length} ${what}s differ`
  }

  /** Asks again what waits for an answer. */
  review(): void {
    this.asked.clear()
    this.ask()
    for (const state of this.states.values()) if (state.wait === 'undone') void this.askToRestore(state)
  }

  /** Forgets that the person declined, so that they are asked again. */
  private async askAgain(): Promise<void> {
    this.asked.clear()
    this.restores = true
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

  private async planOf(state: State): Promise<Plan> {
    const { folder, config, wanted, locked, asked } = state
    const file = await this.files.read(folder)
    let kept = await this.memory.of(`${folder.uri}`)
    const isNew = !kept.known && config !== undefined && file.text !== null
    const same = isNew && file.text ? await this.memory.ofText(file.text) : undefined
    if (same) kept = same
    const { written: memory } = kept
    const lost = isNew && !same ? await this.lostIn(state, file) : []
    const { answers } = this
    const answerTo = (id: string) =>
      asked.has(id) ? answers.get(JSON.stringify([id, wanted.get(id)])) : true
    const written = new Map([...wanted].filter(([id]) => answerTo(id) !== false))
    const fixed = [...locked].filter((id) => wanted.has(id) && answerTo(id) === true)
    const team = teamIn(written, fixed, file.values, memory)
    // A question about a locked setting leads to it, too.
    const all = planFor({ ...team, locked: [...locked, ...team.locked] }, (id) => file.values.get(id), memory)
    const isQuestion = (step: Step) => isWrite(step) && answerTo(step.key) === undefined
    // The folder may be on a disk that will be mounted again.
    const isAway = file.text === null && !isOpen(folder)
    return {
      file,
      kept,
      team,
      lost,
      steps: isAway ? [] : all.filter((step) => !isQuestion(step)),
      questions: isAway ? [] : all.filter(isQuestion),
    }
  }

  /** The settings of an unknown file that equal a value which the team has, or had. Git's own version is the repository's. */
  private async lostIn({ folder, wanted }: State, { values }: SettingsFile): Promise<string[]> {
    const had = new Set(this.context.globalState.get<string[]>(`values ${folder.repo}`, []))
    const checks = [...values].map(async ([id, value]) =>
      isSame(wanted.get(id), value) || had.has(await hashOf(JSON.stringify([id, value]))) ? [id] : [],
    )
    const found = (await Promise.all(checks)).flat()
    if (found.length === 0 || this.context.globalState.get(`own ${folder.uri}`, false)) return []
    return (await isAsInGit(fileOf(folder))) ? [] : found
  }

  /** Why a plan isn't carried out now. What removes everything never waits. */
  private async waitOf({ folder, config }: State, plan: Plan): Promise<Wait | undefined> {
    const { globalState } = this.context
    const { file, kept, lost } = plan
    const place = fileOf(folder)
    if (config === undefined) return undefined
    if (lost.length > 0) return 'whose'
    const isWriting = writesOf(plan).length > 0
    const differs = [...kept.written].some(([id, { value }]) => !isSame(file.values.get(id), value))
    if (!isWriting && !differs) return undefined
    const isTracked = (await gitStateOf(place)) === 'tracked'
    const agreed = globalState.get<boolean>(`agreed ${folder.uri}`)
    if (isWriting && agreed === false) return 'declined'
    if (isWriting && isTracked && agreed === undefined) return 'tracked'
    if (isTracked && (await isGitBusy(place))) return 'git'
    if (isTracked && differs && !this.restores && (await isAsInGit(place))) return 'undone'
    return isWriting && !isTracked && !globalState.get('explained', false) ? 'first' : undefined
  }

  private async prepare(state: State): Promise<void> {
    try {
      state.problem = undefined
      state.plan = await this.planOf(state)
      state.wait = await this.waitOf(state, state.plan)
    } catch (error) {
      state.plan = undefined
      state.wait = undefined
      state.problem = messageOf(error)
    }
  }

  /**
   * Applies the settings to each folder by itself. Nothing waits for an answer: if it's yes, the settings are applied again.
   * @returns the settings whose values have changed
   */
  private async apply(states: State[], part: Part = 'all'): Promise<string[]> {
    await Promise.all(states.map((state) => this.prepare(state)))
    const changed: string[] = []
    for (const state of states) {
      const { plan, wait } = state
      if (plan === undefined || wait !== undefined) continue
      try {
        changed.push(...(await this.write(state, plan, part)))
      } catch (error) {
        state.problem = messageOf(error)
      }
    }
    if (part === 'all') this.restores = false
    this.changed()
    this.ask()
    return changed
  }

  private async write({ folder, config }: State, plan: Plan, part: Part): Promise<string[]> {
    const { file, kept, team } = plan
    const steps = part === 'all' ? plan.steps : plan.steps.filter(({ key }) => team.held.has(key))
    const remember = (next: Kept) => this.memory.remember(`${folder.uri}`, next)
    if (steps.length === 0) {
      if (!kept.known && config !== undefined) await remember(kept)
      return []
    }
    if (steps.some(isWrite) && !(await this.isCurrent())) return []
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

  /** Asks what the folders wait for. Each question comes once in a window, until the person asks for it. */
  private ask(): void {
    const states = [...this.states.values()]
    const waitingFor = (wait: Wait | undefined) => states.filter((state) => state.wait === wait)
    const first = waitingFor('first').flatMap((state) => (state.plan ? [{ state, plan: state.plan }] : []))
    if (first.length > 0) void this.askFirst(first)
    for (const { folder, plan } of waitingFor('tracked')) if (plan) void this.askAboutTracked(folder, plan)
    for (const { folder, plan } of waitingFor('whose')) if (plan) void this.askWhose(folder, plan)
    const questions = waitingFor(undefined).flatMap(({ asked, plan }) =>
      (plan?.questions ?? []).map(({ key, value }) => ({ key, value, owner: asked.get(key) ?? key })),
    )
    if (questions.length > 0) void this.askAbout(questions)
  }

  private async applyAgain(): Promise<void> {
    await this.inTurn(() => this.apply([...this.states.values()])).catch(({ message }) => inform(message))
  }

  /** Asks before the first write. */
  private async askFirst(waiting: { state: State; plan: Plan }[]): Promise<void> {
    if (this.asked.has('')) return
    this.asked.add('')
    const names = inWords(waiting.map(({ state }) => `${folderName(state.folder)}`))
    const count = countOf(waiting.flatMap(({ plan }) => writesOf(plan)))
    const question = `Your team has ${count} for ${names}, which go to .vscode/settings.json of the folder. ${RULE}`
    if ((await inform(question, 'Apply', 'Not Now')) !== 'Apply') return
    await this.context.globalState.update('explained', true)
    await this.applyAgain()
  }

  /** Asks once per folder. */
  private async askAboutTracked(folder: Folder, plan: Plan): Promise<void> {
    if (this.asked.has(`${folder.uri}`)) return
    this.asked.add(`${folder.uri}`)
    const keys = writesOf(plan)
    const question = `Your team has ${countOf(keys)} for ${nameOf(folder)}: ${inWords(keys)}. ${RULE} Git tracks this file, so the repository will show the change.`
    const choice = await inform(question, 'Write', 'Don’t Write Here')
    if (choice === undefined) return
    await this.context.globalState.update(`agreed ${folder.uri}`, choice === 'Write')
    await this.applyAgain()
  }

  /** Asks once per folder whose the values are that equal the team's. */
  private async askWhose(folder: Folder, { kept, file, lost }: Plan): Promise<void> {
    if (this.asked.has(`whose ${folder.uri}`)) return
    this.asked.add(`whose ${folder.uri}`)
    const count = lost.length === 1 ? '1 value equals one' : `${lost.length} values equal those`
    const question = `In ${nameOf(folder)}, ${count} of your team. Your team’s values change with the team and go when you sign out: ${inWords(lost)}.`
    const choice = await inform(question, 'They’re My Team’s', 'They’re Mine')
    if (choice === undefined) return
    if (choice === 'They’re Mine') await this.context.globalState.update(`own ${folder.uri}`, true)
    else
      await this.inTurn(async () => {
        const written = new Map(lost.map((id) => [id, { value: file.values.get(id) }]))
        await this.memory.remember(`${folder.uri}`, { ...kept, written })
      })
    await this.applyAgain()
  }

  /** Asks whether what Git has undone comes back. */
  private async askToRestore(state: State): Promise<void> {
    const { folder } = state
    const { keys } = undoneIn(state)
    const question = `Git has undone ${countOf(keys)} of your team in ${nameOf(folder)}: ${inWords(keys)}.`
    const choice = await inform(question, 'Restore', STOP)
    if (choice === STOP) await this.stopWriting(folder).catch(({ message }) => inform(message))
    if (choice !== 'Restore') return
    await this.inTurn(async () => {
      this.restores = true
      await this.apply([state])
    })
  }

  /** Asks, once per value and for each extension, about settings that the editor would ignore in an untrusted folder. */
  private async askAbout(questions: { key: string; value: unknown; owner: string }[]): Promise<void> {
    if (this.asking) return
    this.asking = true
    try {
      for (const owner of new Set(questions.map(({ owner }) => owner))) {
        const own = questions.filter((one) => one.owner === owner)
        const shown = [...new Map(own.map((one) => [JSON.stringify([one.key, one.value]), one]))].slice(
          0,
          MAX_QUESTIONS,
        )
        const lines = shown.map(([, { key, value }]) => `${key}: ${JSON.stringify(value)}`)
        const question = `Your team sets values of ${owner}, which could run programs with them. Apply them?`
        // The first button is the one that Enter presses.
        const isYes = (await ask(question, lines, 'Not Now', 'Apply')) === 'Apply'
        const answers = [...this.answers, ...shown.map(([name]): [string, boolean] => [name, isYes])]
        await this.context.globalState.update('answers', answers.slice(-MAX_ANSWERS))
      }
    } finally {
      this.asking = false
    }
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

  /** What becomes of a setting, and why. */
  private outcomeOf(state: State, key: string, value: unknown, plan: Plan | undefined): Outcome {
    const { folder, skipped, asked, locked, wait, problem } = state
    const not = (why: string): Outcome => ({ is: 'not applied', says: `Not applied. ${why}` })
    const why = skipped.get(key)
    if (why !== undefined || plan === undefined) return not(why ?? problem ?? '')
    const { file, kept, team } = plan
    const { globalValue, defaultValue, workspaceFolderValue } = inspect(folder, key) ?? {}
    const [current, written] = [file.values.get(key), kept.written.get(key)]
    if (written !== undefined && isSame(written.value, current)) {
      // The editor gives no value of a folder for settings of the window.
      const isIgnored = vscode.workspace.workspaceFile !== undefined && workspaceFolderValue === undefined
      if (isIgnored && pathOf(key).length === 1)
        return not('A window with several folders takes it from no folder.')
      const other = JSON.stringify(written.own ?? globalValue ?? defaultValue)
      return {
        is: 'applied',
        says: `Applied${locked.has(key) ? ' and locked' : ''}. Overrides ${other ?? 'nothing'}.`,
      }
    }
    if (wait === 'whose' && plan.lost.includes(key)) return { is: 'waits', says: `Not applied. ${WHY.whose}` }
    if (team.keptOut.has(key) && current === undefined)
      return { is: 'yours', says: 'Yours. You have set it in another block for the language.' }
    if (isSame(current, value))
      return { is: 'yours', says: `Yours, and the same${locked.has(key) ? '. Locked' : ''}.` }
    if (current !== undefined && !locked.has(key))
      return { is: 'yours', says: `Yours: ${JSON.stringify(current)}.` }
    if (problem !== undefined) return not(problem)
    if (wait !== undefined) return { is: 'waits', says: `Not applied. ${WHY[wait]}` }
    const answer = this.answers.get(JSON.stringify([key, value]))
    if (asked.has(key) && answer === false) return not('You declined it.')
    const isAsked = asked.has(key) && answer === undefined
    return {
      is: 'waits',
      says: `Not applied. ${isAsked ? WHY.first : 'It’s written when the settings are next pulled.'}`,
    }
  }

  /** Each setting with its value, its source, and what becomes of it. */
  async list(): Promise<({ folder: Folder; key: string; value: unknown } & Outcome)[]> {
    const lists = [...this.states.values()].map(async (state) => {
      const { folder, config } = state
      const plan = await this.planOf(state).catch((error) => {
        state.problem = messageOf(error)
        return undefined
      })
      return [...settingsIn(config?.settings ?? {})].map(([key, value]) => {
        const { is, says } = this.outcomeOf(state, key, value, plan)
        return { folder, key, value, is, says: `${config?.sources[pathOf(key)[0]]}: ${says}` }
      })
    })
    return (await Promise.all(lists)).flat()
  }

  /** Summarizes the state in one sentence, for the person who asked. */
  async summary(): Promise<string> {
    const listed = await this.list()
    const count = (is: Outcome['is']) => listed.filter((one) => one.is === is).length
    const [applied, own] = [count('applied'), count('yours')]
    const skipped = count('not applied')
    if (listed.length === 0) return 'Your team has no settings for the open folders.'
    const more = this.waiting === undefined ? '' : ` ${this.waiting}.`
    return `Team settings: ${applied} applied, ${own} of your own kept, ${skipped} skipped.${more}`
  }
}
