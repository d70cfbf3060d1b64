/** Plans the change to a new configuration, and changes nothing. */
import type { Warnings } from '../../../schemas/common.js'
import type { ConfigurationChange, ConfigurationEffect } from '../../../schemas/configuration.js'
import { limits } from '../../../schemas/limits.js'
import { divideRepo, repoKeysOf } from '../../../schemas/repo-keys.js'
import { parsePatterns, type RepoPattern } from '../../../schemas/repo-pattern.js'
import { type Locks, lockedKeysIn, locksOf, spellingFaultsIn } from '../../../schemas/settings-keys.js'
import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { type Preconditions, requireEtag } from '../../platform/http/etag.js'
import type { Held } from '../../platform/process/held-memory.js'
import { yieldIfDue } from '../../platform/process/yield-if-due.js'
import { type Change, requirePatterns, type WorkspaceQuota } from '../workspaces/index.js'
import { requireKeys, type SettingsContent } from './change-workspace-settings.js'
import {
  type ChangeList,
  ChangeListBuilder,
  compareSettings,
  isSame,
  type Values,
} from './configuration-changes.js'
import { overridesOf, placeOfOverride, type SentConfiguration } from './configuration-reader.js'
import { describeChange } from './describe-change.js'
import { requireRules, requireSpelling, warningsOf } from './policies/settings-rules.js'
import { countAffected, findOutside } from './queries/configuration.js'
import { listOverrides, type NewOverride, type Place, type StoredOverride } from './queries/overrides.js'
import type { StoredWorkspaceSettings } from './queries/workspace-settings.js'
import { etagOfConfiguration, type Head, readHead } from './read-configuration.js'
import type { SettingsRules } from './schema/read.js'

const MAX_WARNINGS = 100
const PAGE = 500
/** The overrides, and the bytes of settings, that are written together. */
const BATCH = 500
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

/** A plan depends on these besides the stored configuration. */
interface Facts {
  workspaceId: string
  sent: SentConfiguration
  preconditions: Preconditions
  rules: SettingsRules | undefined
  quota: WorkspaceQuota
  /** Counts the memory of the plan's changes. */
  held: Held
}

