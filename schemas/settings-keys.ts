/** Which keys of settings may be stored: `EXTENSION_PREFIX`, `SETTINGS_DENIED` and how a key is spelled. */
import { DENIED_MESSAGE, deniedMatcherOf, deniedPartsOf, type InnerPath } from './denied-settings.js'
import { limits } from './limits.js'

/** The editor's own prefixes that teams share by default. Longer keys of these aren't names of other settings. */
export const EDITOR_PREFIXES = [
  ...['editor', 'files', 'search', 'workbench', 'explorer', 'diffEditor', 'scm', 'git', 'window'],
  ...['breadcrumbs', 'problems', 'notebook', 'emmet', 'html', 'css', 'scss', 'less', 'json'],
  ...['javascript', 'typescript', 'markdown'],
]

/** As the last prefix, it allows every other one. */
export const ANY_PREFIX = '*'

const NULL_MESSAGE = 'must not be null: leave the key out'

/** Plain data that can be passed to a worker. */
export interface SettingsKeyRules {
  /** The first is the team's own extension, whose keys are never denied. The last can be `*`. */
  prefixes: string[]
  /** Patterns. Case doesn't matter, and a leading `!` denies any value. */
  denied: string[]
  /** Patterns of settings that aren't denied. */
  allowed: string[]
  /** Keys that manifests restrict. They are denied, even if they are allowed. */
  restricted: string[]
  /** Keys that manifests describe. Names in the values of these aren't names of settings. */
  described: string[]
}

/** Rules that deny nothing. */
export const NO_RULES = { denied: [], allowed: [], restricted: [], described: [] }

type Values = Record<string, unknown>

/** A key of settings, or a key in one of their language blocks. */
export interface Setting {
  /** The language block that contains it, if one does. */
  block: string | undefined
  key: string
  value: unknown
}

/** A block has the settings for some languages: `[typescript]`, `[javascript][typescript]`. No prefix starts like this. */
export const isBlock = (key: string): boolean => key.startsWith('[')

export const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** All keys in order. A language block comes before the keys in it. */
export function* settingsIn(settings: Values): Generator<Setting> {
  for (const key of Object.keys(settings)) {
    const value = settings[key]
    yield { block: undefined, key, value }
    if (!isBlock(key) || !isObject(value)) continue
    for (const inner of Object.keys(value)) yield { block: key, key: inner, value: value[inner] }
  }
}

/** Whether two values are the same, also in the order of names: editors run `editor.codeActionsOnSave` in its order. */
export const isSameValue = (one: unknown, other: unknown): boolean =>
  one === other ||
  (typeof one === 'object' && typeof other === 'object' && JSON.stringify(one) === JSON.stringify(other))

/** Whether two values of a setting are the same. The order of keys in a language block doesn't count. */
export const isSameSetting = (key: string, one: unknown, other: unknown): boolean =>
  isSameValue(one, other) || (isBlock(key) && isObject(one) && isObject(other) && isSameSettings(one, other))

/** Whether two objects have the same settings, in any order. */
export const isSameSettings = (one: Values, other: Values): boolean => {
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSameSetting(key, one[key], other[key]))
  )
}

/** The languages of a block. Other keys have none. */
export const languagesOf = (key: string): string[] => (isBlock(key) ? key.slice(1, -1).split('][') : [])

/**
 * Locked keys. An editor merges all blocks for a language, so a locked block locks every other block for one of its languages.
 */
export interface Locks {
  keys: ReadonlySet<string>
  /** The locked blocks for each language. */
  blocks: ReadonlyMap<string, string[]>
}

export const locksOf = (locked: string[]): Locks => {
  const blocks = new Map<string, string[]>()
  for (const key of locked) {
    for (const language of languagesOf(key)) {
      const known = blocks.get(language)
      if (known) known.push(key)
      else blocks.set(language, [key])
    }
  }
  return { keys: new Set(locked), blocks }
}

/** Whether an override can't have this key, or this key in one of its language blocks. */
export const isLocked = ({ keys, blocks }: Locks, key: string): boolean =>
  keys.has(key) || languagesOf(key).some((language) => blocks.has(language))

