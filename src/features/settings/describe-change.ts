/** Lists the keys that a settings change touched, for the audit trail. The values are in the versions. */
import { isSameSetting } from '../../../schemas/settings-keys.js'
import type { SettingsObject } from './settings-merge.js'

const MAX_KEYS = 100

interface Content {
  settings: SettingsObject
  locked?: string[]
  merged?: string[]
}

/** Empty lists are left out. With more than a hundred keys, `more_keys` says how many aren't named. */
export const describeChange = (before: Content, after: Content): Record<string, string[] | number> => {
  const lists = {
    added: Object.keys(after.settings).filter((key) => !Object.hasOwn(before.settings, key)),
    changed: Object.keys(after.settings).filter(
      (key) =>
        Object.hasOwn(before.settings, key) && !isSameSetting(key, before.settings[key], after.settings[key]),
    ),
    removed: Object.keys(before.settings).filter((key) => !Object.hasOwn(after.settings, key)),
    locked: without(after.locked, before.locked),
    unlocked: without(before.locked, after.locked),
    merged: without(after.merged, before.merged),
    unmerged: without(before.merged, after.merged),
  }
  const described: Record<string, string[] | number> = {}
  let remaining = MAX_KEYS
  let more = 0
  for (const [name, keys] of Object.entries(lists)) {
    const named = keys.slice(0, remaining)
    remaining -= named.length
    more += keys.length - named.length
    if (named.length > 0) described[name] = named
  }
  if (more > 0) described.more_keys = more
  return described
}

const without = (keys: string[] = [], others: string[] = []): string[] => {
  const known = new Set(others)
  return keys.filter((key) => !known.has(key))
}
