/** `team-settings import`: an editor's `settings.json` becomes part of a configuration file. */
import {
  type ImportTarget,
  importSettings,
  type SettingsImport,
  withImported,
} from '../../schemas/settings-import.js'
import { isBlock, isObject } from '../../schemas/settings-keys.js'
import { putSettings } from './edit.js'
import { decode, JsonError, type Place, parseJson, pointerOf } from './jsonc.js'

type Values = Record<string, unknown>

export interface EditorFile {
  settings: Values
  placeOf: (...names: string[]) => Place | undefined
  /** Names that an object has twice. The last one is used, as in an editor. */
  repeated: Place[]
}

/** Reads a settings file as editors write it. @throws {JsonError} */
export const readEditorSettings = (bytes: Uint8Array): EditorFile => {
  const text = decode(bytes)
  const isEmpty = text.replaceAll(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '').trim() === ''
  const { value, places, repeated } = parseJson(isEmpty ? '{}' : text, { mayRepeat: true })
  if (!isObject(value)) throw new JsonError('the file must be an object of settings', '1:1')
  return {
    settings: value,
    placeOf: (...names) => places.get(pointerOf(...names)),
    repeated: repeated.flatMap((pointer) => places.get(pointer) ?? []),
  }
}

export interface ImportedKey {
  block: string | undefined
  key: string
  change: 'added' | 'replaced' | 'unchanged'
  before: unknown
  after: unknown
}

/** Compares each imported key with the settings that the file already has. */
export const importedKeys = (current: Values, taken: Values, block?: string): ImportedKey[] =>
  Object.entries(taken).flatMap(([key, after]): ImportedKey[] => {
    const before = Object.hasOwn(current, key) ? current[key] : undefined
    if (isBlock(key) && isObject(after)) return importedKeys(isObject(before) ? before : {}, after, key)
    const isSame = JSON.stringify(before) === JSON.stringify(after)
    const change = before === undefined ? 'added' : isSame ? 'unchanged' : 'replaced'
    return [{ block, key, change, before, after }]
  })

export interface FileImport extends SettingsImport {
  /** The configuration file afterwards. */
  text: string
  keys: ImportedKey[]
  /** The settings that the file has afterwards. */
  settings: Values
}

/** @param path the names that lead to the settings in the configuration file */
export const importInto = (
  text: string,
  path: string[],
  settings: Values,
  target: ImportTarget,
): FileImport => {
  let current: unknown = parseJson(text).value
  for (const name of path) current = isObject(current) && Object.hasOwn(current, name) ? current[name] : {}
  const before = isObject(current) ? current : {}
  const divided = importSettings(settings, target)
  return {
    ...divided,
    text: putSettings(text, path, divided.taken),
    keys: importedKeys(before, divided.taken),
    settings: withImported(before, divided.taken),
  }
}
