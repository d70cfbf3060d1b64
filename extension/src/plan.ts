/**
 * Decides which settings are written to a folder, and which of the person's own values are restored. This file doesn't
 * depend on the editor.
 */
import type { Limits } from '../../client/src/index.js'
import { DENIED_KEYS, matcherOf } from '../../schemas/settings-keys.js'

type Values = Record<string, unknown>

export interface Team {
  settings: Values
  locked: string[]
}
/** After a sign-out, or where the person isn't a member. */
export const NO_TEAM: Team = { settings: {}, locked: [] }

/** A value that was written for the team, and the person's own value that it replaced. */
export interface Written {
  value: unknown
  own?: unknown
}
export interface Step {
  key: string
  /** Undefined removes the key. */
  value: unknown
  /** The value to remember. Undefined: the value is the person's own. */
  written: Written | undefined
}

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/**
 * Plans the changes in a folder. A person's own value wins, unless the key is locked.
 * @param read the value that the folder has now
 * @param memory what was written earlier
 */
export const planFor = (
  { settings, locked }: Team,
  read: (key: string) => unknown,
  memory: ReadonlyMap<string, Written>,
): Step[] =>
  [...new Set([...Object.keys(settings), ...memory.keys()])].flatMap((key) => {
    const current = read(key)
    const before = memory.get(key)
    // A value other than the remembered one was set by the person since then.
    const own = before !== undefined && isSame(current, before.value) ? before.own : current
    const isTeams = Object.hasOwn(settings, key) && (own === undefined || locked.includes(key))
    const value = isTeams ? settings[key] : own
    const written = isTeams && !isSame(value, own) ? { value, own } : undefined
    return isSame(current, value) && isSame(before, written) ? [] : [{ key, value, written }]
  })

/**
 * Why a key is never written, whatever the service says, or undefined.
 * @param declared the settings that this extension declares itself, which no pattern denies
 */
export const refusalOf = (
  { settings_prefixes, settings_denied }: Pick<Limits, 'settings_prefixes' | 'settings_denied'>,
  declared: readonly string[],
): ((key: string) => string | undefined) => {
  const isDenied = matcherOf([...DENIED_KEYS, ...settings_denied])
  return (key) => {
    if (!settings_prefixes.some((prefix) => key.startsWith(`${prefix}.`)))
      return 'It has none of your team’s prefixes.'
    return !declared.includes(key) && isDenied(key)
      ? 'It could run a program or redirect traffic.'
      : undefined
  }
}

/** One line for each key that differs, for people who choose between two sides. */
export const differences = (mine: Values, theirs: Values): string[] => {
  const show = (values: Values, key: string) =>
    Object.hasOwn(values, key) ? JSON.stringify(values[key]) : 'not set'
  return [...new Set([...Object.keys(mine), ...Object.keys(theirs)])]
    .filter((key) => !isSame(mine[key], theirs[key]))
    .map((key) => `${key}: yours ${show(mine, key)}, theirs ${show(theirs, key)}`)
}