/** The locked keys that an override would change. */
export const lockedKeysIn = ({ keys, blocks }: Locks, override: Values): string[] => {
  // A configuration can have thousands of overrides.
  if (keys.size === 0) return []
  const found = new Set<string>()
  // Thousands of blocks can be for the same language.
  const languages = new Set<string>()
  for (const { key } of settingsIn(override)) {
    if (keys.has(key)) found.add(key)
    for (const language of languagesOf(key)) languages.add(language)
  }
  for (const language of languages) for (const key of blocks.get(language) ?? []) found.add(key)
  return found.size > 0 ? [...keys].filter((key) => found.has(key)) : []
}

/**
 * Settings that are pushed, replace the workspace's settings, are merged into them, or are an override. These differ in what
 * null means.
 */
export type SettingsKind = 'pushed' | 'workspace' | 'patch' | 'override'

/** A fault in a key, or in how its value uses null or language blocks. */
export interface KeyFault extends Setting {
  /** The part of the value with the fault. Empty: the key itself. */
  inner: InnerPath
  message: string
}

/** The names that lead from the settings to a fault. */
export const namesOf = ({
  block,
  key,
  inner,
}: Pick<KeyFault, 'block' | 'key' | 'inner'>): (string | number)[] =>
  block === undefined ? [key, ...inner] : [block, key, ...inner]

export interface SettingsKeys extends SettingsKeyRules {
  hasPrefix(key: string): boolean
  /** Whether it has a prefix or is a language block. */
  canExist(key: string): boolean
  /** The parts of a setting that are denied, in order. The empty path stands for all of it. */
  deniedParts(key: string, value: unknown): InnerPath[]
  /**
   * Everything that's wrong with the keys, in order. Empty if keys are merely misspelled, because keys that
   * were stored before spelling was checked may stay (`spellingFaultsIn`).
   * @param isRejected whether something else is wrong with the settings
   */
  faultsIn(settings: Values, kind: SettingsKind, isRejected?: boolean): KeyFault[]
}

/** Whether a key has one of these prefixes. Without a dot, it's one of those that are listed after the first. */
export const prefixMatcher = (prefixes: readonly string[]): ((key: string) => boolean) => {
  const allowsAny = prefixes.at(-1) === ANY_PREFIX
  const listed = new Set(allowsAny ? prefixes.slice(0, -1) : prefixes)
  const [own] = prefixes
  return (key) => {
    const dot = key.indexOf('.')
    if (dot < 0) return key !== own && listed.has(key)
    return (allowsAny && dot > 0) || listed.has(key.slice(0, dot))
  }
}

const MAX_NAMED = 5

/** Continues "must start with …". */
export const startsOf = (prefixes: readonly string[]): string => {
  if (prefixes.at(-1) === ANY_PREFIX) return 'a prefix and a dot'
  const starts = prefixes.map((prefix) => `\`${prefix}.\``)
  return starts.length > MAX_NAMED
    ? `one of this server’s prefixes (${starts.slice(0, 2).join(', ')}, …)`
    : starts.join(' or ')
}

/** The maximum number of faults listed. */
export const MAX_FAULTS = 100

