/** Merges settings objects. Existing keys keep their place, and new keys go last. */
import type { Source } from '../../../schemas/effective-config.js'
import { isBlock, isLocked, isObject, type Locks, locksOf } from '../../../schemas/settings-keys.js'

export type SettingsObject = Record<string, unknown>

/** JSON Merge Patch (RFC 7396) on the first level of keys: null removes a key, and any other value replaces it. */
export const mergeSettings = (current: SettingsObject, patch: SettingsObject): SettingsObject => {
  const merged = { ...current }
  // A loop, because a patch can have 80,000 keys, and array methods are several times slower.
  for (const key of Object.keys(patch)) {
    if (patch[key] === null) delete merged[key]
    else merged[key] = patch[key]
  }
  return merged
}

/** The merged keys that are still in the settings and not locked. Earlier releases remove and lock keys without looking here. */
export const keptMerges = (merged: string[], settings: SettingsObject, locked: string[]): string[] => {
  const locks = new Set(locked)
  return merged.filter((key) => Object.hasOwn(settings, key) && !locks.has(key))
}

/**
 * Merges an override over the workspace's settings, and reports the source of each value. Language blocks merge by the keys in
 * them. If an override is older than a lock, its value for the locked key has no effect.
 * @param merged keys whose lists and objects are combined; none is locked or a language block
 */
export const overlaySettings = (
  workspace: SettingsObject,
  override: SettingsObject,
  { locked, merged }: { locked: string[]; merged: string[] },
): { settings: SettingsObject; sources: Record<string, Source> } => {
  const open = openPartOf(override, locksOf(locked))
  const settings = mergeSettings(workspace, open)
  for (const key of Object.keys(settings)) {
    if (!isBlock(key)) continue
    const [below, above] = [workspace[key], open[key]]
    const block = mergeSettings(isObject(below) ? below : {}, isObject(above) ? above : {})
    if (Object.keys(block).length > 0) settings[key] = block
    else delete settings[key]
  }
  const sources: Record<string, Source> = {}
  for (const key of Object.keys(settings)) sources[key] = Object.hasOwn(open, key) ? 'project' : 'workspace'
  for (const key of merged) {
    if (!Object.hasOwn(workspace, key) || !Object.hasOwn(open, key)) continue
    const value = combine(workspace[key], open[key])
    if (value === undefined) continue
    settings[key] = value
    sources[key] = 'merged'
  }
  for (const key of locked) if (Object.hasOwn(settings, key)) sources[key] = 'locked'
  return { settings, sources }
}

/** Undefined: the values aren't two lists or two objects, so the second replaces the first. */
const combine = (below: unknown, above: unknown): unknown[] | SettingsObject | undefined => {
  if (Array.isArray(below) && Array.isArray(above)) return appendNew(below, above)
  return isObject(below) && isObject(above) ? mergeNames(below, above) : undefined
}

/** Appends what isn't there yet. In equal items, objects have their names in the same order. */
const appendNew = (below: unknown[], above: unknown[]): unknown[] => {
  const list = [...below]
  const known = new Set(below.map((item) => JSON.stringify(item)))
  for (const item of above) {
    const text = JSON.stringify(item)
    if (!known.has(text)) list.push(item)
    known.add(text)
  }
  return list
}

/** Like `mergeSettings`, for any names: in a plain assignment, `__proto__` isn't one. */
const mergeNames = (below: SettingsObject, above: SettingsObject): SettingsObject => {
  const merged = new Map(Object.entries(below))
  for (const [name, value] of Object.entries(above)) {
    if (value === null) merged.delete(name)
    else merged.set(name, value)
  }
  return Object.fromEntries(merged)
}

/**
 * The part of an override that takes effect: without locked keys, including those in language blocks, and without empty
 * blocks.
 */
const openPartOf = (override: SettingsObject, locks: Locks): SettingsObject => {
  const open = withoutLocked(override, locks)
  for (const key of Object.keys(open)) {
    const block = open[key]
    if (!isBlock(key) || !isObject(block)) continue
    const rest = withoutLocked(block, locks)
    if (Object.keys(rest).length > 0) open[key] = rest
    else delete open[key]
  }
  return open
}

const withoutLocked = (settings: SettingsObject, locks: Locks): SettingsObject => {
  const rest = { ...settings }
  for (const key of Object.keys(rest)) if (isLocked(locks, key)) delete rest[key]
  return rest
}
