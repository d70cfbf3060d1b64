/** The OpenAPI documents, generated from the schemas that validate and serialise. */
import swagger from '@fastify/swagger'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { CountsResult, FlushResult, MinutesOfDay, MinutesOfRange } from '../schemas/activity.js'
import { AuditEntry } from '../schemas/audit.js'
import { VerifyResult } from '../schemas/auth.js'
import { BillingEvent, BillingUrl } from '../schemas/billing.js'
import { Ok } from '../schemas/common.js'
import { Dashboard } from '../schemas/dashboard.js'
import { EffectiveConfig } from '../schemas/effective-config.js'
import { type ErrorCode, errorCatalogue, Problem } from '../schemas/errors.js'
import { Funnel } from '../schemas/funnel.js'
import { Invite } from '../schemas/invites.js'
import { Limits } from '../schemas/limits.js'
import { Member } from '../schemas/members.js'
import { Model } from '../schemas/models.js'
import { Override } from '../schemas/overrides.js'
import { Profile } from '../schemas/profile.js'
import { PushResult, Snapshot } from '../schemas/settings.js'
import { WorkspaceSettings } from '../schemas/workspace-settings.js'
import { Workspace } from '../schemas/workspaces.js'
import { needsSession } from './policies/access.js'
import { serviceVersion } from './root.js'

/** Schemas with an `$id`: components of the document. */
const resources = [
  Problem,
  Ok,
  VerifyResult,
  Profile,
  Snapshot,
  PushResult,
  Workspace,
  Invite,
  Member,
  WorkspaceSettings,
  Override,
  EffectiveConfig,
  AuditEntry,
  BillingUrl,
  BillingEvent,
  Model,
  Funnel,
  Limits,
  FlushResult,
  MinutesOfDay,
  MinutesOfRange,
  CountsResult,
  Dashboard,
]

const tags = [
  { name: 'auth', description: 'Sign in and out.' },
  { name: 'profile', description: 'Who the caller is.' },
  { name: 'settings', description: 'One settings snapshot per repository, with its history.' },
  { name: 'team', description: 'Workspaces: members, roles, invites, patterns, settings, overrides.' },
  { name: 'billing', description: 'Subscriptions at the billing provider.' },
  { name: 'models', description: "Model lists of two providers, with the caller's own keys." },
  { name: 'funnel', description: 'Activation events, and how far users come.' },
  { name: 'activity', description: 'Active minutes, daily counts, and the dashboard made of them.' },
  { name: 'service', description: 'The service itself.' },
]

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The `token` that `POST /api/auth/verify` answers with.',
  },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_token',
    description: 'Set by the browser login (`GET /api/auth/repohost`); sent by the browser itself.',
  },
  adminKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Admin-Key',
    description: 'An admin key of the operator.',
  },
  adminKeyQuery: { type: 'apiKey', in: 'query', name: 'key', description: 'The same in the query.' },
  billingSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'Billing-Signature',
    description: "The billing provider's signature over the raw body.",
  },
} as const

const securityOf = ({ config }: RouteOptions) => {
  const access = config?.access
  if (!access || access.kind === 'anyone') return []
  if (access.kind === 'adminKey') return [{ adminKey: [] }, { adminKeyQuery: [] }]
  if (access.kind === 'billingSignature') return [{ billingSignature: [] }]
  return [{ bearer: [] }, { cookie: [] }]
}

/** Every code that a route can answer: what follows from its access and schema, and what it declares itself. */
export const errorCodesOf = ({ method, config }: RouteOptions): ErrorCode[] => {
  const access = config?.access
  const codes: ErrorCode[] = ['validation_failed', 'internal_error', 'unavailable']
  if (config?.limit !== 'none') codes.push('rate_limited')
  // A body is read wherever a method may have one, wanted or not.
  if (method !== 'GET') codes.push('invalid_json', 'payload_too_large', 'unsupported_media_type')
  if (access && needsSession(access)) {
    codes.push('unauthenticated', 'token_invalid', 'token_expired', 'token_revoked')
    if (method !== 'GET') codes.push('csrf_rejected')
    if (config?.pro) codes.push('pro_required')
  }
  if (access?.kind === 'workspace') codes.push('workspace_not_found')
  if ((access?.kind === 'workspace' || access?.kind === 'repo') && access.role === 'admin')
    codes.push('admin_required')
  if (access?.kind === 'adminKey') codes.push('admin_key_invalid')
  return [...new Set([...codes, ...(config?.errors ?? [])])]
}

