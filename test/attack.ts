/** Hostile requests derived from the OpenAPI document, and how long each makes others wait. */
import { Agent, request as httpRequest } from 'node:http'
import { longestStall } from '../bench/harness.js'
import { limits } from '../schemas/limits.js'

interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  examples?: unknown[]
  default?: unknown
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
}

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  example?: unknown
  schema: Schema
}

export interface Operation {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

export interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

export interface Attack {
  operation: string
  /** Which part of the request is hostile: `body/entries/0/repo`, `header accept`. */
  place: string
  /** `string`, `object` or `key` in a body, `path`, `query`, `header`. */
  kind: string
  filling: string
  bytes: number
  method: string
  path: string
  headers: Record<string, string>
  body: string | undefined
}

/** A text, and its form in JSON and in an address. */
export interface Hostile {
  text: string
  json: string
  url: string
}

/** Values of parameters and properties, by name, that let requests get as far as possible. */
export type Values = Record<string, unknown>

/** Units that are repeated, as they appear inside a JSON string. */
const runs = [
  'a',
  'é',
  '😀',
  ' ',
  '0',
  '9',
  '-',
  '.',
  ',',
  ':',
  ';',
  '/',
  '*a',
  '%',
  '%41',
  '=',
  '[',
  '{',
  '*',
]
const escapedRuns = ['\\"', '\\\\', '\\n', '\\u0061', '\\ud83d\\ude00', 'W/\\"', 'a.']

const numbers: Record<string, (bytes: number) => string> = {
  '1.00…01': (bytes) => `1.${'0'.repeat(bytes)}1`,
  '0.00…0': (bytes) => `0.${'0'.repeat(bytes)}`,
  '99…9': (bytes) => '9'.repeat(bytes),
  '1e99…9': (bytes) => `1e${'9'.repeat(bytes)}`,
  '1e00…0': (bytes) => `1e${'0'.repeat(bytes)}`,
  '-00…01': (bytes) => `-0.${'0'.repeat(bytes)}1`,
}

/** Members of arrays and objects, each different from the others where that costs more. */
const items: Record<string, (index: number) => string> = {
  '1': () => '1',
  '{}': () => '{}',
  '[]': () => '[]',
  '""': () => '""',
  '1e5': () => '1e5',
  '16 digits': (index) => String(1e15 + index),
  '0.17 digits': (index) => String(0.1 + index / 3e5),
  '1.5e308': (index) => `1.${index % 7}e308`,
  '5e-324': () => '5e-324',
  'own keys': (index) => `{"${index.toString(36)}":1}`,
  'nested arrays': () => `${'['.repeat(25)}${']'.repeat(25)}`,
  'nested objects': () => `${'{"a":'.repeat(25)}1${'}'.repeat(25)}`,
  strings: (index) => `"${index.toString(36)}"`,
}
const members: Record<string, (index: number) => string> = {
  'new keys': (index) => `"ext.${index.toString(36)}":1`,
  'keys of numbers': (index) => `"${index}":{}`,
  'one key': () => '"ext.a":null',
  'escaped keys': (index) => `"\\u0065xt.${index.toString(36)}":{}`,
  'new keys beside constructor': (index) =>
    `"${index === 0 ? 'constructor' : `ext.${index.toString(36)}`}":1`,
}

const run = (unit: string, bytes: number) => unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)))

const list = (member: (index: number) => string, bytes: number): string => {
  const parts: string[] = []
  for (let length = 0; ; ) {
    const part = member(parts.length)
    length += part.length + 1
    if (length > bytes) return parts.join()
    parts.push(part)
  }
}

/** JSON texts of about this many bytes, by their content. */
const fillings = (kind: string, bytes: number): [string, string][] => {
  if (kind === 'string') return [...runs, ...escapedRuns].map((unit) => [unit, `"${run(unit, bytes)}"`])
  if (kind === 'number') return Object.entries(numbers).map(([name, make]) => [name, make(bytes)])
  if (kind === 'array') return Object.entries(items).map(([name, make]) => [name, `[${list(make, bytes)}]`])
  return Object.entries(members).map(([name, make]) => [name, `{${list(make, bytes)}}`])
}

const resolved = (document: Document, schema: Schema): Schema =>
  schema.$ref === undefined
    ? schema
    : (document.components.schemas[schema.$ref.split('/').at(-1) as string] as Schema)

