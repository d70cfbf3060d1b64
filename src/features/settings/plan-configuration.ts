/** Plans the change to a new configuration, and changes nothing. */
import type { Warnings } from '../../../schemas/common.js'
import type {
  ConfigurationBody,
  ConfigurationChange,
  ConfigurationEffect,
} from '../../../schemas/configuration.js'
import { limits } from '../../../schemas/limits.js'
import { repoKeysOf, splitRepo } from '../../../schemas/repo-keys.js'
import { parsePatterns, type RepoPattern } from '../../../schemas/repo-pattern.js'
import {
  isSameValue,
  type Locks,
  lockedKeysIn,
  locksOf,
  spellingFaultsIn,
} from '../../../schemas/settings-keys.js'
import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { type Preconditions, requireEtag } from '../../platform/http/etag.js'
import { yieldIfDue } from '../../platform/process/yield-if-due.js'
import type { SettingsRules } from '../../platform/settings-schema/read.js'
import { keyListsOf, nextKeyLists, type SettingsContent } from './change-workspace-settings.js'
import { placeOfOverride } from './configuration-body.js'
import { type ChangeList, ChangeListBuilder, compareSettings, type Values } from './configuration-changes.js'
import { describeChange } from './describe-change.js'
import { requireRules, requireSpelling, valuesToCheck, warningsOf } from './policies/settings-rules.js'
import { countAffected, findOutside } from './queries/configuration.js'
import { type NewOverride, pagesOfOverrides, type RepoId, type StoredOverride } from './queries/overrides.js'
import type { StoredWorkspaceSettings } from './queries/workspace-settings.js'
import { etagOfConfiguration, type Head, readHead } from './read-configuration.js'

const MAX_WARNINGS = 100
/** The overrides, and the bytes of settings, that are written together. */
const BATCH_ROWS = 500
const BATCH_BYTES = 524_288

export interface ConfigurationPlan {
  head: Head
  changes: ChangeList
  /** Undefined: they stay as they are. */
  settings: SettingsContent | undefined
  patterns: string[] | undefined
  overrides: OverridePlan
  warnings: NonNullable<Warnings>
  affected: ConfigurationEffect
}

/** Everything that a plan depends on besides the stored configuration. */
interface PlanRequest {
  workspaceId: string
  sent: ConfigurationBody
  preconditions: Preconditions
  rules: SettingsRules | undefined
}

/**
 * Checks, in this order: the version, all values, whether patterns match the changed overrides, and locks. The right to
 * the patterns is for the caller to check.
 */
export const planConfiguration = async (tx: Db, request: PlanRequest): Promise<ConfigurationPlan> => {
  const { workspaceId, sent, preconditions, rules } = request
  const head = await readHead(tx, workspaceId)
  requireEtag(preconditions, etagOfConfiguration(workspaceId, head), head.version)

  const list = new ChangeListBuilder()
  const settings = await planSettings(head, sent, rules)
  list.addAll(settings.changes)
  const patterns = sent.patterns ?? head.patterns
  const arePatternsNew = JSON.stringify(patterns) !== JSON.stringify(head.patterns)
  if (arePatternsNew)
    list.add({ scope: 'workspace', key: 'patterns', before: head.patterns, after: patterns })
  const locks = locksOf(JSON.parse(settings.content.locked))
  const overrides = await planOverrides(tx, request, locks, list)

  const [before, after] = [parsePatterns(head.patterns), parsePatterns(patterns)]
  await requireInside(tx, overrides.written, after)
  requireUnlocked(overrides.locked)

  const changes = list.end()
  const places = [...overrides.written, ...overrides.removed]
  const areSettingsNew = settings.changes.length > 0
  return {
    head,
    changes,
    settings: areSettingsNew ? settings.content : undefined,
    patterns: arePatternsNew ? patterns : undefined,
    overrides,
    warnings: [...settings.warnings, ...overrides.warnings].slice(0, MAX_WARNINGS),
    affected:
      changes.count === 0
        ? { repositories: 0, people: 0 }
        : await countAffected(tx, workspaceId, { affectsAllMatching: areSettingsNew, places, before, after }),
  }
}

/** @throws {ApiError} `repo_outside_patterns` */
const requireInside = async (tx: Db, written: WrittenOverride[], patterns: RepoPattern[]): Promise<void> => {
  for (const list of batchesOf(written)) {
    const outside = await findOutside(tx, list, patterns)
    if (outside)
      throw new ApiError('repo_outside_patterns', {
        detail: `No pattern matches ${nameOf(outside)}. Add one.`,
      })
  }
}

