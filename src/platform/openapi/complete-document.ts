/**
 * Adds what the generated document lacks: names, error responses, headers, examples, code samples, and which bodies may
 * be absent.
 */
import type { ErrorCode } from '../../../schemas/errors.js'
import { mapValues } from '../process/maps.js'
import { codeSamplesOf } from './code-samples.js'
import { errorResponsesOf, problemComponents } from './errors.js'
import { type ExampleSchema, exampleOf } from './examples.js'
import { canonicalHeaderName, type HeaderName, headerComponents, headersOf } from './headers.js'
import { valued, withNames } from './names.js'

/** Carried by an operation as `x-route` until it is complete. */
export interface RouteFacts {
  core: boolean
  codes: ErrorCode[]
  /** Whether a rate limit counts its requests. */
  limited: boolean
  /** The headers of its successful responses. */
  headers: readonly HeaderName[]
}

type Schema = ExampleSchema

type Content = Record<string, { schema: Schema; example?: unknown; examples?: object }>

interface Operation {
  operationId: string
  summary?: string
  description: string
  tags?: string[]
  security?: Record<string, unknown>[]
  parameters?: {
    name: string
    in: string
    required?: boolean
    description?: string
    schema?: Schema
    example?: unknown
  }[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, { description: string; headers?: object; content?: Content }>
  'x-codeSamples'?: { source: string }[]
}

export interface Document {
  info: { title: string; version: string; description: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, object>> & { schemas: Record<string, Schema> }
}

/** Clients that follow redirects get the response of another address, and tools expect a success. */
const FOLLOWED: Operation['responses'][string] = {
  description: 'The response of the redirect target, if the client follows the redirect.',
}

type Generated = Document & { paths: Record<string, Record<string, Operation & { 'x-route': RouteFacts }>> }

/** The whole document, and the names of the core operations. */
export const completeDocument = (
  generated: Generated,
): { document: Document; coreOperations: Set<string> } => {
  const { schemas, examples } = problemComponents()
  const named = withNames(generated)
  const components = {
    ...named.components,
    schemas: { ...named.components.schemas, ...schemas },
    examples,
    headers: headerComponents,
  }
  const coreOperations = new Set<string>()
  const complete = (
    { 'x-route': facts, ...operation }: Operation & { 'x-route': RouteFacts },
    method: string,
    path: string,
  ): Operation => {
    if (facts.core) coreOperations.add(operation.operationId)
    const { parameters, requestBody, responses } = operation
    const completed = {
      ...operation,
      ...(parameters && {
        parameters: parameters.map((parameter) =>
          parameter.in === 'header' ? { ...parameter, name: canonicalHeaderName(parameter.name) } : parameter,
        ),
      }),
      ...(requestBody && {
        requestBody: {
          ...requestBody,
          required: hasRequiredProperties(requestBody, components.schemas),
          content: withExamples(requestBody.content, components.schemas),
        },
      }),
      responses: {
        ...withHeaders(
          {
            ...mapValues(responses, ({ content, ...response }) => ({
              ...response,
              ...(content && { content: withExamples(content, components.schemas) }),
            })),
            ...errorResponsesOf(facts.codes),
          },
          facts,
        ),
        ...('302' in responses && { default: FOLLOWED }),
      },
    }
    return { ...completed, 'x-codeSamples': codeSamplesOf(method, path, completed) }
  }
  const paths = mapValues(named.paths, (operations, path) =>
    mapValues(operations, (operation, method) => complete(operation, method, path)),
  )
  return { document: withOpenResponses({ ...named, paths, components }), coreOperations }
}

/**
 * Responses can gain properties in later versions, so generated clients must accept unknown properties. Requests stay
 * closed, except for schemas that responses share with them.
 */
const withOpenResponses = (document: Document): Document => {
  const everyResponse = Object.values(document.paths).flatMap((path) =>
    Object.values(path).map(({ responses }) => responses),
  )
  const used = referencesFrom(everyResponse, document.components)
  return {
    ...document,
    paths: mapValues(document.paths, (operations) =>
      mapValues(operations, (operation) => ({
        ...operation,
        responses: allowMoreProperties(operation.responses) as Operation['responses'],
      })),
    ),
    components: {
      ...document.components,
      schemas: mapValues(document.components.schemas, (schema, name) =>
        used.has(`schemas/${name}`) ? (allowMoreProperties(schema) as Schema) : schema,
      ),
    },
  }
}

const allowMoreProperties = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(allowMoreProperties)
  if (typeof node !== 'object' || node === null) return node
  const properties = Object.entries(node).filter(
    ([name, value]) => name !== 'additionalProperties' || value !== false,
  )
  return Object.fromEntries(
    properties.map(([name, child]) => [name, valued.has(name) ? child : allowMoreProperties(child)]),
  )
}

/** One example, or one for each kind of response. A test reports responses without an example. */
const withExamples = (content: Content, schemas: Record<string, Schema>): Content =>
  mapValues(content, ({ schema, ...body }) => {
    try {
      const kinds = schema.anyOf?.map(
        (kind) => [kind.$ref?.split('/').at(-1), exampleOf(kind, schemas)] as const,
      )
      const examples = kinds && Object.fromEntries(kinds.map(([name, value]) => [name, { value }]))
      return { schema, ...body, ...(examples ? { examples } : { example: exampleOf(schema, schemas) }) }
    } catch {
      return { schema, ...body }
    }
  })

/** If every property is optional, an absent body means `{}`. */
const hasRequiredProperties = (
  { content }: NonNullable<Operation['requestBody']>,
  schemas: Record<string, Schema>,
): boolean =>
  Object.values(content).some(({ schema }) => {
    const { required = [] } = schema.$ref ? (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema
    return required.length > 0
  })

const withHeaders = (responses: Operation['responses'], { limited, headers }: RouteFacts) => {
  // An operation that can return 304 sends an `ETag`.
  const onSuccess = '304' in responses ? (['ETag', ...headers] as const) : headers
  return mapValues(responses, (response, status) => ({
    ...response,
    headers: headersOf(Number(status), response, { limited, onSuccess }),
  }))
}

/** The document without unused tags, components and security schemes. */
export const withoutUnused = (document: Document): Document => {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const usedTags = new Set(operations.flatMap((operation) => operation.tags ?? []))
  const security = JSON.stringify(operations.map((operation) => operation.security))
  const used = referencesFrom(document.paths, document.components)
  const keep = (components: Record<string, object>, kind: string) =>
    Object.fromEntries(
      Object.entries(components).filter(([name]) =>
        kind === 'securitySchemes' ? security.includes(`"${name}"`) : used.has(`${kind}/${name}`),
      ),
    )
  return {
    ...document,
    tags: document.tags.filter(({ name }) => usedTags.has(name)),
    components: mapValues(document.components, keep) as Document['components'],
  }
}

/** The components (`schemas/Ok`) that a part of the document refers to, directly or through others. */
const referencesFrom = (part: unknown, components: Document['components']): Set<string> => {
  const used = new Set<string>()
  const pending: unknown[] = [part]
  while (pending.length > 0) {
    for (const [, kind = '', name = ''] of JSON.stringify(pending.pop()).matchAll(
      /"#\/components\/(\w+)\/([^"]+)"/g,
    )) {
      const reference = `${kind}/${name}`
      if (!used.has(reference)) pending.push(components[kind]?.[name])
      used.add(reference)
    }
  }
  return used
}