export const settingsKeys = (rules: SettingsKeyRules): SettingsKeys => {
  const { prefixes } = rules
  const own = `${prefixes[0]}.`
  const matcher = deniedMatcherOf(rules)
  const described = new Set(rules.described)
  const describes = (key: string) => described.has(key)
  const editors = new Set(EDITOR_PREFIXES)
  const hasPrefix = prefixMatcher(prefixes)
  const deniedParts = (key: string, value: unknown) =>
    isBlock(key) || key.startsWith(own)
      ? []
      : deniedPartsOf(matcher, key, value, {
          isPrefix: !key.includes('.'),
          isEditors: editors.has(key.split('.', 1)[0] ?? ''),
          describes,
        })
  const prefixMessage = `must start with ${startsOf(prefixes)}`

  const faultOf = ({ key }: Setting): string | undefined => {
    if (isTooLong(key)) return `must NOT have more than ${limits.settings_key_length} characters`
    return isBlock(key) || hasPrefix(key) ? undefined : prefixMessage
  }
  /** Faults other than misspelled keys. */
  const faultsOf = (setting: Setting, kind: SettingsKind): KeyFault[] => {
    const { block, key, value } = setting
    const wrong = faultOf(setting) ?? (isBlock(key) ? faultOfBlock(setting, kind) : undefined)
    if (wrong !== undefined) return [{ ...setting, inner: [], message: wrong }]
    if (value === null && kind === 'patch' && block === undefined) return []
    const parts = deniedParts(key, value)
    if (parts.length > 0) return parts.map((inner) => ({ ...setting, inner, message: DENIED_MESSAGE }))
    if (isBlock(key) || value !== null || !['workspace', 'patch'].includes(kind)) return []
    return [{ ...setting, inner: [], message: NULL_MESSAGE }]
  }
  return {
    ...rules,
    hasPrefix,
    canExist: (key) => hasPrefix(key) || isBlock(key),
    deniedParts,
    faultsIn: (settings, kind, isRejected = false) => {
      const faults: KeyFault[] = []
      for (const setting of settingsIn(settings)) {
        const found = faultsOf(setting, kind)
        isRejected ||= found.length > 0
        const isRemoved = setting.value === null && kind === 'patch'
        const message = found.length > 0 || isRemoved ? undefined : spellingFault(setting.key)
        if (message !== undefined) found.push({ ...setting, inner: [], message })
        faults.push(...found.slice(0, MAX_FAULTS - faults.length))
        if (isRejected && faults.length === MAX_FAULTS) break
      }
      return isRejected ? faults : []
    },
  }
}

/** New keys that are misspelled. @param stored the settings that these replace, or are merged into */
export const spellingFaultsIn = (settings: Values, stored: Values): KeyFault[] => {
  const faults: KeyFault[] = []
  for (const setting of settingsIn(settings)) {
    const { block, key } = setting
    const message = spellingFault(key)
    if (message === undefined) continue
    const place = block === undefined ? stored : stored[block]
    if (!isObject(place) || !Object.hasOwn(place, key)) faults.push({ ...setting, inner: [], message })
    if (faults.length === MAX_FAULTS) break
  }
  return faults
}

/** Whether a key has more characters than allowed. A pair of surrogates is one. */
export const isTooLong = (key: string): boolean =>
  key.length > limits.settings_key_length && [...key].length > limits.settings_key_length

const LANGUAGE_BLOCK = /^(\[[^[\]]+\])+$/

const faultOfBlock = ({ block, key, value }: Setting, kind: SettingsKind): string | undefined => {
  if (block !== undefined) return 'must not be in another language block'
  if (!LANGUAGE_BLOCK.test(key)) return 'must name languages, such as `[typescript]`'
  const languages = languagesOf(key)
  // An editor takes `[typescript][typescript]` and `[ typescript]` for `[typescript]`, so both would get around its lock.
  if (new Set(languages).size < languages.length) return 'must name each language once'
  const fault = languages.map(faultOfText).find((message) => message !== undefined)
  if (fault !== undefined || isObject(value)) return fault
  if (value === null && (kind === 'patch' || kind === 'override')) return undefined
  return 'must be an object of settings'
}

/** Almost all keys match it, and need no further check. */
const PLAIN_KEY = /^[\w./-]*[\w/-]$/

/** What's wrong with a new key's spelling. Keys appear in pages, Markdown and terminals, so they can't be markup. */
const spellingFault = (key: string): string | undefined => {
  if (PLAIN_KEY.test(key) || isBlock(key)) return undefined
  if (/^[^.]*\.$/.test(key)) return `must have a name after \`${key}\``
  return faultOfText(key)
}

const faultOfText = (text: string): string | undefined => {
  if (/[\p{Cc}\p{Cf}]/u.test(text)) return 'must not contain control or invisible characters'
  if (/^ | $| {2}|[^\S ]/.test(text)) return 'must not contain white space except single spaces inside'
  return /[()<>`[\]]/.test(text) ? 'must not contain any of `( ) < > [ ]` or a backtick' : undefined
}
