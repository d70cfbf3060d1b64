/** A new configuration's changes, key by key. */
import type { ConfigurationChange } from '../../../schemas/configuration.js'
import { isSameSetting, isSameSettings } from '../../../schemas/settings-keys.js'
import { yieldIfDue } from '../../platform/process/yield-if-due.js'

export type Values = Record<string, unknown>

/** Whether two JSON texts have the same settings. */
export const haveSameSettings = (text: string, other: string): boolean =>
  text === other || isSameSettings(JSON.parse(text), JSON.parse(other))

export interface Difference {
  changes: ConfigurationChange[]
  /** New and changed values. */
  set: Values
  /** All values afterwards. Blocks that are the same as before keep the order of their keys. */
  settings: Values
}

/** How many keys to process between two checks of the clock. */
const KEYS = 500

/** @param before undefined: there is no override yet. @param after undefined: it is removed */
export const compareSettings = async (
  scope: string,
  before: Values | undefined,
  after: Values | undefined,
): Promise<Difference> => {
  const [old, fresh] = [before ?? {}, after ?? {}]
  const difference: Difference = { changes: [], set: {}, settings: { ...fresh } }
  /** The side on which null is a value: the override unsets the workspace's key. Both would be no change. */
  const hidingSideOf = (key: string) => {
    if (Object.hasOwn(old, key) && old[key] === null) return 'before'
    return Object.hasOwn(fresh, key) && fresh[key] === null ? 'after' : undefined
  }
  const add = (key: string) => {
    const change = { scope, key, before: old[key] ?? null, after: fresh[key] ?? null }
    const hides = hidingSideOf(key)
    difference.changes.push(hides ? { ...change, hides } : change)
  }
  const compare = (key: string) => {
    const [isOld, isFresh] = [Object.hasOwn(old, key), Object.hasOwn(fresh, key)]
    if (isOld && isFresh && isSameSetting(key, old[key], fresh[key])) {
      // Only the order of keys in a language block may differ, which is no change.
      difference.settings[key] = old[key]
      return
    }
    if (isFresh) difference.set[key] = fresh[key]
    add(key)
  }
  const newKeys = Object.keys(fresh).filter((key) => !Object.hasOwn(old, key))
  for (const [index, key] of [...Object.keys(old), ...newKeys].entries()) {
    compare(key)
    if (index % KEYS === 0) await yieldIfDue()
  }
  difference.changes.sort((one, other) => (one.key < other.key ? -1 : 1))
  await yieldIfDue()
  // An override without keys still counts as an override.
  if (difference.changes.length === 0 && (before === undefined) !== (after === undefined))
    difference.changes.push({ scope, key: 'settings', before: before ?? null, after: after ?? null })
  return difference
}

const PIECE_LENGTH = 65_536

/** Changes as a JSON list without brackets, outside the heap, because it can be larger than the workspace. */
export interface ChangeList {
  count: number
  pieces: Buffer[]
}

/** Makes a list of changes, one by one. */
export class ChangeListBuilder {
  private readonly list: ChangeList = { count: 0, pieces: [] }
  private text = ''

  add(change: ConfigurationChange): void {
    this.text += `${this.list.count++ > 0 ? ',' : ''}${JSON.stringify(change)}`
    if (this.text.length >= PIECE_LENGTH) this.endPiece()
  }

  addAll(changes: ConfigurationChange[]): void {
    for (const change of changes) this.add(change)
  }

  end(): ChangeList {
    this.endPiece()
    return this.list
  }

  private endPiece(): void {
    this.list.pieces.push(Buffer.from(this.text))
    this.text = ''
  }
}
