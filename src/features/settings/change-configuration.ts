import type { Warnings } from '../../../schemas/common.js'
import type { ConfigurationChange, ConfigurationEffect } from '../../../schemas/configuration.js'
import { limits } from '../../../schemas/limits.js'
import { divideRepo, repoKeysOf } from '../../../schemas/repo-keys.js'
import { parsePatterns } from '../../../schemas/repo-pattern.js'
import { ApiError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { type Preconditions, requireEtag } from '../../platform/http/etag.js'
import { fitting, type Held } from '../../platform/process/held-memory.js'
import { KeyedSemaphore, Semaphore } from '../../platform/process/semaphore.js'
import type { SettingsRules } from '../../platform/settings-schema/read.js'
import {
  applySettings,
  type Change,
  changeWorkspace,
  describeChange,
  readSettingsToChange,
  requireKeys,
  requirePatternsInside,
  requireRules,
  requireUnlocked,
  type SettingsContent,
  type StoredWorkspaceSettings,
  setPatterns,
  type WorkspaceCall,
  warningsOf,
} from '../workspaces/index.js'
import { ChangeTexts, compareSettings, isSame, takeTurns, type Values } from './configuration-changes.js'
import { overridesOf, type SentConfiguration } from './configuration-reader.js'
import { requireStorageQuota } from './policies/storage-quota.js'
import { countAffected, findOutside } from './queries/configuration.js'
import {
  deleteOverrides,
  limitOverrideHistory,
  listOverrides,
  type NewOverride,
  type Place,
  type StoredOverride,
  writeOverrides,
} from './queries/overrides.js'
import { readStorage } from './queries/storage-quota.js'
import { etagOfConfiguration, readHead } from './read-configuration.js'

export interface ConfigurationAnswer {
  changes: ChangeTexts
  warnings: NonNullable<Warnings>
  affected: ConfigurationEffect
  etag: string
}

interface Request {
  body: SentConfiguration
  preconditions: Preconditions
  dryRun: boolean
  /** Holds the memory for the changes. */
  person: string
  held: Held
}

const MOST_WARNINGS = 100
/** Smaller changes don't wait for others. */
const LARGE_BYTES = limits.body_bytes
/**
 * Memory that the change of a full workspace needs, measured: the peak of a process with a heap of 128 MiB rose from 148 to 327
 * MiB. The whole process stays below 480 MiB (`held-memory`).
 */
const CHANGE_MIB = 180
const WAITING = 64
const WAIT_MS = 10_000
const unavailable = () => new ApiError('unavailable')
const changesOfPerson = new KeyedSemaphore(1, WAITING, WAIT_MS, unavailable)
const changesAtOnce = new Semaphore(fitting(CHANGE_MIB), WAITING, WAIT_MS, unavailable)
const PAGE = 500
/** The overrides, and the bytes of settings, that are written together. */
const BATCH = 500
const BATCH_BYTES = 524_288

/**
 * Replaces the sections in the body, all or nothing.
 * @throws {ApiError} `version_conflict`, `validation_failed`, `settings_too_large`, `repo_outside_patterns`, `key_locked`,
 * `workspace_full`
 */
export const changeConfiguration = async (
  { database, rules }: { database: Database; rules: SettingsRules | undefined },
  call: WorkspaceCall,
  { body, preconditions, dryRun, person, held }: Request,
): Promise<ConfigurationAnswer> => {
  let attempted: ChangeTexts | undefined
  const work = () =>
    changeWorkspace(database, { ...call, writes: !dryRun }, 'admin', async (change) => {
      const { tx } = change
      const { workspaceId } = call
      const head = await readHead(tx, workspaceId)
      const current = await readSettingsToChange(tx, workspaceId)
      const etag = etagOfConfiguration(workspaceId, head)
      requireEtag(preconditions, etag, current.version)

      const judge = createJudge(rules)
      const turn = takeTurns()
      const settings = await planSettings(current, body, judge, turn)
      const patterns = body.patterns ?? head.patterns
      const arePatternsNew = JSON.stringify(patterns) !== JSON.stringify(head.patterns)
      // Changes from an earlier attempt that lost a conflict.
      attempted?.drop()
      const changes = new ChangeTexts(held)
      attempted = changes
      for (const one of settings.changes) changes.add(one)
      if (arePatternsNew)
        changes.add({ scope: 'workspace', key: 'patterns', before: head.patterns, after: patterns })
      const locked = new Set<string>(JSON.parse(settings.content.locked))
      const overrides = await planOverrides(change, workspaceId, body.projects, {
        judge,
        locked,
        changes,
        turn,
      })
      changes.end()
      const [before, after] = [parsePatterns(head.patterns), parsePatterns(patterns)]
      for (const list of batchesOf(overrides.written)) {
        const outside = await findOutside(tx, list, after)
        if (outside)
          throw new ApiError('repo_outside_patterns', {
            detail: `No pattern matches ${nameOf(outside)}. Add one.`,
          })
      }
      if (overrides.locked) throw overrides.locked

      if (arePatternsNew) await requirePatternsInside(tx, workspaceId, patterns)
      const places = [...overrides.written, ...overrides.removed]
      const everywhere = settings.changes.length > 0
      const affected =
        changes.count === 0
          ? { repositories: 0, people: 0 }
          : await countAffected(tx, workspaceId, { everywhere, places, before, after })
      const answer = { changes, warnings: judge.warnings, affected }
      if (dryRun) {
        if (overrides.grownBytes > 0) await requireStorageQuota(tx, workspaceId, overrides.grownBytes)
        return { ...answer, etag }
      }
      if (everywhere) await applySettings(change, workspaceId, current, settings.content)
      if (arePatternsNew) await setPatterns(change, workspaceId, head.patterns, patterns)
      await writePlan(change, workspaceId, overrides)
      if (overrides.grownBytes > 0) await requireStorageQuota(tx, workspaceId)
      return { ...answer, etag: etagOfConfiguration(workspaceId, await readHead(tx, workspaceId)) }
    })
  // A change without overrides needs little memory.
  if (!body.projects) return work()
  const sent = body.projects.reduce((sum, { length }) => sum + length, 0)
  const stored = (await readStorage(database.hot, [call.workspaceId])).get(call.workspaceId) ?? 0
  if (sent + stored <= LARGE_BYTES) return work()
  held.add(sent)
  const endTurn = await changesOfPerson.acquire([person])
  try {
    return await changesAtOnce.run(work)
  } finally {
    held.add(-sent)
    endTurn()
  }
}

const nameOf = ({ owner, repo }: { owner: string; repo: string }) => `${owner}/${repo}`

/** The error for an override with a locked key. */
const faultOfLock = (locked: ReadonlySet<string>, content: Values, place: Place): ApiError | undefined => {
  try {
    requireUnlocked(locked, content)
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const keys = error.extras.keys ?? []
    return new ApiError('key_locked', {
      keys,
      detail: `The workspace locks keys that ${nameOf(place)} contains: ${keys.slice(0, 5).join(', ')}.`,
    })
  }
}

/** Checks changed values against the operator's schema. */
const createJudge = (rules: SettingsRules | undefined) => {
  const warnings: NonNullable<Warnings> = []
  return {
    warnings,
    check: (values: Values, at: string) => {
      if (Object.keys(values).length === 0) return
      requireRules(rules, values, at)
      if (warnings.length < MOST_WARNINGS)
        warnings.push(
          ...(warningsOf(rules, values, at).warnings ?? []).slice(0, MOST_WARNINGS - warnings.length),
        )
    },
  }
}
type Judge = ReturnType<typeof createJudge>

const planSettings = async (
  current: StoredWorkspaceSettings,
  { settings, locked, idle_window_minutes }: SentConfiguration,
  judge: Judge,
  turn: () => Promise<void>,
): Promise<{ changes: ConfigurationChange[]; content: SettingsContent }> => {
  const stored = JSON.parse(current.settings) as Values
  const difference = settings && (await compareSettings('workspace', stored, settings, turn))
  const content = difference?.content ?? stored
  if (difference) judge.check(difference.set, '/body/settings')
  await turn()
  const oldLocked = JSON.parse(current.locked) as string[]
  const newLocked = locked ?? oldLocked.filter((key) => Object.hasOwn(content, key))
  requireKeys(newLocked, content)
  await turn()
  const text = difference && difference.changes.length > 0 ? JSON.stringify(content) : current.settings
  requireSize(Buffer.byteLength(text), 'The settings of the workspace')
  const idle = idle_window_minutes ?? current.idleWindowMinutes
  const scope = 'workspace'
  return {
    changes: [
      ...(difference?.changes ?? []),
      ...(isSame(oldLocked, newLocked)
        ? []
        : [{ scope, key: 'locked', before: oldLocked, after: newLocked }]),
      ...(idle === current.idleWindowMinutes
        ? []
        : [{ scope, key: 'idle_window_minutes', before: current.idleWindowMinutes, after: idle }]),
    ],
    content: {
      settings: text,
      locked: JSON.stringify(newLocked),
      idleWindowMinutes: idle,
      activityPrivacy: current.activityPrivacy,
    },
  }
}

const requireSize = (size: number, what: string) => {
  if (size > limits.settings_bytes)
    throw new ApiError('settings_too_large', {
      limit_bytes: limits.settings_bytes,
      actual_bytes: size,
      detail: `${what} exceed the size limit. Shorten or remove some.`,
    })
}

type Described = Record<string, unknown>

interface OverridePlan {
  /** Settings are bytes here, because strings would fill a small process's heap. */
  written: (Omit<NewOverride, 'settings'> & { settings: Buffer; details: Described })[]
  removed: (Place & { details: Described })[]
  /** How much the overrides grow, as counted by the quota. */
  grownBytes: number
  /** The first override with a locked key. */
  locked: ApiError | undefined
}

interface Planning {
  judge: Judge
  locked: ReadonlySet<string>
  changes: ChangeTexts
  turn: () => Promise<void>
}

const counted = (bytes: number) => Math.max(bytes, limits.workspace_bytes_per_settings)

const planOverrides = async (
  { tx }: Change,
  workspaceId: string,
  projects: SentConfiguration['projects'],
  { judge, locked, changes: texts, turn }: Planning,
): Promise<OverridePlan> => {
  const plan: OverridePlan = { written: [], removed: [], grownBytes: 0, locked: undefined }
  if (!projects) return plan
  const wanted = new Map<string, [name: string, settings: Buffer]>()
  for (const piece of projects) {
    for (const one of overridesOf(piece)) wanted.set(one[0].toLowerCase(), one)
    await turn()
  }
  const add = async (current: StoredOverride | undefined, name: string, bytes: Buffer | undefined) => {
    const sent = bytes?.toString()
    if (sent !== undefined && sent === current?.settings) return
    const settings = sent === undefined ? undefined : (JSON.parse(sent) as Values)
    const stored = current && (JSON.parse(current.settings) as Values)
    const place = current ? { owner: current.owner, repo: current.repo } : divideRepo(name)
    const scope = nameOf(place)
    const { changes, set, content } = await compareSettings(scope, stored, settings, turn)
    if (changes.length === 0) return
    for (const one of changes) texts.add(one)
    const described = describeChange({ settings: stored ?? {} }, { settings: content })
    await turn()
    const full = { ...place, ...repoKeysOf(place) }
    const oldSize = current ? counted(Buffer.byteLength(current.settings)) : 0
    if (!settings) {
      plan.removed.push({ ...full, details: { version: current?.version, ...described } })
      plan.grownBytes -= oldSize
      return
    }
    judge.check(set, `/body/projects/${name.replaceAll('~', '~0').replaceAll('/', '~1')}/settings`)
    const text = JSON.stringify(content)
    const written = bytes && text === sent ? bytes : Buffer.from(text)
    const size = written.length
    requireSize(size, `The settings of ${scope}`)
    const version = (current?.version ?? 0) + 1
    plan.written.push({
      ...full,
      version,
      settings: written,
      details: { version, size_bytes: size, ...described },
    })
    plan.locked ??= faultOfLock(locked, content, full)
    plan.grownBytes += counted(size) - oldSize
  }
  let after: string[] | undefined
  for (;;) {
    const { rows, more } = await listOverrides(tx, workspaceId, after, PAGE)
    for (const row of rows) {
      const key = nameOf(row).toLowerCase()
      const found = wanted.get(key)
      wanted.delete(key)
      await add(row, found?.[0] ?? nameOf(row), found?.[1])
    }
    const last = rows.at(-1)
    if (!more || !last) break
    after = [last.owner.toLowerCase(), last.repo.toLowerCase()]
  }
  for (const [name, settings] of [...wanted.values()].sort(([one], [other]) => (one < other ? -1 : 1))) {
    await add(undefined, name, settings)
  }
  return plan
}

const writePlan = async (
  change: Change,
  workspaceId: string,
  { written, removed }: OverridePlan,
): Promise<void> => {
  const { tx, caller, reason, recordAll } = change
  for (const batch of batchesOf(removed)) {
    await deleteOverrides(tx, workspaceId, batch)
    await recordAll(
      batch.map((one) => ({ action: 'override.removed', target: nameOf(one), details: one.details })),
    )
  }
  for (const batch of batchesOf(written)) {
    const overrides = batch.map((one) => ({ ...one, settings: one.settings.toString() }))
    await writeOverrides(tx, workspaceId, overrides, { author: caller, reason })
    await recordAll(
      batch.map((one) => ({ action: 'override.set', target: nameOf(one), details: one.details })),
    )
  }
  const last = written.at(-1)
  if (last) await limitOverrideHistory(tx, { ...last, workspaceId }, limits.workspace_history_bytes)
}

function* batchesOf<T extends Place & { settings?: Buffer }>(list: T[]): Generator<T[]> {
  let batch: T[] = []
  let bytes = 0
  for (const one of list) {
    batch.push(one)
    bytes += one.settings?.length ?? 0
    if (batch.length < BATCH && bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}