const errorResponsesOf = (route: RouteOptions) => {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of errorCodesOf(route)) {
    const [status] = errorCatalogue[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code][1]}`).join('\n\n'),
        content: { 'application/problem+json': { schema: { $ref: 'Problem#' } } },
      },
    ]),
  )
}

const meanings: Record<string, string> = { 200: 'Done.', 201: 'Created.', 202: 'Accepted.' }

const successResponsesOf = ({ schema }: RouteOptions) =>
  Object.fromEntries(
    Object.entries((schema?.response ?? {}) as Record<string, { type?: string; description?: string }>).map(
      ([status, body]) => [
        status,
        body.type === 'null' || 'content' in body
          ? body
          : { description: meanings[status] ?? 'Done.', content: { 'application/json': { schema: body } } },
      ],
    ),
  )

export const registerDocuments = async (app: FastifyInstance): Promise<void> => {
  for (const resource of resources) app.addSchema(resource)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Team Settings and Activity Cloud Service',
        version: serviceVersion,
        description:
          'Sign in with a token of the repository host (`POST /api/auth/verify`), press **Authorize**, paste the `token`, and try any operation.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'This installation.' }],
      tags,
      components: { securitySchemes },
    },
    refResolver: { buildLocalReference: (json) => String(json.$id) },
    transform: ({ schema, url, route }) => {
      if (!schema || schema.hide) return { schema: { ...schema, hide: true }, url }
      const transformed = {
        security: securityOf(route),
        ...schema,
        response: { ...successResponsesOf(route), ...errorResponsesOf(route) },
        ...(route.config?.core && { 'x-core': true }),
      }
      return { schema: transformed as never, url }
    },
  })
}

interface Operation {
  'x-core'?: boolean
  tags?: string[]
  parameters?: { name: string }[]
  responses: Record<string, { description?: string; headers?: object; content?: object }>
}

interface Document {
  info: { title: string }
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> }
}

/** Both documents: everything, and the core of synchronising settings. Complete once the app is ready. */
export const buildDocuments = (app: FastifyInstance): { full: Document; core: Document } => {
  const full = structuredClone(app.swagger()) as unknown as Document
  const corePaths: Document['paths'] = {}
  for (const [path, operations] of Object.entries(full.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      polish(operation)
      const { 'x-core': isCore, ...rest } = operation
      operations[method] = rest
      if (isCore) corePaths[path] = { ...corePaths[path], [method]: rest }
    }
  }
  const core = { ...full, info: { ...full.info, title: `${full.info.title}: core sync` }, paths: corePaths }
  return { full: prune(full), core: prune(core) }
}

const polish = ({ responses, parameters }: Operation) => {
  const conditional = responses['304'] || parameters?.some(({ name }) => name === 'if-match')
  const success = responses['200']
  if (conditional && success) {
    success.headers = { ETag: { schema: { type: 'string' }, description: 'Opaque and strong.' } }
  }
  const limited = responses['429']
  if (limited) {
    limited.headers = { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait.' } }
  }
  for (const status of ['302', '304']) {
    const response = responses[status]
    if (response) delete response.content
  }
}

/** Leaves out the tags, schemas and security schemes that no operation uses. */
const prune = (document: Document): Document => {
  const used = new Set<string>()
  const pending = [JSON.stringify(document.paths)]
  for (let text = pending.pop(); text !== undefined; text = pending.pop()) {
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (!used.has(name)) pending.push(JSON.stringify(document.components.schemas[name]))
      used.add(name)
    }
  }
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const usedTags = new Set(operations.flatMap((operation) => operation.tags ?? []))
  const usedSecurity = JSON.stringify(
    operations.map((operation) => (operation as { security?: unknown }).security),
  )
  const keep = <T>(entries: Record<string, T>, isUsed: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(entries).filter(([name]) => isUsed(name)))
  return {
    ...document,
    tags: document.tags.filter(({ name }) => usedTags.has(name)),
    components: {
      schemas: keep(document.components.schemas, (name) => used.has(name)),
      securitySchemes: keep(document.components.securitySchemes, (name) =>
        usedSecurity.includes(`"${name}"`),
      ),
    },
  }
}
