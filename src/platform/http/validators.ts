/** The validators of requests. Bodies are validated as they are. Strings from URLs and headers are converted. */
import serializerSelector from '@fastify/fast-json-stringify-compiler'
import { Ajv, type Options, str } from 'ajv'
import type { DataValidateFunction } from 'ajv/dist/types/index.js'
import addFormats from 'ajv-formats'
import type { FastifyInstance, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import type { RepohostKind } from '../../../schemas/common.js'
import { listResources } from '../../../schemas/common.js'
import type { SettingsKeyRules } from '../../../schemas/settings-keys.js'
import { schemaAt } from '../../../schemas/subgroups.js'
import { lazy } from '../process/async.js'
import { formatsOf } from './formats.js'

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** The share of the size taken up by properties with the value null. */
const sizeOfNulls = (properties: Record<string, unknown>): number => {
  let size = 0
  for (const key of Object.keys(properties))
    if (properties[key] === null) size += sizeOf(key) + ':null,'.length
  return size
}

/** Bounds the size of settings. Both keywords report a failure as `x-settings-bytes`. */
const settingsBytes = (keyword: string, size: (settings: Record<string, unknown>) => number) => ({
  keyword,
  type: 'object' as const,
  schemaType: 'number' as const,
  errors: 'full' as const,
  compile: (limit: number) => {
    const validate: DataValidateFunction = (settings: Record<string, unknown>) => {
      const actual = size(settings)
      if (actual <= limit) return true
      validate.errors = [{ keyword: 'x-settings-bytes', message: 'is too large', params: { limit, actual } }]
      return false
    }
    return validate
  },
})

const createAjv = (keys: SettingsKeyRules, kind: RepohostKind, options: Options) => {
  const ajv = new Ajv({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
    useDefaults: true,
    // Optimizing the code takes longer than it saves.
    code: { optimize: false },
    // Every schema is our own and is compiled at start; the meta-schema would only slow that down.
    meta: false,
    validateSchema: false,
    ...options,
  })
  addFormats.default(ajv)
  for (const [name, { accepts }] of Object.entries(formatsOf(keys, kind))) ajv.addFormat(name, accepts)
  ajv.addKeyword({
    keyword: 'x-unique-without-case',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not contain the same item twice (ignoring case)' },
    validate: (_wanted: boolean, items: unknown[]) =>
      new Set(items.map((item) => String(item).toLowerCase())).size === items.length,
  })
  ajv.addKeyword({
    keyword: 'x-unique-by',
    type: 'array',
    schemaType: 'string',
    error: { message: ({ schema }) => str`must not name the same ${schema} twice (ignoring case)` },
    validate: (property: string, items: unknown[]) =>
      new Set(items.map((item) => String(Object(item)[property]).toLowerCase())).size === items.length,
  })
  ajv.addKeyword({
    keyword: 'x-max-stars',
    type: 'string',
    // Checked before the format, so that the message names the stars.
    before: 'format',
    schemaType: 'number',
    error: { message: ({ schema }) => str`must have at most ${schema} stars (*)` },
    validate: (max: number, text: string) => text.split('*').length - 1 <= max,
  })
  // Settings check their own names (`settings-rules.ts`) and report all faults together.
  ajv.removeKeyword('propertyNames')
  ajv.addKeyword(settingsBytes('x-settings-bytes', sizeOf))
  ajv.addKeyword(settingsBytes('x-patch-bytes', (patch) => sizeOf(patch) - sizeOfNulls(patch)))
  ajv.addVocabulary(['example', 'propertyNames'])
  return ajv.addSchema(schemaAt(kind, listResources()))
}

const compilerOf = (keys: SettingsKeyRules, kind: RepohostKind, options: Options) => {
  const ajv = lazy(() => createAjv(keys, kind, options))
  return memoizeBySchema((schema: object) => ajv().compile(schemaAt(kind, schema)))
}

/** Validators depend only on the schemas, settings keys and kind of host, so a process's services share them. */
const compilers = new Map<string, FastifySchemaCompiler<object>>()

export const validatorCompilerFor = (
  keys: SettingsKeyRules,
  kind: RepohostKind,
): FastifySchemaCompiler<object> => {
  const id = JSON.stringify([kind, keys.prefixes, keys.denied])
  const known = compilers.get(id)
  if (known) return known
  const forBodies = compilerOf(keys, kind, { coerceTypes: false })
  // Text can spell an infinite number, which strict numbers would reject before any bound names the problem.
  const forText = compilerOf(keys, kind, { coerceTypes: true, strictNumbers: false })
  const compiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) =>
    httpPart === 'body' ? forBodies(schema) : forText(schema)
  compilers.set(id, compiler)
  return compiler
}

/**
 * Compiles each schema once, however many routes share it and however many services a process has.
 * @param compile is given the text of the schema as well
 */
export const memoizeBySchema = <Schema, Compiled>(compile: (schema: Schema, text: string) => Compiled) => {
  const compiled = new Map<string, Compiled>()
  return (schema: Schema): Compiled => {
    const text = JSON.stringify(schema)
    const made = compiled.get(text) ?? compile(schema, text)
    compiled.set(text, made)
    return made
  }
}

type Serialize = ReturnType<FastifySerializerCompiler<unknown>>

const buildCompiler = serializerSelector()
const resourceTexts = lazy(
  () => new Map(listResources().map((resource) => [resource.$id, JSON.stringify(resource)])),
)

/**
 * The resources that a schema refers to, directly or through others. The compiler processes all its input again for
 * every schema, which would dominate startup.
 */
const resourcesIn = (text: string, found: Record<string, unknown> = {}): Record<string, unknown> => {
  for (const [, id = ''] of text.matchAll(/"\$ref":"(\w+)#"/g)) {
    const resource = resourceTexts().get(id)
    if (resource === undefined || id in found) continue
    found[id] = JSON.parse(resource)
    resourcesIn(resource, found)
  }
  return found
}

const compile = memoizeBySchema(
  (schema, text) =>
    buildCompiler(resourcesIn(text))({ schema, method: '', url: '', httpStatus: '' }) as Serialize,
)

export const installSerialization = (app: FastifyInstance) => {
  app.setSerializerCompiler(({ schema }) => compile(schema))
}
