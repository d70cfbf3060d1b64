/** Checks settings against the operator's schema, and overrides against locked keys. */
import type { Warnings } from '../../../../schemas/common.js'
import { DENIED_MESSAGE, type SettingsKeyRules, settingsKeys } from '../../../../schemas/settings-keys.js'
import { ApiError, escapePointer, invalid } from '../../../errors.js'
import type { SettingsRules } from '../../../platform/settings-schema/read.js'
import type { SettingsObject } from '../settings-merge.js'

const faultsOf = ({ schema }: SettingsRules, settings: SettingsObject, at: string) =>
  schema.check(settings).map(({ path, message }) => ({ path: at + path, message }))

/** Where settings are in a request. A restore takes its settings from the history, so its body has none. */
const IN_BODY = '/body/settings'
const IN_HISTORY = '/settings'

/** Runs before rights are checked. @throws {ApiError} `validation_failed` where the schema is enforced */
export const requireRules = (
  rules: SettingsRules | undefined,
  settings: SettingsObject = {},
  at = IN_BODY,
): void => {
  if (!rules?.enforced) return
  const errors = faultsOf(rules, settings, at)
  if (errors.length > 0) throw new ApiError('validation_failed', { errors })
}

/** If the schema isn't enforced: the values that don't match it. */
export const warningsOf = (
  rules: SettingsRules | undefined,
  settings: SettingsObject = {},
  at = IN_BODY,
): { warnings?: Warnings } => {
  if (!rules || rules.enforced) return {}
  const warnings = faultsOf(rules, settings, at)
  return warnings.length > 0 ? { warnings } : {}
}

export interface RestoreRules {
  keys: SettingsKeyRules
  /** Undefined: there is no schema. */
  rules: SettingsRules | undefined
}

/**
 * Both, for restored settings.
 * @throws {ApiError} `validation_failed` also for keys that have been denied since
 */
export const judgeRestored = ({ keys, rules }: RestoreRules, settings: string): { warnings?: Warnings } => {
  const restored = JSON.parse(settings) as SettingsObject
  const denied = Object.keys(restored).find(settingsKeys(keys).isDenied)
  if (denied !== undefined) throw invalid(`${IN_HISTORY}/${escapePointer(denied)}`, DENIED_MESSAGE)
  if (!rules) return {}
  requireRules(rules, restored, IN_HISTORY)
  return warningsOf(rules, restored, IN_HISTORY)
}

/** Loops over the override's keys first, because a configuration can have thousands of overrides. */
export const lockedKeysIn = (locked: ReadonlySet<string>, override: SettingsObject): string[] =>
  Object.keys(override).some((key) => locked.has(key))
    ? [...locked].filter((key) => Object.hasOwn(override, key))
    : []

/** @throws {ApiError} `key_locked` */
export const requireUnlocked = (locked: ReadonlySet<string>, override: SettingsObject): void => {
  const keys = lockedKeysIn(locked, override)
  if (keys.length > 0) throw new ApiError('key_locked', { keys })
}