const sampleOf = (document: Document, given: Schema, name: string, values: Values): unknown => {
  const schema = resolved(document, given)
  if (name in values) return values[name]
  if (schema.properties) {
    return Object.fromEntries(
      Object.entries(schema.properties).map(([key, member]) => [
        key,
        sampleOf(document, member, key, values),
      ]),
    )
  }
  if (schema.items) return [sampleOf(document, schema.items, name, values)]
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  const plain = { string: 'a', integer: 1, number: 1, boolean: true, object: {} }[type ?? '']
  return schema.const ?? schema.examples?.[0] ?? schema.default ?? schema.enum?.[0] ?? plain ?? 'a'
}

const kindOf = (value: unknown) =>
  Array.isArray(value) ? 'array' : value === null || typeof value === 'boolean' ? 'string' : typeof value

interface Place {
  pointer: string[]
  kind: string
}

const placesIn = (value: unknown, pointer: string[] = []): Place[] => {
  const here = { pointer, kind: kindOf(value) }
  if (typeof value !== 'object' || value === null) return [here]
  return [here, ...Object.entries(value).flatMap(([key, member]) => placesIn(member, [...pointer, key]))]
}

/** The sample as JSON, with one part replaced by this text. */
const withText = (value: unknown, [key, ...rest]: string[], text: string): string => {
  if (key === undefined) return text
  const parts = Object.entries(value as object).map(([name, member]) => {
    const json = name === key ? withText(member, rest, text) : JSON.stringify(member)
    return Array.isArray(value) ? json : `${JSON.stringify(name)}:${json}`
  })
  return Array.isArray(value) ? `[${parts}]` : `{${parts}}`
}

/** Headers that are read for every operation by the same hooks, so that one of each method is enough; with what has to come before something hostile gets anywhere. */
const readAlways: Record<string, string> = {
  authorization: 'Bearer ',
  cookie: 'svc_token=',
  accept: '',
  'accept-encoding': '',
  'content-type': 'application/json;',
  'content-encoding': '',
  'if-none-match': '"',
  'if-match': 'W/"',
  range: 'bytes=',
  'x-forwarded-for': '',
  'x-request-id': '',
  origin: '',
  'access-control-request-headers': '',
  'x-service-admin-key': '',
  'billing-signature': 't=',
  host: '',
  expect: '',
}
const headerRuns = [
  'a',
  ' ',
  ' a',
  '0',
  '"',
  '" ',
  '\\',
  ',',
  ', ',
  ';',
  '; ',
  ';q=',
  '=',
  '/',
  '*',
  '%41',
  'br,',
  'a=b;',
  'v1=,',
  '"",',
  '1-1,',
  '\xe9',
]

/** Just below the limit of 16 KB for all headers of a request. */
const HEADER_BYTES = 14_000

/**
 * Each string, number, array and object in the body, the path, the query and the headers of each operation, made hostile.
 * @param texts instead of long runs: what stands in each place, and as another key of each object. Empty: each operation once,
 * with nothing hostile
 */
