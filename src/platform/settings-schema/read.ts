/** Reads the description of the settings of extensions from the operator's files. */
import { isKeptScope, type SettingMatcher, settingMatcherOf } from '../../../schemas/kept-settings.js'
import {
  isBlock,
  type KeyFault,
  namesOf,
  type SettingsKeyRules,
  settingsIn,
  settingsKeys,
  startsOf,
} from '../../../schemas/settings-keys.js'
import { escapePointer, shorten } from '../../errors.js'
import { check, isObject, type Node } from './check.js'
import { CheckEnds, type Fault, Run, type ValuePath } from './faults.js'
import { Parser, SchemaError } from './parse.js'

export { SchemaError }

/** The properties as JSON Schema, as `GET /api/settings-schema` returns them. */
interface SchemaDocument {
  type: 'object'
  properties: Record<string, unknown>
  additionalProperties: false
  'x-groups': Group[]
}

/** Settings that the editor shows under one title. */
interface Group {
  title: string | null
  properties: string[]
}

interface SettingsSchema {
  document: SchemaDocument
  /**
   * Everything that's wrong with settings, up to the limits. A key with the value `null` is being removed, and
   * passes.
   * @param found faults already found in keys. The values of these keys aren't checked.
   */
  check(settings: Record<string, unknown>, found?: readonly KeyFault[]): Fault[]
  /** Whether a manifest keeps a setting for the application or the machine, by its scope. */
  isKept: SettingMatcher
  /** What manifests say about deprecated keys. The text can be empty. */
  deprecations: ReadonlyMap<string, string>
}

/** The installation's schema, and what happens to settings that don't match it. */
export interface SettingsRules {
  schema: SettingsSchema
  /** Whether mismatches are rejected. Otherwise the response lists them as warnings. */
  enforced: boolean
}

/** One of the operator's files. */
export interface SchemaFile {
  name: string
  text: string
  /** The content of the `package.nls.json` beside it, if there is one. */
  texts: string | undefined
}

interface SettingsSchemaRead {
  schema: SettingsSchema
  /** Keys that the manifests list in `restrictedConfigurations`, except those of the first prefix. */
  restricted: string[]
  /** All keys of these prefixes, including those that are left out. */
  described: string[]
  /** A sentence for each property that's left out, and for each kind of other thing that's skipped. */
  warnings: string[]
}

/** An object with `properties`, and where it is. */
interface Section {
  at: string
  schema: Json
}

type Json = Record<string, unknown>

/**
 * Reads the package.json of VS Code extensions, or JSON Schemas. What can't be used is left out.
 * @throws {SchemaError} for a file without a setting that can be used
 */
export const readSettingsSchema = (
  files: readonly SchemaFile[],
  given: SettingsKeyRules,
): SettingsSchemaRead => {
  const contents = files.map((file) => ({ ...file, content: contentOf(file) }))
  const restricted = restrictedIn(contents).filter((key) => !key.startsWith(`${given.prefixes[0]}.`))
  const keys = settingsKeys({ ...given, restricted })
  const starts = startsOf(keys.prefixes)
  const notes = new Notes()
  const nodes = new Map<string, Node>()
  const shown = new Map<string, unknown>()
  /** The prefixes of all properties, including those that are left out. */
  const described = new Set<string>()
  const kept = new Set<string>()
  const deprecations = new Map<string, string>()
  const groups: (Group & { order: number })[] = []
  for (const { name, content, texts } of contents) {
    const parser = new Parser(notes, parseTranslations(texts, name, notes))
    let usable = 0
    for (const { at, schema } of sectionsOf(content, name, files.length > 1 ? `${name}#` : '', notes)) {
      const title = parser.text(schema.title, `${at}/title`) ?? null
      const group: Group = { title, properties: [] }
      for (const [key, property] of Object.entries(schema.properties as Json)) {
        const place = `${at}/properties/${escapePointer(key)}`
        if (!keys.hasPrefix(key)) {
          notes.skip(`keys that don’t start with ${starts}`, place)
          continue
        }
        described.add(prefixOf(key))
        const isDenied = keys.deniedParts(key, sampleOf(property)).length > 0
        if (isDenied) notes.skip('keys that are denied', place)
        const read = isDenied ? undefined : readProperty(parser, key, property, place, notes)
        if (isObject(property) && isKeptScope(property.scope)) kept.add(key)
        const deprecation = read && deprecationOf(property, read.shown)
        if (deprecation !== undefined) deprecations.set(key, deprecation)
        if (read) {
          usable++
          nodes.set(key, read.node)
          if (!shown.has(key)) group.properties.push(key)
          shown.set(key, read.shown)
        } else if (!nodes.has(key)) nodes.set(key, {})
      }
      const order = typeof schema.order === 'number' ? schema.order : Number.POSITIVE_INFINITY
      if (group.properties.length > 0) groups.push({ ...group, order })
    }
    if (usable === 0)
      throw new SchemaError(
        `${name} has no usable setting that starts with ${starts} (EXTENSION_PREFIX)${notes.firstReason()}`,
      )
  }
  const document: SchemaDocument = {
    type: 'object',
    properties: Object.fromEntries(shown),
    additionalProperties: false,
    'x-groups': groups
      .sort((a, b) => (a.order === b.order ? 0 : a.order - b.order))
      .map(({ title, properties }) => ({ title, properties })),
  }
  return {
    schema: {
      document,
      check: (settings, found) => checkSettings({ nodes, described }, settings, found),
      isKept: settingMatcherOf(kept),
      deprecations,
    },
    restricted,
    described: [...nodes.keys()],
    warnings: notes.warnings(),
  }
}