export const nameOf = ({ owner, repo }: { owner: string; repo: string }) => `${owner}/${repo}`

/** The locked keys that an override would change, if any. */
const findLocked = (locks: Locks, values: Values, place: RepoId): LockedOverride | undefined => {
  const keys = lockedKeysIn(locks, values)
  return keys.length > 0 ? { place, keys } : undefined
}

/** @throws {ApiError} `key_locked` */
const requireUnlocked = (locked: LockedOverride | undefined): void => {
  if (!locked) return
  const { place, keys } = locked
  const detail = `The workspace locks keys that ${nameOf(place)} would change: ${keys.slice(0, 5).join(', ')}.`
  throw new ApiError('key_locked', { keys, detail })
}

/** New and changed values, the only ones that the rules apply to. */
interface NewValues {
  set: Values
  /** JSON pointer in the request. */
  at: string
}

/** @throws {ApiError} `validation_failed` for values against the enforced schema, and for misspelled keys */
const requireValues = (rules: SettingsRules | undefined, { set, at }: NewValues, stored: Values): void => {
  if (Object.keys(set).length === 0) return
  requireRules(rules, set, at, spellingFaultsIn(set, stored))
  requireSpelling(set, stored, at)
}

const warningsAbout = (rules: SettingsRules | undefined, { set, at }: NewValues): NonNullable<Warnings> =>
  Object.keys(set).length > 0 ? (warningsOf(rules, set, at).warnings ?? []) : []

interface SettingsPlan {
  changes: ConfigurationChange[]
  content: SettingsContent
  warnings: NonNullable<Warnings>
}

const planSettings = async (
  current: StoredWorkspaceSettings,
  { settings, locked, merged, idle_window_minutes }: ConfigurationBody,
  rules: SettingsRules | undefined,
): Promise<SettingsPlan> => {
  const stored = JSON.parse(current.settings) as Values
  const difference = settings && (await compareSettings('workspace', stored, settings))
  const content = difference?.settings ?? stored
  const values = { set: difference?.set ?? {}, at: '/body/settings' }
  requireValues(rules, values, stored)
  await yieldIfDue()
  const before = keyListsOf(current)
  const after = nextKeyLists(before, { locked, merged }, content)
  await yieldIfDue()
  const text = difference && difference.changes.length > 0 ? JSON.stringify(content) : current.settings
  const idle = idle_window_minutes ?? current.idleWindowMinutes
  const scope = 'workspace'
  return {
    changes: [
      ...(difference?.changes ?? []),
      ...(['locked', 'merged'] as const)
        .filter((key) => !isSameValue(before[key], after[key]))
        .map((key) => ({ scope, key, before: before[key], after: after[key] })),
      ...(idle === current.idleWindowMinutes
        ? []
        : [{ scope, key: 'idle_window_minutes', before: current.idleWindowMinutes, after: idle }]),
    ],
    content: {
      settings: text,
      locked: JSON.stringify(after.locked),
      merged: JSON.stringify(after.merged),
      idleWindowMinutes: idle,
      activityPrivacy: current.activityPrivacy,
    },
    warnings: warningsAbout(rules, values),
  }
}

type Described = Record<string, unknown>

/** Its settings become text when they're written. */
type WrittenOverride = Omit<NewOverride, 'settings'> & { values: Values; size: number; details: Described }
type RemovedOverride = RepoId & { details: Described }

interface OverridePlan {
  written: WrittenOverride[]
  removed: RemovedOverride[]
  /** How much the overrides grow, as counted by the quota. */
  grownBytes: number
  /**
   * The first that would change locked keys, if any. It's rejected only after all overrides have been compared, because
   * one outside the patterns comes first in the order of errors.
   */
  locked: LockedOverride | undefined
  /** All up to `MAX_WARNINGS`, or some more. */
  warnings: NonNullable<Warnings>
}

interface LockedOverride {
  place: RepoId
  /** The locked keys that it would change. */
  keys: string[]
}

/**
 * Compares overrides one by one, because together they'd fill a small process's heap.
 * @param locks those after the change
 * @param list receives their changes
 */