export function* attacksOn(
  document: Document,
  values: Values,
  credentials: Record<string, string>,
  sizes: readonly number[],
  texts?: readonly Hostile[],
): Generator<Attack> {
  const methods = new Set<string>()
  for (const [template, operations] of Object.entries(document.paths)) {
    for (const [lowerMethod, operation] of Object.entries(operations)) {
      const method = lowerMethod.toUpperCase()
      const parameters = operation.parameters ?? []
      const sampleOfParameter = ({ name, example, schema }: Parameter) =>
        String(values[name] ?? example ?? sampleOf(document, schema, name, values))
      const pathWith = (hostile?: Parameter, text = '') => {
        const textOf = (parameter: Parameter) =>
          parameter === hostile ? text : encodeURIComponent(sampleOfParameter(parameter))
        const path = template.replace(/\{([^}]+)\}/g, (_, name) => {
          const parameter = parameters.find((one) => one.in === 'path' && one.name === name)
          return parameter ? textOf(parameter) : name
        })
        const query = parameters.filter(
          (one) => one.in === 'query' && (one === hostile || one.name in values),
        )
        return query.length === 0
          ? path
          : `${path}?${query.map((one) => `${one.name}=${textOf(one)}`).join('&')}`
      }
      const schema = operation.requestBody?.content['application/json']?.schema
      const sample = schema && sampleOf(document, schema, '', values)
      const base = {
        operation: operation.operationId,
        method,
        path: pathWith(),
        headers: {
          ...credentials,
          ...(schema && { 'content-type': 'application/json' }),
        },
        body: schema && JSON.stringify(sample),
      }

      if (texts?.length === 0) yield { ...base, place: '', kind: '', filling: '', bytes: 0 }
      for (const { pointer, kind } of schema ? placesIn(sample) : []) {
        for (const bytes of sizes) {
          const hostile = texts?.map(({ text, json }) => [text, json] as const) ?? fillings(kind, bytes)
          for (const [filling, text] of hostile) {
            const body = withText(sample, pointer, text)
            yield { ...base, place: ['body', ...pointer].join('/'), kind, filling, bytes, body }
          }
        }
      }
      for (const parameter of parameters.filter(({ in: part }) => part !== 'header')) {
        const repeated = runs.map((text) => ({ text, url: encodeURIComponent(run(text, 2_000)) }))
        for (const { text: unit, url } of texts ?? repeated) {
          const text = url.slice(0, HEADER_BYTES).replace(/%.?$/, '')
          const path = pathWith(parameter, text)
          yield {
            ...base,
            place: `${parameter.in} ${parameter.name}`,
            kind: parameter.in,
            filling: unit,
            bytes: text.length,
            path,
          }
        }
      }
      for (const { pointer, kind } of schema && texts ? placesIn(sample) : []) {
        if (kind !== 'object') continue
        for (const { text } of texts ?? []) {
          const own = pointer.reduce((value: unknown, key) => Object(value)[key], sample)
          const members = JSON.stringify(own).slice(1)
          const more = `{${JSON.stringify(text)}:1${members === '}' ? '' : ','}${members}`
          const body = withText(sample, pointer, more)
          yield {
            ...base,
            place: ['body', ...pointer, 'key'].join('/'),
            kind: 'key',
            filling: text,
            bytes: 0,
            body,
          }
        }
      }
      const named = parameters.filter(({ in: part }) => part === 'header').map(({ name }) => [name, ''])
      const others = methods.has(method) || (texts && methods.size > 0) ? {} : readAlways
      methods.add(method)
      for (const [name, start] of Object.entries({ ...Object.fromEntries(named), ...others })) {
        // Ends with a mismatch, because backtracking costs most when the match fails at the end.
        const repeated = headerRuns.map((unit) => [unit, `${start}${run(unit, HEADER_BYTES)}x`] as const)
        const sendable = texts?.filter(({ text }) => /^[\t\x20-\xff]*$/.test(text))
        for (const [unit, value] of sendable?.map(({ text }) => [text, `${start}${text}`] as const) ??
          repeated) {
          const headers = { ...base.headers, [name]: value }
          yield {
            ...base,
            place: `header ${name}`,
            kind: 'header',
            filling: unit,
            bytes: HEADER_BYTES,
            headers,
          }
        }
      }
    }
  }
}

export const ATTACK_SIZES = [10_000, 100_000, limits.body_bytes - 4_096] as const

const agent = new Agent({ keepAlive: true })

/** @returns the status, or 0 when the connection ended without one */
export const send = (url: string, { method, path, headers, body }: Attack): Promise<number> =>
  new Promise((resolve) => {
    const request = httpRequest(url + path, { method, headers, agent, timeout: 30_000 }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', () => resolve(0))
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(0))
    request.end(body)
  })

export interface Outcome {
  status: number
  /** Milliseconds. */
  stall: number
}

/** Repeats an attack while the stall exceeds `bound`, because a busy machine stalls now and then. */
export const attack = async (
  target: { url: string; metricsPort: number },
  hostile: Attack,
  bound: number,
): Promise<Outcome> => {
  const outcome = { status: 0, stall: Number.POSITIVE_INFINITY }
  for (let attempt = 0; attempt < 4 && outcome.stall > bound; attempt++) {
    await longestStall(target.metricsPort)
    outcome.status = await send(target.url, hostile)
    outcome.stall = Math.min(outcome.stall, await longestStall(target.metricsPort))
  }
  return outcome
}
