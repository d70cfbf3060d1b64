/** Moves schemas that have a `title` to the document's components, so that they become separate types. */
import { isDeepStrictEqual } from 'node:util'

interface Parts {
  paths: object
  components: { schemas: object }
}

/** Properties that hold values rather than schemas. */
export const valued = new Set(['const', 'default', 'enum', 'example', 'examples'])

export const withNames = <T extends Parts>(document: T): T => {
  const named: Record<string, { description?: string }> = {}

  const referenceTo = (title: string, schema: { description?: string }) => {
    const known = named[title] ?? schema
    named[title] = known
    const reference = { $ref: `#/components/schemas/${title}` }
    if (isDeepStrictEqual(known, schema)) return reference
    const { description } = schema
    if (isDeepStrictEqual({ ...known, description }, schema)) return { ...reference, description }
    throw new Error(`Two schemas have the title ${title}`)
  }

  const moveSchemas = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(moveSchemas)
    if (typeof node !== 'object' || node === null) return node
    const { title, ...schema } = Object.fromEntries(
      Object.entries(node).map(([name, child]) => [name, valued.has(name) ? child : moveSchemas(child)]),
    )
    if (typeof title === 'string') return referenceTo(title, schema)
    return title === undefined ? schema : { title, ...schema }
  }

  const paths = moveSchemas(document.paths) as T['paths']
  const schemas = { ...(moveSchemas(document.components.schemas) as object), ...named }
  return { ...document, paths, components: { ...document.components, schemas } }
}

/** Examples, descriptions and guides are written with the prefix `ext`; this puts the configured one in its place. */
export const withExtensionPrefix = (text: string, prefix: string): string =>
  text.replace(/(?<=["`'])ext(?=["`.])/g, prefix)

/** The first sentence about the API. */
export const SIGN_IN_GUIDE =
  'Sign in with a repository host token (`POST /api/auth/verify`), select **Authorize**, paste the `token` or an [access key](/api/docs/access-keys), and try any operation. '

/** The groups of operations in the document. */
export const tags = [
  { name: 'auth', description: 'Sign in and out.' },
  { name: 'profile', description: "The caller's profile, recording preferences and data." },
  { name: 'settings', description: 'One settings snapshot per repository, with its history.' },
  { name: 'team', description: 'Workspaces: members, roles, invites, patterns, settings, overrides.' },
  { name: 'activity', description: 'Active minutes, daily counts, and the dashboard that shows them.' },
  { name: 'editors', description: 'Heartbeats from editors, as WakaTime tools send them.' },
  { name: 'billing', description: 'Subscriptions at the billing provider.' },
  { name: 'models', description: "Models of two providers, listed with the caller's own keys." },
  { name: 'funnel', description: 'Activation events, and the steps that users reach.' },
  { name: 'service', description: 'The service’s health, limits and privacy.' },
]
