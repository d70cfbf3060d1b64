/** `team-settings import`: an editor's settings become part of a configuration file. The page reads them the same way. */
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
  placeOf: (name: string, ...inner: string[]) => Place | undefined
  /** Names that an object has twice. The last one is used, as in an editor. */
  repeated: Place[]
  /** Why a setting's value can't be kept as it is. */
  changeOf: (name: string, ...inner: string[]) => string | undefined
  /** Whether no name is like a setting's, so that only names that are whole prefixes can be settings. */
  isOther: boolean
}

const isLikeSetting = (name: string) => name.includes('.') || isBlock(name)

/** The names that lead to settings: in a workspace file, in a dev container's file, or in a file of settings. The last wins. */
const pathsIn = (value: Values, file: string): string[][] => {
  if (file.endsWith('.code-workspace')) return [['settings']]
  const { customizations, folders } = value
  const isPlain = Object.keys(value).some(isLikeSetting)
  if (/(^|[/\\.])devcontainer\.json$/.test(file) || (!isPlain && isObject(customizations)))
    // Earlier files have their settings at the top, and dev containers' command line combines both.
    return [['settings'], ['customizations', 'vscode', 'settings']]
  return !isPlain && Array.isArray(folders) ? [['settings']] : [[]]
}

const ownOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

/**
 * Reads settings as editors write them.
 * @param file its name, which tells files of workspaces and dev containers
 * @throws {JsonError}
 */
export const readEditorSettings = (bytes: Uint8Array, file: string): EditorFile => {
  const text = decode(bytes)
  const isEmpty = text.replaceAll(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '').trim() === ''
  const { value, places, repeated, rounded } = parseJson(isEmpty ? '{}' : text, { isEditors: true })
  if (!isObject(value)) throw new JsonError('the file must be an object of settings', '1:1')
  const parts = pathsIn(value, file).map((path) => {
    const found = path.reduce<unknown>(ownOf, value)
    return { path, settings: isObject(found) ? found : {} }
  })
  const settings = Object.fromEntries(parts.flatMap((part) => Object.entries(part.settings)))
  const names = Object.keys(settings)
  const pointerTo = (name: string, ...inner: string[]) => {
    const path = parts.findLast((part) => Object.hasOwn(part.settings, name))?.path ?? []
    return pointerOf(...path, name, ...inner)
  }
  const isInside = (pointer: string, outer: string) => pointer === outer || pointer.startsWith(`${outer}/`)
  return {
    settings,
    placeOf: (name, ...inner) => places.get(pointerTo(name, ...inner)),
    repeated: repeated
      .filter((pointer) => parts.some(({ path }) => isInside(pointer, pointerOf(...path))))
      .flatMap((pointer) => places.get(pointer) ?? []),
    changeOf: (name, ...inner) => {
      for (const [pointer, message] of rounded)
        if (isInside(pointer, pointerTo(name, ...inner))) return message
      return undefined
    },
    isOther: parts.some(({ path }) => path.length === 0) && names.length > 0 && !names.some(isLikeSetting),
  }
}

/** Why a file's content isn't imported at all. */
export const faultOfKind = (
  { isOther, settings }: EditorFile,
  prefixes: readonly string[],
): string | undefined =>
  isOther && !Object.keys(settings).every((name) => prefixes.includes(name))
    ? 'isn’t a settings file: no name in it has a dot or is a language block'
    : undefined

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
  { settings, changeOf }: EditorFile,
  target: Omit<ImportTarget, 'changeOf'>,
): FileImport => {
  let current: unknown = parseJson(text).value
  for (const name of path) current = isObject(current) && Object.hasOwn(current, name) ? current[name] : {}
  const before = isObject(current) ? current : {}
  const divided = importSettings(settings, { ...target, changeOf })
  return {
    ...divided,
    text: putSettings(text, path, divided.taken),
    keys: importedKeys(before, divided.taken),
    settings: withImported(before, divided.taken),
  }
}
