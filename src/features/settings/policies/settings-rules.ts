/** Checks the keys of settings, settings against the operator's schema, and overrides against locked keys. */
import type { WarningCode, Warnings } from '../../../../schemas/common.js'
import { DENIED_MESSAGE } from '../../../../schemas/denied-settings.js'
import { isKeptByEditor } from '../../../../schemas/kept-settings.js'
import { looksSecret } from '../../../../schemas/secrets.js'
import {
  isBlock,
  isObject,
  type KeyFault,
  lockedKeysIn,
  locksOf,
  MAX_FAULTS,
  namesOf,
  type SettingsKeys,
  type SettingsKind,
  settingsIn,
  spellingFaultsIn,
} from '../../../../schemas/settings-keys.js'
import { ApiError, escapePointer, shorten } from '../../../errors.js'
import type { SettingsRules } from '../../../platform/settings-schema/read.js'
import type { SettingsObject } from '../settings-merge.js'

export interface KeysAndRules {
  keys: SettingsKeys
  /** Undefined: there is no schema. */
  rules: SettingsRules | undefined
}

/** Where settings are in a request, and in a response. A restore takes its settings from the history, so its body has none. */
const IN_BODY = '/body/settings'
const IN_RESPONSE = '/settings'

interface ListedFault {
  /** JSON pointer. */
  path: string
  message: string
}

const reject = (errors: ListedFault[]): void => {
  if (errors.length > 0) throw new ApiError('validation_failed', { errors })
}

const pointerOf = (fault: Pick<KeyFault, 'block' | 'key' | 'inner'>): string =>
  namesOf(fault)
    .map((name) => `/${escapePointer(shorten(String(name)))}`)
    .join('')

const listFaults = (faults: KeyFault[], at: string) =>
  faults.map((fault) => ({ path: at + pointerOf(fault), message: fault.message }))

const listViolations = (
  { schema }: SettingsRules,
  settings: SettingsObject,
  at: string,
  found?: KeyFault[],
): ListedFault[] => schema.check(settings, found).map(({ path, message }) => ({ path: at + path, message }))

/** Settings in a request, and everything that's wrong with their keys. */
export interface CheckedKeys {
  settings: SettingsObject
  faults: KeyFault[]
  /** JSON pointer in the request. */
  at: string
}

/**
 * Settings as the schema sees them: an override without the names in objects whose value is null. If the workspace merges
 * their key, they take a name away, and keys can be merged later.
 */
export const valuesToCheck = (kind: SettingsKind, settings: SettingsObject): SettingsObject =>
  kind === 'override'
    ? Object.fromEntries(
        Object.entries(settings).map(([key, value]) => [
          key,
          isObject(value) && !isBlock(key) ? withoutNulls(value) : value,
        ]),
      )
    : settings

const withoutNulls = (object: SettingsObject): SettingsObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))

/** Everything that's wrong with the keys and, if the schema is enforced, with the values. */
export const listSettingsFaults = (
  rules: SettingsRules | undefined,
  { settings, faults, at }: CheckedKeys,
): ListedFault[] => (rules?.enforced ? listViolations(rules, settings, at, faults) : listFaults(faults, at))

/** Runs before rights are checked. @throws {ApiError} `validation_failed` with `listSettingsFaults` */
export const requireValidSettings = (
  { keys, rules }: KeysAndRules,
  kind: SettingsKind,
  settings: SettingsObject = {},
): void => {
  const at = IN_BODY
  const values = valuesToCheck(kind, settings)
  const faults = keys.faultsIn(settings, kind)
  const listed = listSettingsFaults(rules, { settings: values, faults, at })
  // In that case, the response also lists misspelled keys.
  const hasOnlyValueFaults = listed.length > 0 && faults.length === 0
  reject(
    hasOnlyValueFaults
      ? listSettingsFaults(rules, { settings: values, faults: keys.faultsIn(settings, kind, true), at })
      : listed,
  )
}

/**
 * Runs when the stored settings are known.
 * @throws {ApiError} `validation_failed` for new keys that are misspelled
 */
export const requireSpelling = (settings: SettingsObject, stored: SettingsObject, at = IN_BODY): void =>
  reject(listFaults(spellingFaultsIn(settings, stored), at))