const DEPRECATING = ['deprecationMessage', 'markdownDeprecationMessage', 'deprecated']

/**
 * The manifest's words about a deprecated setting on one line, empty if it has none, or only a placeholder without a translation.
 * Undefined: it isn't deprecated. The keywords can have any value. A setting without words is also shown as deprecated.
 */
const deprecationOf = (property: unknown, shown: unknown): string | undefined => {
  if (!isObject(property) || !isObject(shown)) return undefined
  const isSet = (name: string) => ![undefined, null, false].includes(property[name] as null)
  if (!DEPRECATING.some(isSet)) return undefined
  const texts = DEPRECATING.map((name) => oneLineOf(shown[name]))
  const words = texts.find((text) => text !== '') ?? ''
  if (words === '') shown.deprecated = true
  return shorten(words)
}

const oneLineOf = (text: unknown): string =>
  typeof text === 'string' ? text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim() : ''

const WITHOUT_TEXT: unknown[] = ['boolean', 'number', 'integer', 'null']

/** A value for which a pattern of programs may deny a setting. Undefined: a text is possible. */
const sampleOf = (property: unknown): unknown => {
  const types: unknown[] = isObject(property) ? [property.type].flat() : []
  return types.length > 0 && types.every((type) => WITHOUT_TEXT.includes(type)) ? true : undefined
}

/** Keys whose settings have a prefix. No prefix contains a dot. */
const prefixOf = (key: string): string => key.split('.', 1)[0] ?? ''

/** What's left out of the operator's files. */
class Notes {
  private readonly skipped = new Map<string, string[]>()
  private readonly leftOut: string[] = []

  skip(what: string, place: string): void {
    const places = this.skipped.get(what)
    if (places) places.push(place)
    else this.skipped.set(what, [place])
  }

  leaveOut(what: string, why: string): void {
    this.leftOut.push(`the service leaves out ${what}: ${why}`)
  }

  /** The rest of a sentence about a file from which everything is left out. */
  firstReason(): string {
    const [first] = this.leftOut
    return first === undefined ? '' : `: ${first}`
  }

  warnings(): string[] {
    const skips = [...this.skipped].map(([what, [first = '', ...more]]) => {
      const others = more.length > 0 ? ` and ${more.length} more` : ''
      return `the service skips ${what}: ${first}${others}`
    })
    return [...this.leftOut, ...skips].map((message) => `SETTINGS_SCHEMA: ${message}.`)
  }
}

const readProperty = (parser: Parser, key: string, property: unknown, place: string, notes: Notes) => {
  try {
    return parser.read(property, place)
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    notes.leaveOut(`\`${key}\``, error.message)
    return undefined
  }
}

const parse = (text: string): unknown => JSON.parse(text.replace(/^\uFEFF/, ''))