const planOverrides = async (
  tx: Db,
  { workspaceId, sent: { projects }, rules }: PlanRequest,
  locks: Locks,
  list: ChangeListBuilder,
): Promise<OverridePlan> => {
  const plan: OverridePlan = { written: [], removed: [], grownBytes: 0, locked: undefined, warnings: [] }
  if (!projects) return plan
  for await (const { stored, sent } of pairOverrides(tx, workspaceId, projects)) {
    const step = sent ? await planWrite(stored, sent, rules) : await planRemoval(stored)
    if (step.kind === 'same') continue
    list.addAll(step.changes)
    plan.grownBytes += step.grownBytes
    if (step.kind === 'remove') plan.removed.push(step.override)
    else {
      plan.written.push(step.override)
      plan.locked ??= findLocked(locks, step.override.values, step.override)
      if (plan.warnings.length < MAX_WARNINGS) plan.warnings.push(...warningsAbout(rules, step))
    }
  }
  return plan
}

interface SentOverride {
  /** As spelled in the request. */
  name: string
  settings: Values
}

/** One override before and after the change. */
type OverridePair =
  | { stored: StoredOverride; sent: undefined }
  | { stored: StoredOverride | undefined; sent: SentOverride }

/** First those that are stored, then those that are new. */
async function* pairOverrides(
  tx: Db,
  workspaceId: string,
  projects: NonNullable<ConfigurationBody['projects']>,
): AsyncGenerator<OverridePair> {
  const remaining = new Map(
    Object.entries(projects).map(([name, { settings }]) => [name.toLowerCase(), { name, settings }]),
  )
  for await (const page of pagesOfOverrides(tx, workspaceId)) {
    for (const stored of page) {
      const key = nameOf(stored).toLowerCase()
      const sent = remaining.get(key)
      remaining.delete(key)
      yield { stored, sent }
    }
  }
  for (const sent of [...remaining.values()].sort((one, other) => (one.name < other.name ? -1 : 1)))
    yield { stored: undefined, sent }
}

interface Step {
  changes: ConfigurationChange[]
  grownBytes: number
}

type RemoveStep = Step & { kind: 'remove'; override: RemovedOverride }
type WriteStep = Step & NewValues & { kind: 'write'; override: WrittenOverride }

const counted = (bytes: number) => Math.max(bytes, limits.workspace_bytes_per_settings)
const storedBytes = ({ settings }: StoredOverride) => counted(Buffer.byteLength(settings))

const planRemoval = async (stored: StoredOverride): Promise<RemoveStep> => {
  const { owner, repo, version } = stored
  const before = JSON.parse(stored.settings) as Values
  const { changes } = await compareSettings(nameOf(stored), before, undefined)
  const details = { version, ...describeChange({ settings: before }, { settings: {} }) }
  await yieldIfDue()
  const override = { owner, repo, ...repoKeysOf(stored), details }
  return { kind: 'remove', changes, override, grownBytes: -storedBytes(stored) }
}

/** @throws {ApiError} `validation_failed` */
const planWrite = async (
  stored: StoredOverride | undefined,
  sent: SentOverride,
  rules: SettingsRules | undefined,
): Promise<WriteStep | { kind: 'same' }> => {
  const { settings: values } = sent
  const text = JSON.stringify(values)
  if (text === stored?.settings) return { kind: 'same' }
  const before = stored && (JSON.parse(stored.settings) as Values)
  const { owner, repo } = stored ?? splitRepo(sent.name)
  const { changes, set, settings } = await compareSettings(nameOf({ owner, repo }), before, values)
  if (changes.length === 0) return { kind: 'same' }
  const described = describeChange({ settings: before ?? {} }, { settings })
  await yieldIfDue()
  const newValues = { set: valuesToCheck('override', set), at: placeOfOverride(sent.name) }
  requireValues(rules, newValues, before ?? {})
  const size = Buffer.byteLength(text)
  const version = (stored?.version ?? 0) + 1
  const details = { version, size_bytes: size, ...described }
  const override = { owner, repo, ...repoKeysOf({ owner, repo }), version, values, size, details }
  const grownBytes = counted(size) - (stored ? storedBytes(stored) : 0)
  return { kind: 'write', changes, ...newValues, override, grownBytes }
}

export function* batchesOf<T extends RepoId & { size?: number }>(list: T[]): Generator<T[]> {
  let batch: T[] = []
  let bytes = 0
  for (const one of list) {
    batch.push(one)
    bytes += one.size ?? 0
    if (batch.length < BATCH_ROWS && bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}
