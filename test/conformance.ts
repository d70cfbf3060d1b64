/**
 * Checks every response of a test against the OpenAPI document. It uses the committed document, because generating it
 * would take each process longer than most tests. Another test checks that the service serves the same document.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { RepohostKind } from '../schemas/common.js'
import { NO_RULES, settingsKeys } from '../schemas/settings-keys.js'
import { schemaAt } from '../schemas/subgroups.js'
import { formatsOf } from '../src/platform/http/formats.js'
import { memoizeBySchema } from '../src/platform/http/validators.js'
import { valued } from '../src/platform/openapi/names.js'
import { lazy } from '../src/platform/process/async.js'
import { projectRoot } from '../src/platform/process/root.js'

interface Response {
  description: string
  headers?: Record<string, object>
  content?: Record<string, { schema: object }>
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>
  components: { schemas: Record<string, object>; headers: Record<string, { required?: boolean }> }
}

interface HttpResponse {
  method: string
  /** Without the query. */
  path: string
  status: number
  headers: Headers
  text: string
}

/** The document lets responses gain properties; in tests, an undeclared property is a mistake. */
export const closed = <T>(node: T): T => {
  if (Array.isArray(node)) return node.map(closed) as T
  if (typeof node !== 'object' || node === null) return node
  const members = Object.entries(node).map(([name, child]) => [
    name,
    valued.has(name) ? child : closed(child),
  ])
  const schema = Object.fromEntries(members)
  const { type, properties, additionalProperties } = schema
  const isObject = [type].flat().includes('object') && properties !== undefined
  return isObject && additionalProperties === undefined ? { ...schema, additionalProperties: false } : schema
}

/** @returns a function that says what is wrong with a response, or undefined. */
export const conformanceOf = (document: Document): ((response: HttpResponse) => string | undefined) => {
  // Another test checks that the document is valid.
  const ajv = new Ajv2020({
    strict: false,
    meta: false,
    validateSchema: false,
    // Few validators run often enough to make optimizing worthwhile.
    code: { optimize: false },
  })
  addFormats.default(ajv)
  for (const [name, { accepts }] of Object.entries(
    formatsOf(settingsKeys({ prefixes: ['ext'], ...NO_RULES }), 'gitlab'),
  ))
    ajv.addFormat(name, accepts)
  ajv.addSchema({ $id: 'document', components: closed(document.components) })
  // Most responses share a schema, such as that of a problem, and every process compiles what it meets.
  const validatorOf = memoizeBySchema((schema: object): ValidateFunction => {
    const text = JSON.stringify(closed(schema)).replaceAll('"#/components', '"document#/components')
    return ajv.compile(JSON.parse(text))
  })
  // A literal segment wins over a parameter, as in the router.
  const paths = Object.entries(document.paths)
    .map(([template, operations]) => ({
      template,
      operations,
      regex: new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`),
    }))
    .sort((a, b) => a.template.split('{').length - b.template.split('{').length)

  const wrongHeader = (declared: Record<string, object>, headers: Headers): string | undefined => {
    for (const [name, { required }] of Object.entries(document.components.headers)) {
      if (required && name in declared && !headers.has(name)) return `lacks the header ${name}`
      if (headers.has(name) && !(name in declared)) return `does not declare the header ${name}`
    }
    return undefined
  }

  return ({ method, path, status, headers, text }) => {
    const operation = paths.find(
      ({ regex, operations }) => regex.test(path) && operations[method.toLowerCase()],
    )
    const responses = operation?.operations[method.toLowerCase()]?.responses
    if (!operation || !responses) return undefined
    const where = `${method} ${operation.template} ${status}`
    const response = responses[String(status)]
    if (!response) return `${where} is not in the document: ${text.slice(0, 300)}`
    const header = wrongHeader(response.headers ?? {}, headers)
    if (header) return `${where} ${header}`
    if (!response.content) return text === '' ? undefined : `${where} must have no body`
    const type = headers.get('content-type')?.split(';')[0] ?? ''
    const schema = response.content[type]?.schema
    if (!schema) return `${where} must not be ${type}`
    if (!type.endsWith('json')) return undefined
    const body = JSON.parse(text) as { code?: string }
    // Before its schema, which would say the same in many words.
    if (status >= 400 && !response.description.includes(`\`${body.code}\``)) {
      return `${where} does not declare the code ${body.code}`
    }
    const validate = validatorOf(schema)
    return validate(body)
      ? undefined
      : `${where}: ${ajv.errorsText(validate.errors)} in ${text.slice(0, 300)}`
  }
}

const committedAt = (kind: RepohostKind) =>
  lazy(() =>
    conformanceOf(
      schemaAt(kind, JSON.parse(readFileSync(join(projectRoot, 'openapi/openapi.json'), 'utf8'))),
    ),
  )
// Only GitLab has different names from other hosts.
const [committed, committedForGitlab] = [committedAt('github'), committedAt('gitlab')]

/** @returns what is wrong with a response, or undefined */
export const problemOf = (response: HttpResponse, kind: RepohostKind = 'github'): string | undefined =>
  (kind === 'gitlab' ? committedForGitlab : committed)()(response)
