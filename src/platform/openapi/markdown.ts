/** The API reference as Markdown, for LLMs and scripts: a page per operation, and an index at /llms.txt. */
import type { Document } from './complete-document.js'
import type { OperationEntry } from './contents.js'
import type { Guide } from './guides.js'

export const operationPath = (operationId: string) => `/api/docs/operations/${operationId}.md`

const json = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``

/** A schema with its references replaced by their targets. A schema that contains itself keeps its reference. */
const resolveReferences = (
  node: unknown,
  { schemas }: Document['components'],
  within: string[] = [],
): unknown => {
  if (Array.isArray(node)) return node.map((item) => resolveReferences(item, { schemas }, within))
  if (typeof node !== 'object' || node === null) return node
  const name = '$ref' in node && typeof node.$ref === 'string' ? node.$ref.split('/').at(-1) : undefined
  if (name !== undefined)
    return within.includes(name) ? node : resolveReferences(schemas[name], { schemas }, [...within, name])
  return Object.fromEntries(
    Object.entries(node).map(([key, child]) => [key, resolveReferences(child, { schemas }, within)]),
  )
}

type Operation = Document['paths'][string][string]

const contentOf = ({ content = {} }: Pick<Operation['responses'][string], 'content'>, document: Document) =>
  Object.entries(content).flatMap(([type, { schema, example }]) => [
    `\`${type}\`, by this schema:`,
    json(resolveReferences(schema, document.components)),
    ...(example === undefined ? [] : ['For example:', json(example)]),
  ])

export const operationMarkdown = (
  document: Document,
  { method, path, summary, operationId, description }: OperationEntry,
): string => {
  const operation = document.paths[path]?.[method.toLowerCase()] as Operation
  const { parameters = [], requestBody, responses, 'x-codeSamples': samples = [] } = operation
  const [curl] = samples
  return [
    `# ${summary}`,
    `\`${method} ${path}\` (\`${operationId}\`)`,
    description,
    ...(parameters.length > 0 ? ['## Parameters'] : []),
    ...parameters.map(
      ({ name, in: place, required, description: meaning = '', schema }) =>
        `- \`${name}\` (${place}${required ? ', required' : ''}): ${meaning} Schema: \`${JSON.stringify(resolveReferences(schema, document.components))}\``,
    ),
    ...(requestBody ? ['## Request body', ...contentOf(requestBody, document)] : []),
    ...(curl ? ['## Sample', `\`\`\`sh\n${curl.source}\n\`\`\``] : []),
    '## Responses',
    ...Object.entries(responses).flatMap(([status, response]) => [
      `### ${status}`,
      response.description,
      // Problems are left out: the description names their codes, and they all have the same format.
      ...(response.content?.['application/problem+json'] ? [] : contentOf(response, document)),
    ]),
  ]
    .join('\n\n')
    .concat('\n')
}

export const llmsText = (info: Document['info'], guides: Guide[], operations: OperationEntry[]): string =>
  `# ${info.title}

> Settings for a team's editors, and activity that doesn't watch anyone: settings per repository and workspace, with history and locks; active minutes, commits and closed issues; a dashboard with a privacy level.

Version ${info.version}. ${info.description}

## Guides

${guides.map(({ href, title }) => `- [${title}](${href}.md)`).join('\n')}

## Operations

- [All of them as OpenAPI](/api/openapi.json)
${operations.map(({ operationId, method, path, summary }) => `- [${method} ${path}](${operationPath(operationId)}): ${summary}`).join('\n')}
`
