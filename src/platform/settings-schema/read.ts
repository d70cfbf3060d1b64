/** Reads the description of an extension's settings from the operator's file. */
import { isBlock, type KeyFault, type SettingsKeys, settingsIn } from '../../../schemas/settings-keys.js'
import { escapePointer, shorten } from '../../errors.js'
import { check, isObject, type Node } from './check.js'
import { CheckEnds, type Fault, type Place, Run } from './faults.js'
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
   * @param found what's known to be wrong with their keys. The values of these aren't checked.
   */
  check(settings: Record<string, unknown>, found?: readonly KeyFault[]): Fault[]
}

/** The installation's schema, and what happens to settings that don't match it. */
export interface SettingsRules {
  schema: SettingsSchema
  /** They are rejected. Otherwise the response has warnings. */
  enforced: boolean
}

/** An object with `properties`, and where it is in the file. */
interface Section {
  at: string
  schema: Record<string, unknown>
}

/**
 * Reads a VS Code extension's package.json or a JSON Schema.
 * @returns the schema, with a sentence for each kind of thing that was skipped @throws {SchemaError} that says which
 * part can't be used
 */
export const readSettingsSchema = (
  text: string,
  keys: SettingsKeys,
): { schema: SettingsSchema; warnings: string[] } => {
  const starts = keys.prefixes.map((prefix) => `\`${prefix}.\``).join(' or ')
  const skipped = new Map<string, string[]>()
  const skip = (what: string, place: string) => {
    const places = skipped.get(what)
    if (places) places.push(place)
    else skipped.set(what, [place])
  }
  const parser = new Parser({ skip })
  const nodes = new Map<string, Node>()
  const shown = new Map<string, unknown>()
  const groups: (Group & { order: number })[] = []
  for (const { at, schema } of sectionsOf(parse(text))) {
    const { type, title, order } = parser.read(
      { type: schema.type, title: schema.title, order: schema.order },
      at,
    ).shown as Json
    if (![undefined, 'object'].includes(type as string)) throw new SchemaError(`${at}/type must be object`)
    const group: Group = { title: typeof title === 'string' ? title : null, properties: [] }
    for (const [key, property] of Object.entries(propertiesOf(schema, at))) {
      const place = `${at}/properties/${escapePointer(key)}`
      if (!keys.hasPrefix(key)) {
        skip(`keys that don’t start with ${starts}`, place)
        continue
      }
      if (keys.isDenied(key)) {
        skip('keys that SETTINGS_DENIED denies', place)
        continue
      }
      const read = parser.read(property, place)
      nodes.set(key, read.node)
      if (!shown.has(key)) group.properties.push(key)
      shown.set(key, read.shown)
    }
    if (group.properties.length > 0)
      groups.push({ ...group, order: typeof order === 'number' ? order : Number.POSITIVE_INFINITY })
  }
  if (nodes.size === 0) throw new SchemaError(`has no key that starts with ${starts} (EXTENSION_PREFIX)`)
  const document: SchemaDocument = {
    type: 'object',
    properties: Object.fromEntries(shown),
    additionalProperties: false,
    'x-groups': groups
      .sort((a, b) => (a.order === b.order ? 0 : a.order - b.order))
      .map(({ title, properties }) => ({ title, properties })),
  }
  return {
    schema: { document, check: (settings, found) => checkSettings(nodes, settings, found) },
    warnings: [...skipped].map(([what, places]) => warningOf(what, places)),
  }
}

type Json = Record<string, unknown>

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new SchemaError(`isn’t JSON: ${(error as Error).message}`)
  }
}

const sectionsOf = (file: unknown): Section[] => {
  if (!isObject(file)) throw new SchemaError('must contain a JSON object')
  if (file.contributes === undefined) return [{ at: '', schema: file }]
  const at = '/contributes/configuration'
  const configuration = isObject(file.contributes) ? file.contributes.configuration : undefined
  if (isObject(configuration)) return [{ at, schema: configuration }]
  if (!Array.isArray(configuration)) throw new SchemaError(`${at} must be an object or a list of objects`)
  return configuration.map((schema: unknown, index) => {
    if (!isObject(schema)) throw new SchemaError(`${at}/${index} must be an object`)
    return { at: `${at}/${index}`, schema }
  })
}

const propertiesOf = ({ properties }: Json, at: string): Json => {
  if (properties === undefined && at !== '') return {}
  if (isObject(properties)) return properties
  const hint = at === '' && properties === undefined ? ', or contributes.configuration of an extension' : ''
  throw new SchemaError(`${at}/properties must be an object of schemas${hint}`)
}

const warningOf = (what: string, [first = '', ...more]: string[]): string =>
  `SETTINGS_SCHEMA: the service skips ${what}: ${first}${more.length > 0 ? ` and ${more.length} more` : ''}.`

const checkSettings = (
  nodes: ReadonlyMap<string, Node>,
  settings: Json,
  found: readonly KeyFault[] = [],
): Fault[] => {
  const run = new Run()
  const others = found.values()
  let place: Place | undefined
  let { value: other } = others.next()
  try {
    for (const { block, key, value } of settingsIn(settings)) {
      run.spend(1)
      const parent = block === undefined ? undefined : { parent: undefined, key: shorten(block) }
      if (other?.key === key && other.block === block) {
        run.note({ parent, key: shorten(key) }, other.message)
        other = others.next().value
        continue
      }
      if (value === null || isBlock(key)) continue
      place = { parent, key }
      const node = nodes.get(key)
      if (node) check(node, value, place, run)
      else run.note(place, 'isn’t one of the extension’s settings')
    }
  } catch (error) {
    if (!(error instanceof CheckEnds)) throw error
    run.end(place)
  }
  return run.faults
}
