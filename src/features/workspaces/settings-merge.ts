/** How settings objects are put together; a key that stays keeps its place, new keys go last. */
import type { Source } from '../../../schemas/effective-config.js'

export type SettingsObject = Record<string, unknown>

/** JSON Merge Patch (RFC 7396) on the first level of keys: null removes, any other value replaces whole. */
export const mergeSettings = (current: SettingsObject, patch: SettingsObject): SettingsObject => {
  const merged = { ...current }
  // In a loop: a patch can have 80,000 keys, and lists of them cost several times as much.
  for (const key of Object.keys(patch)) {
    if (patch[key] === null) delete merged[key]
    else merged[key] = patch[key]
  }
  return merged
}

/** A workspace's settings as a repository with an override sees them, and where each value comes from. */
export const overlaySettings = (
  workspace: SettingsObject,
  override: SettingsObject,
): { settings: SettingsObject; sources: Record<string, Source> } => {
  const settings = mergeSettings(workspace, override)
  const sources = Object.fromEntries(
    Object.keys(settings).map(
      (key) => [key, Object.hasOwn(override, key) ? 'project' : 'workspace'] as const,
    ),
  )
  return { settings, sources }
}
