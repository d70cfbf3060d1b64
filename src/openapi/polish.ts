/** Adds what the generated document lacks: names, error answers, headers of answers, and which bodies may be absent. */
import type { ErrorCode } from '../../schemas/errors.js'
import { errorResponsesOf, problemComponents } from './errors.js'
import { type HeaderName, headerComponents, headersOf, writtenHeaderName } from './headers.js'
import { withNames } from './names.js'

/** Carried by an operation as `x-route` until it is complete. */
export interface RouteFacts {
  core: boolean
  codes: ErrorCode[]
  /** Counted by a rate limit. */
  limited: boolean
  /** Of its successful answers. */
  headers: readonly HeaderName[]
}

interface Schema {
  $ref?: string
  required?: string[]
}

interface Operation {
  operationId: string
  description: string
  tags?: string[]
  security?: unknown
  parameters?: { name: string; in: string }[]
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> }
  responses: Record<string, { description: string; headers?: object; content?: object }>
}

export interface Document {
  info: { title: string }
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, object>> & { schemas: Record<string, Schema> }
}

type Generated = Document & { paths: Record<string, Record<string, Operation & { 'x-route': RouteFacts }>> }

/** The whole document, and the names of the operations that belong to the core. */
export const completed = (generated: Generated): { document: Document; coreOperations: Set<string> } => {
  const { schemas, examples } = problemComponents()
  const named = withNames(generated)
  const components = {
    ...named.components,
    schemas: { ...named.components.schemas, ...schemas },
    examples,
    headers: headerComponents,
  }
  const coreOperations = new Set<string>()
  const complete = ({ 'x-route': facts, ...operation }: Operation & { 'x-route': RouteFacts }): Operation => {
    if (facts.core) coreOperations.add(operation.operationId)
    return {
      ...operation,
      ...(operation.parameters && {
        parameters: operation.parameters.map((parameter) =>
          parameter.in === 'header' ? { ...parameter, name: writtenHeaderName(parameter.name) } : parameter,
        ),
      }),
      ...(operation.requestBody && {
        requestBody: {
          ...operation.requestBody,
          required: hasRequiredMembers(operation.requestBody, components.schemas),
        },
      }),
      responses: withHeaders({ ...operation.responses, ...errorResponsesOf(facts.codes) }, facts),
    }
  }
  const paths = mapValues(named.paths, (operations) => mapValues(operations, complete))
  return { document: { ...named, paths, components }, coreOperations }
}

const mapValues = <T, R>(record: Record<string, T>, map: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))

/** Where every member is optional, an absent body means `{}`. */
const hasRequiredMembers = (
  { content }: NonNullable<Operation['requestBody']>,
  schemas: Record<string, Schema>,
): boolean =>
  Object.values(content).some(({ schema }) => {
    const { required = [] } = schema.$ref ? (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema
    return required.length > 0
  })

const withHeaders = (responses: Operation['responses'], { limited, headers }: RouteFacts) => {
  // An operation that can answer 304 sends an `ETag`.
  const onSuccess = '304' in responses ? (['ETag', ...headers] as const) : headers
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      { ...response, headers: headersOf(Number(status), response, { limited, onSuccess }) },
    ]),
  )
}

/** The document without the tags, components and security schemes that no operation uses. */
export const withoutUnused = (document: Document): Document => {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const usedTags = new Set(operations.flatMap((operation) => operation.tags ?? []))
  const security = JSON.stringify(operations.map((operation) => operation.security))
  const used = referencesOf(document)
  const keep = (kind: string, components: Record<string, object>) =>
    Object.fromEntries(
      Object.entries(components).filter(([name]) =>
        kind === 'securitySchemes' ? security.includes(`"${name}"`) : used.has(`${kind}/${name}`),
      ),
    )
  return {
    ...document,
    tags: document.tags.filter(({ name }) => usedTags.has(name)),
    components: Object.fromEntries(
      Object.entries(document.components).map(([kind, components]) => [kind, keep(kind, components)]),
    ) as Document['components'],
  }
}

/** The components (`schemas/Ok`) that operations refer to, directly or through others. */
const referencesOf = ({ paths, components }: Document): Set<string> => {
  const used = new Set<string>()
  const pending: unknown[] = [paths]
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