export const planConfiguration = async (
  change: Pick<Change, 'tx' | 'caller'>,
  { workspaceId, sent, preconditions, rules, quota, held }: Facts,
): Promise<ConfigurationPlan> => {
  const { tx } = change
  const head = await readHead(tx, workspaceId)
  requireEtag(preconditions, etagOfConfiguration(workspaceId, head), head.version)
  const builder = new ChangeListBuilder(held)
  const settings = await planSettings(head, sent, rules)
  const warnings = listWarnings(rules, settings, MAX_WARNINGS)
  for (const one of settings.changes) builder.add(one)
  const patterns = sent.patterns ?? head.patterns
  const arePatternsNew = JSON.stringify(patterns) !== JSON.stringify(head.patterns)
  if (arePatternsNew)
    builder.add({ scope: 'workspace', key: 'patterns', before: head.patterns, after: patterns })
  const locks = locksOf(JSON.parse(settings.content.locked))
  const overrides: OverridePlan = { written: [], removed: [], grownBytes: 0 }
  let firstLocked: LockedOverride | undefined
  for await (const step of planOverrides(tx, workspaceId, sent.projects, rules)) {
    for (const one of step.changes) builder.add(one)
    overrides.grownBytes += step.grownBytes
    if (step.kind === 'remove') overrides.removed.push(step.override)
    else {
      overrides.written.push(step.override)
      warnings.push(...listWarnings(rules, step, MAX_WARNINGS - warnings.length))
      firstLocked ??= findLocked(locks, step.values, step.override)
    }
  }
  const changes = builder.end()
  const [before, after] = [parsePatterns(head.patterns), parsePatterns(patterns)]
  await requireInside(tx, overrides.written, after)
  requireUnlocked(firstLocked)
  if (arePatternsNew) await requirePatterns(change, workspaceId, head.patterns, patterns, quota)
  const places = [...overrides.written, ...overrides.removed]
  const everywhere = settings.changes.length > 0
  return {
    head,
    changes,
    settings: everywhere ? settings.content : undefined,
    patterns: arePatternsNew ? patterns : undefined,
    overrides,
    warnings,
    affected:
      changes.count === 0
        ? { repositories: 0, people: 0 }
        : await countAffected(tx, workspaceId, { everywhere, places, before, after }),
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

/** The locked keys that an override would change, if it would. */
const findLocked = (locks: Locks, values: Values, place: Place): LockedOverride | undefined => {
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

/** Values that are new or changed, which is all that the rules judge. */
interface NewValues {
  set: Values
  /** JSON pointer in the request. */
  at: string
}

/** @throws {ApiError} `validation_failed` for values against the enforced schema, and for keys that aren't spelled as keys should be */
const requireValues = (rules: SettingsRules | undefined, { set, at }: NewValues, stored: Values): void => {
  if (Object.keys(set).length === 0) return
  requireRules(rules, set, at, spellingFaultsIn(set, stored))
  requireSpelling(set, stored, at)
}

/** The first `most` warnings. */
const listWarnings = (rules: SettingsRules | undefined, { set, at }: NewValues, most: number) =>
  most > 0 && Object.keys(set).length > 0 ? (warningsOf(rules, set, at).warnings ?? []).slice(0, most) : []

const planSettings = async (
  current: StoredWorkspaceSettings,
  { settings, locked, idle_window_minutes }: SentConfiguration,
  rules: SettingsRules | undefined,
): Promise<NewValues & { changes: ConfigurationChange[]; content: SettingsContent }> => {
  const stored = JSON.parse(current.settings) as Values
  const difference = settings && (await compareSettings('workspace', stored, settings))
  const content = difference?.settings ?? stored
  const set = difference?.set ?? {}
  const at = '/body/settings'
  requireValues(rules, { set, at }, stored)
  await yieldIfDue()
  const oldLocked = JSON.parse(current.locked) as string[]
  const newLocked = locked ?? oldLocked.filter((key) => Object.hasOwn(content, key))
  requireKeys(newLocked, content)
  await yieldIfDue()
  const text = difference && difference.changes.length > 0 ? JSON.stringify(content) : current.settings
  requireSize(Buffer.byteLength(text), 'The settings of the workspace')
  const idle = idle_window_minutes ?? current.idleWindowMinutes
  const scope = 'workspace'
  return {
    set,
    at,
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

/** Settings are bytes here, because strings would fill a small process's heap. */
type WrittenOverride = Omit<NewOverride, 'settings'> & { settings: Buffer; details: Described }
type RemovedOverride = Place & { details: Described }

interface OverridePlan {
  written: WrittenOverride[]
  removed: RemovedOverride[]
  /** How much the overrides grow, as counted by the quota. */
  grownBytes: number
}

interface LockedOverride {
  place: Place
  /** The locked keys that it would change. */
  keys: string[]
}

/** The change to one override. */
type OverrideStep = { changes: ConfigurationChange[]; grownBytes: number } & (
  | ({ kind: 'write'; override: WrittenOverride; values: Values } & NewValues)
  | { kind: 'remove'; override: RemovedOverride }
)

const counted = (bytes: number) => Math.max(bytes, limits.workspace_bytes_per_settings)

/** Steps for the overrides that change, one by one, because together they'd fill a small process's heap. */
async function* planOverrides(
  tx: Db,
  workspaceId: string,
  projects: SentConfiguration['projects'],
  rules: SettingsRules | undefined,
): AsyncGenerator<OverrideStep> {
  if (!projects) return
  const wanted = new Map<string, [name: string, settings: Buffer]>()
  for (const piece of projects) {
    for (const one of overridesOf(piece)) wanted.set(one[0].toLowerCase(), one)
    await yieldIfDue()
  }
  let after: string[] | undefined
  for (;;) {
    const { rows, more } = await listOverrides(tx, workspaceId, after, PAGE)
    for (const row of rows) {
      const key = nameOf(row).toLowerCase()
      const [name, settings] = wanted.get(key) ?? [nameOf(row), undefined]
      wanted.delete(key)
      yield* planOverride(row, name, settings, rules)
    }
    const last = rows.at(-1)
    if (!more || !last) break
    after = [last.owner.toLowerCase(), last.repo.toLowerCase()]
  }
  for (const [name, settings] of [...wanted.values()].sort(([one], [other]) => (one < other ? -1 : 1))) {
    yield* planOverride(undefined, name, settings, rules)
  }
}

/** No step if nothing changes. @param current undefined: it's new @param bytes undefined: it's removed */
async function* planOverride(
  current: StoredOverride | undefined,
  name: string,
  bytes: Buffer | undefined,
  rules: SettingsRules | undefined,
): AsyncGenerator<OverrideStep> {
  const text = bytes?.toString()
  if (text !== undefined && text === current?.settings) return
  const values = text === undefined ? undefined : (JSON.parse(text) as Values)
  const stored = current && (JSON.parse(current.settings) as Values)
  const place = current ? { owner: current.owner, repo: current.repo } : divideRepo(name)
  const scope = nameOf(place)
  const { changes, set, settings } = await compareSettings(scope, stored, values)
  if (changes.length === 0) return
  const described = describeChange({ settings: stored ?? {} }, { settings })
  await yieldIfDue()
  const full = { ...place, ...repoKeysOf(place) }
  const oldSize = current ? counted(Buffer.byteLength(current.settings)) : 0
  if (!bytes || !values) {
    const details = { version: current?.version, ...described }
    yield { kind: 'remove', changes, override: { ...full, details }, grownBytes: -oldSize }
    return
  }
  const at = placeOfOverride(name)
  requireValues(rules, { set, at }, stored ?? {})
  const size = bytes.length
  requireSize(size, `The settings of ${scope}`)
  const version = (current?.version ?? 0) + 1
  const details = { version, size_bytes: size, ...described }
  const override = { ...full, version, settings: bytes, details }
  yield { kind: 'write', changes, override, values, set, at, grownBytes: counted(size) - oldSize }
}

export function* batchesOf<T extends Place & { settings?: Buffer }>(list: T[]): Generator<T[]> {
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
