/**
 * Decides which settings are written to a folder, and which of the person's own values are restored. This file doesn't
 * depend on the editor.
 */
import { languagesOf } from '../../schemas/settings-keys.js'

type Values = Record<string, unknown>

/** `[typescript]`, or several: settings of languages, which are written one by one. */
const BLOCK = /^((?:\[[^\]]+\])+)(.*)$/s

/** The path of a setting in the file. `[typescript]editor.tabSize` is a setting in a block. */
export const pathOf = (id: string): [key: string] | [block: string, key: string] => {
  const [, block, key] = BLOCK.exec(id) ?? []
  return block && key ? [block, key] : [id]
}

/** All settings, with those in blocks one by one. A block that isn't an object has none. */
export const settingsIn = (values: object): Map<string, unknown> =>
  new Map(
    Object.entries(values).flatMap(([key, value]): [string, unknown][] => {
      if (!BLOCK.test(key)) return [[key, value]]
      const isBlock = typeof value === 'object' && value !== null && !Array.isArray(value)
      return isBlock ? Object.entries(value).map(([inner, one]) => [key + inner, one]) : []
    }),
  )

/**
 * Settings that would get around locked ones: an editor merges all blocks for a language, and which of them wins depends on
 * how they're written.
 */
export const aroundLocks = (ids: Iterable<string>, locked: readonly string[]): string[] => {
  const settingsOfLanguages = (id: string) => {
    const [block, inner] = pathOf(id)
    return inner === undefined ? [] : languagesOf(block).map((language) => `[${language}]${inner}`)
  }
  const fixed = new Set(locked.flatMap(settingsOfLanguages))
  return [...ids].filter((id) => settingsOfLanguages(id).some((setting) => fixed.has(setting)))
}

/** The opposite of `settingsIn`. */
export const valuesOf = (settings: Iterable<[string, unknown]>): Values => {
  const values = new Map<string, unknown>()
  const blocks = new Map<string, Map<string, unknown>>()
  for (const [id, value] of settings) {
    const [key, inner] = pathOf(id)
    if (inner === undefined) values.set(key, value)
    else blocks.set(key, (blocks.get(key) ?? new Map()).set(inner, value))
  }
  for (const [block, inner] of blocks) values.set(block, Object.fromEntries(inner))
  return Object.fromEntries(values)
}

export interface Team {
  /** Undefined: a locked setting must not be in the file. */
  settings: Values
  locked: string[]
}
/** Used after a sign-out, or where the person isn't a member. */
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

/** One line for each key that differs, for people who choose between two sides. */
export const differences = (mine: Values, theirs: Values): string[] => {
  const [ours, others] = [settingsIn(mine), settingsIn(theirs)]
  const show = (values: Map<string, unknown>, key: string) =>
    values.has(key) ? JSON.stringify(values.get(key)) : 'not set'
  return [...new Set([...ours.keys(), ...others.keys()])]
    .filter((key) => !isSame(ours.get(key), others.get(key)))
    .map((key) => `${key}: yours ${show(ours, key)}, theirs ${show(others, key)}`)
}
