/** How requests are read: the JSON parser, and two validators (bodies are taken as they are, strings from URLs are coerced). */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Ajv, type Options, str } from 'ajv'
import type { DataValidateFunction } from 'ajv/dist/types/index.js'
import addFormats from 'ajv-formats'
import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import { limits } from '../../schemas/limits.js'
import { formatsOf } from '../domain/formats.js'
import { parseStrictJson, parseStrictJsonInSteps } from '../domain/strict-json.js'
import { type ApiError, invalid } from '../errors.js'
import { once } from '../runtime/once.js'

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** What the members that are null take of the size. */
const sizeOfNulls = (members: Record<string, unknown>): number => {
  let size = 0
  for (const key of Object.keys(members)) if (members[key] === null) size += sizeOf(key) + ':null,'.length
  return size
}

/** Bounds the size of settings. Both kinds fail by the name of `x-settings-bytes`. */
const settingsBytes = (keyword: string, size: (settings: Record<string, unknown>) => number) => ({
  keyword,
  type: 'object' as const,
  // Of settings that are too large, nobody needs to look at the keys.
  before: 'propertyNames',
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

const createAjv = (extensionPrefix: string, options: Options) => {
  const ajv = new Ajv({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
    useDefaults: true,
    // The schemas are our own: what is wrong with them shows in the tests.
    meta: false,
    validateSchema: false,
    ...options,
  })
  addFormats.default(ajv)
  for (const [name, { accepts }] of Object.entries(formatsOf(extensionPrefix))) ajv.addFormat(name, accepts)
  ajv.addKeyword({
    keyword: 'x-unique-without-case',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not contain the same item twice (without case)' },
    validate: (_wanted: boolean, items: unknown[]) =>
      new Set(items.map((item) => String(item).toLowerCase())).size === items.length,
  })
  ajv.addKeyword({
    keyword: 'x-unique-by',
    type: 'array',
    schemaType: 'string',
    error: { message: ({ schema }) => str`must not name the same ${schema} twice (without case)` },
    validate: (property: string, items: unknown[]) =>
      new Set(items.map((item) => String(Object(item)[property]).toLowerCase())).size === items.length,
  })
  ajv.addKeyword(settingsBytes('x-settings-bytes', sizeOf))
  ajv.addKeyword(settingsBytes('x-patch-bytes', (patch) => sizeOf(patch) - sizeOfNulls(patch)))
  ajv.addVocabulary(['example'])
  return ajv
}

/** The validator of bodies, which takes them as they are. */
export const createBodyAjv = (extensionPrefix: string) => createAjv(extensionPrefix, { coerceTypes: false })

const bounds = { depth: limits.json_depth, values: limits.json_values }

/** @throws {StrictJsonError} */
export const parseBody = (bytes: Buffer): unknown => parseStrictJson(bytes, bounds)

/** Longer ones are read in steps, and others have their turn between two of them. */
const LONG_BYTES = 65_536

const parseBodyInTurns = async (bytes: Buffer): Promise<unknown> => {
  if (bytes.length < LONG_BYTES) return parseBody(bytes)
  const steps = parseStrictJsonInSteps(bytes, bounds)
  let step = steps.next()
  while (!step.done) {
    await nextTurn()
    step = steps.next()
  }
  return step.value
}

/** Gives the app its parser and validators; called once, by `buildApp`, before any route exists. */
export const installValidation = (app: FastifyInstance, extensionPrefix: string) => {
  const withResources = (ajv: Ajv) => ajv.addSchema(Object.values(app.getSchemas()) as object[])
  const forBodies = once(() => withResources(createBodyAjv(extensionPrefix)))
  // A number of a text may be infinite, and the library's strictness would let it past every bound.
  const forUrls = once(() =>
    withResources(createAjv(extensionPrefix, { coerceTypes: true, strictNumbers: false })),
  )
  // At the first use: to compile all of them is most of a start, and much of what is compiled is never used.
  const compiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
    const compiled = once(() => (httpPart === 'body' ? forBodies() : forUrls()).compile(schema))
    const validate: ReturnType<FastifySchemaCompiler<object>> = (data: unknown) => {
      const isValid = compiled()(data)
      validate.errors = compiled().errors
      return isValid
    }
    return validate
  }
  app.setValidatorCompiler(compiler)

  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    // An empty body counts as absent.
    async (_request: unknown, bytes: Buffer) => (bytes.length === 0 ? undefined : parseBodyInTurns(bytes)),
  )

  app.addHook('onRequest', (request, _reply, done) => {
    // Nothing is sent, so it has no type; some clients send the header with every request.
    const { headers } = request
    const length = headers['content-length'] ?? '0'
    if (length === '0' && headers['transfer-encoding'] === undefined) delete headers['content-type']
    done()
  })
  app.addHook('preValidation', (request, _reply, done) => {
    const schema = request.routeOptions.schema?.body as { type?: string; required?: string[] } | undefined
    if (schema?.type === 'object') {
      if (request.body === null) return done(bodyIs('null'))
      if (request.body === undefined) {
        if (schema.required?.length) return done(bodyIs('missing'))
        request.body = {}
      }
    }
    // Only an escaped path or query can carry what a string must not contain.
    done(request.raw.url?.includes('%') ? unusableText(request) : undefined)
  })
}

const unusableText = (request: FastifyRequest): ApiError | undefined => {
  for (const part of ['params', 'query'] as const) {
    for (const [name, value] of Object.entries(request[part] as object)) {
      if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) {
        return invalid(`/${part}/${name}`, 'must not contain NUL')
      }
    }
  }
  return undefined
}

const bodyIs = (what: string) => invalid('/body', `must be a JSON object, but is ${what}`)
