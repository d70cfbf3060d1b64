/** Which settings of an editor's `settings.json` may be stored here, and why the others can't. The command and the page use it. */
import { textMatcherOf } from './denied-settings.js'
import { limits } from './limits.js'
import {
  isBlock,
  isLocked,
  isObject,
  isTooLong,
  type KeyFault,
  locksOf,
  type SettingsKeyRules,
  settingsKeys,
  spellingFaultsIn,
} from './settings-keys.js'

type Values = Record<string, unknown>

export interface LeftOut {
  /** The language block that contains the key, if one does. */
  block: string | undefined
  key: string
  /** Continues a sentence that starts with the key. */
  reason: string
}

export const OTHER_PREFIX = 'isn’t shared on this server'

export interface SettingsImport {
  taken: Values
  leftOut: LeftOut[]
}

export interface ImportTarget {
  rules: SettingsKeyRules
  /** An override can contain null, which unsets a key, but no locked key. */
  kind: 'workspace' | 'override'
  /** The keys that the workspace locks. */
  locked: string[]
  /** Why the value of a key, or of a key in a block, can't be kept as it is. */
  changeOf: (...names: string[]) => string | undefined
  /** Leaves out what people choose for themselves. */
  leavesTaste?: boolean
}

const isTaste = textMatcherOf([
  ...['*.font*', 'editor.cursor*', 'workbench.colorTheme', 'workbench.iconTheme', 'window.zoomLevel'],
])

/** The reason for leaving out a key that people choose for themselves. */
export const TASTE = 'is a matter of taste'

/** Nesting depth of a value: the body and `settings`; for an override, also `projects` and its entry. */
const ENCLOSING_LEVELS = { workspace: 2, override: 4 }

/** Divides an editor's settings into those that may be stored, in their order, and the others. */
export const importSettings = (settings: Values, target: ImportTarget): SettingsImport => {
  const { rules, kind, changeOf, leavesTaste = false } = target
  const keys = settingsKeys(rules)
  const locks = locksOf(target.locked)
  const leftOut: LeftOut[] = []
  const taken = new Map<string, unknown>()

  const reasonFor = ({ key, inner, message }: KeyFault): string => {
    if (!keys.canExist(key)) return OTHER_PREFIX
    if (isTooLong(key)) return `is too long: a key has at most ${limits.settings_key_length} characters`
    return inner.length === 0 ? message : `has \`${inner.join('.')}\` in it, which ${message}`
  }
  /** @param wrapped settings that have only this key, perhaps in its block */
  const faultOf = (wrapped: Values, key: string): string | undefined => {
    const [fault] = [...keys.faultsIn(wrapped, kind), ...spellingFaultsIn(wrapped, {})]
    if (fault) return reasonFor(fault)
    if (kind === 'override' && isLocked(locks, key)) return 'is locked for all repositories'
    if (leavesTaste && isTaste(key.toLowerCase())) return TASTE
    return faultOfContent(key)
  }
  const levels = limits.json_depth - ENCLOSING_LEVELS[kind]

  for (const [key, value] of Object.entries(settings)) {
    const block = isBlock(key) && isObject(value) ? value : undefined
    const fault =
      faultOf(single(key, block ? {} : value), key) ??
      (block ? undefined : (faultOfContent(value, levels) ?? changeOf(key)))
    if (fault !== undefined) leftOut.push({ block: undefined, key, reason: fault })
    else if (!block) taken.set(key, value)
    else if (Object.keys(block).length === 0)
      leftOut.push({ block: undefined, key, reason: 'has no settings in it' })
    else {
      const inside = new Map<string, unknown>()
      for (const [inner, setting] of Object.entries(block)) {
        const wrapped = single(key, single(inner, setting))
        const reason = faultOf(wrapped, inner) ?? faultOfContent(setting, levels - 1) ?? changeOf(key, inner)
        if (reason === undefined) inside.set(inner, setting)
        else leftOut.push({ block: key, key: inner, reason })
      }
      if (inside.size > 0) taken.set(key, Object.fromEntries(inside))
    }
  }
  return { taken: Object.fromEntries(taken), leftOut }
}

/** Not an object literal, because the name may be `__proto__`. */
const single = (name: string, value: unknown): Values => Object.fromEntries([[name, value]])

/** Why the service can't store a value, whatever its key. */
const faultOfContent = (content: unknown, levels = 0): string | undefined => {
  if (typeof content === 'string') {
    if (content.includes('\0')) return 'contains NUL'
    return /\p{Surrogate}/u.test(content) ? 'contains half of a surrogate pair' : undefined
  }
  if (typeof content !== 'object' || content === null) return undefined
  if (levels === 0) return `is nested too deeply: a request has at most ${limits.json_depth} levels`
  for (const [name, value] of Object.entries(content)) {
    if (
      name === '__proto__' ||
      (name === 'constructor' && isObject(value) && Object.hasOwn(value, 'prototype'))
    )
      return `contains \`${name}\``
    const fault = faultOfContent(name) ?? faultOfContent(value, levels - 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Settings with imported ones: keys are replaced, and language blocks merge by inner key. */
export const withImported = (settings: Values, taken: Values): Values => {
  const all = new Map(Object.entries(settings))
  for (const [key, value] of Object.entries(taken)) {
    const old = all.get(key)
    all.set(key, isBlock(key) && isObject(old) && isObject(value) ? withImported(old, value) : value)
  }
  return Object.fromEntries(all)
}
