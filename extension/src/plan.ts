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

/** A setting of a block once for each of its languages: `[typescript]editor.tabSize`. Other settings have none. */
const perLanguage = (id: string): string[] => {
  const [block, inner] = pathOf(id)
  return inner === undefined ? [] : languagesOf(block).map((language) => `[${language}]${inner}`)
}

/**
 * Settings that would get around locked ones: an editor merges all blocks for a language, and which of them wins depends on
 * how they're written. A block also wins over a setting outside of blocks.
 */
export const aroundLocks = (ids: Iterable<string>, locked: readonly string[]): string[] => {
  const fixed = new Set([...locked, ...locked.flatMap(perLanguage)])
  return [...ids].filter((id) => {
    const [, inner] = pathOf(id)
    return inner !== undefined && (fixed.has(inner) || perLanguage(id).some((one) => fixed.has(one)))
  })
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

/** A person's own value. A value other than the remembered one was set by the person since then. */
const ownOf = (current: unknown, before: Written | undefined): unknown =>
  before !== undefined && isSame(current, before.value) ? before.own : current

export interface FolderTeam extends Team {
  /** Everything that locks ask for in this folder: some settings may not be in its file, and others take their place. */
  held: Set<string>
  /** Settings that aren't written, because the person has set another block for one of their languages. */
  keptOut: Set<string>
}

/**
 * What a folder's file should have.
 * @param wanted the team's settings
 * @param locked those of them that are locked
 * @param current the file's settings
 */
export const teamIn = (
  wanted: ReadonlyMap<string, unknown>,
  locked: readonly string[],
  current: ReadonlyMap<string, unknown>,
  memory: ReadonlyMap<string, Written>,
): FolderTeam => {
  const ids = [...new Set([...current.keys(), ...memory.keys()])]
  const own = new Map(ids.map((id) => [id, ownOf(current.get(id), memory.get(id))]))
  const around = aroundLocks(ids, locked)
  const fixed = new Set([...locked, ...locked.flatMap(perLanguage)])
  // The person's value stays for the languages of a block that aren't locked.
  const others = around.flatMap((id): [string, unknown][] => {
    const [block, inner = ''] = pathOf(id)
    const languages = languagesOf(block).filter((language) => !fixed.has(`[${language}]${inner}`))
    const isWhole = languages.length === 0 || wanted.has(id) || fixed.has(inner)
    if (isWhole || own.get(id) === undefined) return []
    return [[`${languages.map((language) => `[${language}]`).join('')}${inner}`, own.get(id)]]
  })
  const held = new Set([...locked, ...around, ...others.map(([id]) => id)])
  const isOwn = (id: string) => own.get(id) !== undefined && !around.includes(id)
  const set = new Set([...ids.filter(isOwn), ...others.map(([id]) => id)].flatMap(perLanguage))
  const isFixed = new Set([...locked, ...around])
  const keptOut = new Set(
    [...wanted.keys()].filter((id) => !isFixed.has(id) && perLanguage(id).some((one) => set.has(one))),
  )
  const settings = new Map<string, unknown>([
    ...around.map((id): [string, unknown] => [id, undefined]),
    ...[...wanted].filter(([id]) => !keptOut.has(id)),
    ...others,
  ])
  return { settings: Object.fromEntries(settings), locked: [...isFixed], held, keptOut }
}

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
    const own = ownOf(current, before)
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
