/**
 * The types of the client, written from the OpenAPI document: a type for each named schema, and for each operation what
 * it takes, what it returns and how it can fail. Anything that the document doesn't use yet is an error, so that a type
 * never silently says less than the document.
 *
 * No generator from npm fits: openapi-typescript is no longer maintained, and @hey-api/openapi-ts needs Node 22 and
 * can't name operations `GET /path`, so those types would have to be written from the document anyway.
 */

interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  description?: string
}

interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Schema
}

interface Content {
  content?: Record<string, { schema?: Schema }>
}

interface Operation {
  summary?: string
  parameters?: Parameter[]
  requestBody?: Content & { required?: boolean; $ref?: string }
  responses: Record<string, Content & { $ref?: string }>
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>>
}

/** Keywords that say something about a value, but nothing about its type. */
const silent = new Set(
  `title format example examples description deprecated default discriminator not
   pattern minLength maxLength minimum maximum minItems maxItems uniqueItems minProperties maxProperties propertyNames`.split(
    /\s+/,
  ),
)
const understood = new Set(
  '$ref type const enum oneOf anyOf allOf properties required additionalProperties items'.split(' '),
)

const literal = (value: unknown) =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : String(value)

const nameOf = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1)

const keyOf = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name))

const comment = (text: string | undefined) =>
  text === undefined ? '' : `/** ${text.replaceAll('*/', '*\\/').replace(/\s+/g, ' ').trim()} */\n`

const indent = (text: string) => text.replace(/^(?=.)/gm, '  ')

const membersOf = (members: { name: string; type: string; required: boolean; description?: string }[]) =>
  members.length === 0
    ? 'Record<string, never>'
    : `{\n${indent(
        members
          .map(
            ({ name, type, required, description }) =>
              `${comment(description)}${keyOf(name)}${required ? '' : '?'}: ${type}\n`,
          )
          .join(''),
      )}}`

const union = (types: string[]) => [...new Set(types)].join(' | ') || 'never'

const objectOf = ({ properties, required = [], additionalProperties: rest }: Schema): string => {
  const open = typeof rest === 'object' ? `Record<string, ${typeOf(rest)}>` : 'Record<string, unknown>'
  if (properties === undefined) return open
  const closed = membersOf(
    Object.entries(properties).map(([name, schema]) => ({
      name,
      type: typeOf(schema),
      required: required.includes(name),
      ...(schema.description !== undefined && { description: schema.description }),
    })),
  )
  return rest === undefined || rest === false ? closed : `${closed} & ${open}`
}

const arrayOf = (items: Schema | undefined) => {
  const type = items === undefined ? 'unknown' : typeOf(items)
  return / [|&] /.test(type) && !type.startsWith('{') ? `(${type})[]` : `${type}[]`
}

const typeOf = (schema: Schema): string => {
  for (const keyword of Object.keys(schema)) {
    if (understood.has(keyword) || silent.has(keyword) || keyword.startsWith('x-')) continue
    throw new Error(`The types of the client know nothing of the keyword ${keyword}.`)
  }
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  if ('const' in schema) return literal(schema.const)
  if (schema.enum !== undefined) return union(schema.enum.map(literal))
  const variants = schema.oneOf ?? schema.anyOf
  // If an object has properties of its own, its alternatives only say which of them go together.
  if (variants !== undefined && schema.properties === undefined) return union(variants.map(typeOf))
  if (schema.allOf !== undefined) return schema.allOf.map(typeOf).join(' & ')
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type })))
  switch (schema.type) {
    case 'object':
      return objectOf(schema)
    case 'array':
      return arrayOf(schema.items)
    case 'integer':
    case 'number':
      return 'number'
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case undefined:
      return 'unknown'
    default:
      throw new Error(`The types of the client know nothing of the type ${schema.type}.`)
  }
}

/** Types of all named schemas. */
const writeSchemas = (schemas: Record<string, Schema>) =>
  Object.entries(schemas)
    .map(([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema)}\n`)
    .join('\n')

const writeOperation = (document: OpenApi, operation: Operation): string | undefined => {
  const resolve = <T extends { $ref?: string }>(part: T): T =>
    part.$ref === undefined
      ? part
      : (document.components[part.$ref.split('/')[2] ?? '']?.[nameOf(part.$ref)] as T)
  const schemasOf = (statuses: RegExp, media: RegExp) =>
    Object.entries(operation.responses)
      .filter(([status]) => statuses.test(status))
      .flatMap(([, response]) => Object.entries(resolve(response).content ?? {}))
      .filter(([type]) => media.test(type))
      .map(([, { schema }]) => typeOf(schema ?? {}))

  const answers = schemasOf(/^2/, /^application\/json/)
  const statuses = Object.keys(operation.responses)
  // Redirects are for the address bar of a browser, and archives for other programs.
  if (!statuses.some((status) => status.startsWith('2'))) return undefined
  if (schemasOf(/^2/, /^application\/gzip/).length > 0) return undefined

  const parameters = (operation.parameters ?? []).map((parameter) => resolve(parameter as never) as Parameter)
  const parts = [
    ...(['path', 'query', 'header'] as const).map((place) => {
      const members = parameters.filter(
        // The transport makes requests conditional by itself.
        ({ in: where, name }) =>
          where === place && !(statuses.includes('304') && /^if-none-match$/i.test(name)),
      )
      return {
        name: place === 'header' ? 'headers' : place,
        required: members.some(({ required }) => required),
        type: membersOf(
          members.map(({ name, required = false, schema, description }) => ({
            // Headers as people write them.
            name: place === 'header' ? name.replace(/(?<=^|-)[a-z]/g, (first) => first.toUpperCase()) : name,
            required,
            type: required ? typeOf(schema) : `${typeOf(schema)} | undefined`,
            ...(description !== undefined && { description }),
          })),
        ),
        empty: members.length === 0,
      }
    }),
    ...(operation.requestBody === undefined ? [] : [resolve(operation.requestBody)]).map((body) => ({
      name: 'body',
      required: body.required === true,
      type: union(Object.values(body.content ?? {}).map(({ schema }) => typeOf(schema ?? {}))),
      empty: false,
    })),
  ].filter(({ empty }) => !empty)

  return membersOf([
    { name: 'request', required: true, type: parts.length === 0 ? 'unknown' : membersOf(parts) },
    { name: 'answer', required: true, type: answers.length === 0 ? 'string' : union(answers) },
    { name: 'problem', required: true, type: union(schemasOf(/^[45]/, /problem\+json/)) },
  ])
}

/** The whole file. */
export const writeTypes = (document: OpenApi): string => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const type = writeOperation(document, operation)
      const name = literal(`${method.toUpperCase()} ${path}`)
      return type === undefined ? [] : [`${comment(operation.summary)}${name}: ${type}\n`]
    }),
  )
  return [
    '/** Written from openapi/openapi.json by `npm run openapi`: the requests, responses and errors of the service. */\n',
    writeSchemas(document.components.schemas as Record<string, Schema>),
    '/** For each operation what it takes, what it returns and how it can fail. */',
    `export interface Operations {\n${indent(operations.join(''))}}\n`,
  ].join('\n')
}