/** Like `requireSpelling`, but parses the stored JSON text only if a key needs it. Undefined: nothing is stored. */
export const requireNewKeySpelling = (stored: string | undefined, settings: SettingsObject): void => {
  if (spellingFaultsIn(settings, {}).length > 0) requireSpelling(settings, JSON.parse(stored ?? '{}'))
}

/** @throws {ApiError} `validation_failed` where the schema is enforced */
export const requireRules = (
  rules: SettingsRules | undefined,
  settings: SettingsObject,
  at: string,
  found?: KeyFault[],
): void => {
  if (rules?.enforced) reject(listViolations(rules, settings, at, found))
}

/** Warnings about settings in a request. An enforced schema has rejected the values that don't match it. */
export const warningsOf = (
  rules: SettingsRules | undefined,
  settings: SettingsObject = {},
  at = IN_BODY,
): { warnings?: Warnings } => listWarnings(rules, settings, at, rules?.enforced ? [] : undefined)

/** Warnings about stored settings in a response. The schema may be newer than the values, also if it's enforced. */
export const storedWarnings = (
  rules: SettingsRules | undefined,
  settings: SettingsObject,
): { warnings?: Warnings } => listWarnings(rules, settings, IN_RESPONSE)

const listWarnings = (
  rules: SettingsRules | undefined,
  settings: SettingsObject,
  at: string,
  violations = rules?.schema.check(settings) ?? [],
): { warnings?: Warnings } => {
  const found = violations.map((fault) => ({ ...fault, path: at + fault.path }))
  const warnings = [...found, ...listAdvice(rules, settings, at, MAX_FAULTS - found.length)]
  return warnings.length > 0 ? { warnings } : {}
}

/** Warnings for which no setting is ever rejected. A key with the value `null` is removed or unset, so there are none about it. */
const listAdvice = (
  rules: SettingsRules | undefined,
  settings: SettingsObject,
  at: string,
  max: number,
): NonNullable<Warnings> => {
  const found: NonNullable<Warnings> = []
  for (const setting of settingsIn(settings)) {
    if (found.length >= max) break
    const { key, value } = setting
    if (value === null || isBlock(key)) continue
    const path = at + pointerOf({ ...setting, inner: [] })
    for (const [code, message] of adviceOn(rules, key, value)) found.push({ path, code, message })
  }
  return found.slice(0, max)
}

function* adviceOn(
  rules: SettingsRules | undefined,
  key: string,
  value: unknown,
): Generator<[code: WarningCode, message: string]> {
  if (isKeptByEditor(key, value) || rules?.schema.isKept(key, value))
    yield [
      'not_applied',
      'isn’t applied: the editor restricts it, or keeps it for the application or the machine',
    ]
  const deprecation = rules?.schema.deprecations.get(key)
  if (deprecation !== undefined) yield ['deprecated', `is deprecated${deprecation && `: ${deprecation}`}`]
  if (looksSecret(key, value))
    yield ['secret', 'looks like a password or a token, and everyone with these settings can read it']
}

/**
 * Both, for restored settings.
 * @throws {ApiError} `validation_failed` also for keys that have been denied since
 */
export const checkRestored = (
  { keys, rules }: KeysAndRules,
  kind: SettingsKind,
  settings: string,
): { warnings?: Warnings } => {
  const restored = JSON.parse(settings) as SettingsObject
  const values = valuesToCheck(kind, restored)
  const denied = [...settingsIn(restored)]
    .flatMap((setting) =>
      keys
        .deniedParts(setting.key, setting.value)
        .map((inner) => ({ ...setting, inner, message: DENIED_MESSAGE })),
    )
    .slice(0, MAX_FAULTS)
  requireRules(rules, values, IN_RESPONSE, denied)
  reject(listFaults(denied, IN_RESPONSE))
  return warningsOf(rules, values, IN_RESPONSE)
}

/** @throws {ApiError} `key_locked` */
export const requireUnlocked = (locked: string[], override: SettingsObject): void => {
  const keys = lockedKeysIn(locksOf(locked), override)
  if (keys.length > 0) throw new ApiError('key_locked', { keys })
}
