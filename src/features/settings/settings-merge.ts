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

/**
 * Merges an override over the workspace's settings, and reports the source of each value. Language blocks merge by the keys in
 * them. If an override is older than a lock, its value for the locked key has no effect.
 */
export const overlaySettings = (
  workspace: SettingsObject,
  override: SettingsObject,
  locked: string[],
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
  for (const key of locked) if (Object.hasOwn(settings, key)) sources[key] = 'locked'
  return { settings, sources }
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