const contentOf = ({ name, text }: SchemaFile): Json => {
  let content: unknown
  try {
    content = parse(text)
  } catch (error) {
    throw new SchemaError(`${name} isn’t JSON: ${(error as Error).message}`)
  }
  if (isObject(content)) return content
  throw new SchemaError(`${name} must contain a JSON object`)
}

/** The texts that replace `%key%` placeholders. A text can be an object with hints for translators. */
const parseTranslations = (
  text: string | undefined,
  name: string,
  notes: Notes,
): ReadonlyMap<string, string> => {
  if (text === undefined) return new Map()
  try {
    const content = parse(text)
    if (isObject(content)) return new Map(Object.entries(content).flatMap(toTranslation))
    notes.leaveOut(`the package.nls.json beside ${name}`, 'it must contain a JSON object')
  } catch (error) {
    notes.leaveOut(`the package.nls.json beside ${name}`, `it isn’t JSON: ${(error as Error).message}`)
  }
  return new Map()
}

const toTranslation = ([key, value]: [string, unknown]): [string, string][] => {
  const text = isObject(value) ? value.message : value
  return typeof text === 'string' ? [[key, text]] : []
}

const restrictedIn = (contents: readonly { content: Json }[]): string[] => {
  const listed = contents.flatMap(({ content: { capabilities } }) => {
    const { untrustedWorkspaces } = isObject(capabilities) ? capabilities : {}
    const { restrictedConfigurations } = isObject(untrustedWorkspaces) ? untrustedWorkspaces : {}
    return Array.isArray(restrictedConfigurations) ? (restrictedConfigurations as unknown[]) : []
  })
  return [...new Set(listed.filter((key) => typeof key === 'string' && /^\S{1,200}$/.test(key)))] as string[]
}

/** The schema's sections, each an object with `properties`. */
const sectionsOf = (content: Json, name: string, start: string, notes: Notes): Section[] => {
  if (content.contributes === undefined) {
    if (isObject(content.properties)) return [{ at: start, schema: content }]
    const hint = content.properties === undefined ? ', or contributes.configuration of an extension' : ''
    throw new SchemaError(`${name} /properties must be an object of schemas${hint}`)
  }
  const pointer = '/contributes/configuration'
  const configuration = isObject(content.contributes) ? content.contributes.configuration : undefined
  if (!isObject(configuration) && !Array.isArray(configuration))
    throw new SchemaError(`${name} ${pointer} must be an object or a list of objects`)
  const sections = Array.isArray(configuration)
    ? configuration.map((schema: unknown, index) => ({ at: `${start}${pointer}/${index}`, schema }))
    : [{ at: `${start}${pointer}`, schema: configuration }]
  return sections.flatMap(({ at, schema }) => {
    if (isObject(schema) && isObject(schema.properties)) return [{ at, schema }]
    if (!isObject(schema) || schema.properties !== undefined)
      notes.leaveOut(
        at,
        isObject(schema) ? 'its properties must be an object of schemas' : 'it must be an object',
      )
    return []
  })
}

interface Known {
  nodes: ReadonlyMap<string, Node>
  /** The prefixes that the files describe. Other prefixes' keys aren't unknown. */
  described: ReadonlySet<string>
}

const checkSettings = (
  { nodes, described }: Known,
  settings: Json,
  found: readonly KeyFault[] = [],
): Fault[] => {
  const run = new Run()
  const others = found.values()
  let place: ValuePath | undefined
  let { value: other } = others.next()
  try {
    for (const { block, key, value } of settingsIn(settings)) {
      run.spend(1)
      const parent = block === undefined ? undefined : { parent: undefined, key: shorten(block) }
      let isFound = false
      for (; other?.key === key && other.block === block; other = others.next().value) {
        isFound = true
        run.note(pathOf(other), other.message)
      }
      if (isFound || value === null || isBlock(key)) continue
      place = { parent, key }
      const node = nodes.get(key)
      if (node) check(node, value, place, run)
      else if (described.has(prefixOf(key)))
        run.note(place, 'isn’t one of the extension’s settings', 'unknown')
    }
  } catch (error) {
    if (!(error instanceof CheckEnds)) throw error
    run.end(place)
  }
  return run.faults
}

const pathOf = (fault: KeyFault): ValuePath | undefined => {
  let place: ValuePath | undefined
  for (const name of namesOf(fault)) place = { parent: place, key: shorten(String(name)) }
  return place
}
