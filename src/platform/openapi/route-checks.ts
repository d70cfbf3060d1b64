/** Declares a route's settings besides its schema, and checks routes before the service boots. */
import type { TSchema } from '@sinclair/typebox'
import type { RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { listResources } from '../../../schemas/common.js'
import type { ErrorCode } from '../../../schemas/errors.js'
import { limits } from '../../../schemas/limits.js'
import type { Access, RequestPart } from '../access/access.js'
import type { HeaderName } from './headers.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** Decides access before the body is read, so that a stranger can't send a large one. */
    accessBeforeBody?: true
    /**
     * Throws for invalid input that no schema can describe. It runs before access is checked. Handlers read its result from
     * `request.validated(validate)`.
     */
    validate?: (request: FastifyRequest) => unknown
    /** The schema of a body that the handler reads and validates (`platform/http/own-body.ts`), for the reference. */
    readsBody?: TSchema
    /** Codes that this route can return, in addition to those that follow from its access and schema. */
    errors?: readonly ErrorCode[]
    /** Headers of its successful responses, in addition to those that follow from its schema. */
    headers?: readonly HeaderName[]
    /** Requires Pro. Set by the plugin scope that has the Pro gate. */
    pro?: boolean
    /** Part of the small document that the reference shows first. */
    core?: boolean
    /** An additional rate limit (`platform/rate-limits/rate-limit.ts`). */
    limit?: 'sign_in' | 'invite' | 'export' | 'refused_host_tokens' | 'pages' | 'none'
    /** False: it never waits for the database, so it's always available and doesn't count toward the share. */
    usesDatabase?: boolean
    /** False: it's answered from the memory of the process, so it doesn't wait for the caller's other requests. */
    needsPermit?: boolean
    /** Called by load balancers, and never limited. */
    isProbe?: boolean
  }
}

export default fp(
  async (app) => {
    const reject = (route: RouteOptions, fault: string | undefined) => {
      if (fault) throw new Error(`${route.method} ${route.url} ${fault}`)
    }
    const routes: RouteOptions[] = []
    app.addHook('onRoute', (route) => {
      routes.push(route)
      // Checked here, because the schema compiler's own message doesn't name the missing resource.
      reject(route, unknownReference(route))
    })
    // Checked last, because the reference declares the access of its files in another `onRoute` hook.
    app.addHook('onReady', async () => {
      for (const route of routes) reject(route, faultOf(route))
    })
  },
  { name: 'route-checks' },
)

const unknownReference = ({ schema, config }: RouteOptions): string | undefined => {
  const known = listResources().map(({ $id }) => $id)
  for (const [, id = ''] of JSON.stringify({ ...schema, readsBody: config?.readsBody }).matchAll(
    /"\$ref":"([^"#]*)#?"/g,
  )) {
    if (!known.includes(id)) return `refers to ${id}, which is no resource`
  }
  return undefined
}

/** Why a route mustn't be served, if there's a reason. */
const faultOf = (route: RouteOptions): string | undefined => {
  const { config, schema, url } = route
  const access = config?.access
  if (!access) return 'declares no access'
  const isLarge = (route.bodyLimit ?? 0) > limits.body_bytes
  if (isLarge && access.find && !config.accessBeforeBody) return 'has a large body, but no accessBeforeBody'
  if (access.dryRunScopes && !offers(route, 'dry_run'))
    return 'admits keys to a dry run, but has no dry_run in its query'
  if (schema?.hide) return undefined
  if (!schema?.response) return 'declares no response'
  if (schema.operationId === undefined) return 'declares no operationId'
  const unchecked = [...url.matchAll(/:(\w+)/g)].find(([, name = '']) => !requires(route, 'params', name))
  if (unchecked) return `has ${unchecked[0]} in its path, which its params don’t require`
  return access.faultOf?.((part, name) => requires(route, part, name))
}

/** Whether a route's query may have a parameter. */
const offers = ({ schema }: RouteOptions, name: string): boolean =>
  Object.hasOwn((schema?.querystring as { properties?: object } | undefined)?.properties ?? {}, name)

/** The schema of a required request property. */
const requires = (
  { schema, config }: RouteOptions,
  part: RequestPart,
  name: string,
): { format?: string } | undefined => {
  const schemas = {
    params: schema?.params,
    query: schema?.querystring,
    body: config?.readsBody ?? schema?.body,
  }
  const { required = [], properties = {} } = (schemas[part] ?? {}) as {
    required?: string[]
    properties?: Record<string, { format?: string }>
  }
  return required.includes(name) ? properties[name] : undefined
}
