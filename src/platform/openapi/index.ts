/** The OpenAPI documents, generated from the schemas that validate and serialize. */
import swagger from '@fastify/swagger'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { listResources } from '../../../schemas/common.js'
import { own } from '../../../schemas/own.js'
import { schemaAt } from '../../../schemas/subgroups.js'
import { mapValues } from '../process/maps.js'
import { serviceVersion } from '../process/root.js'
import { callersOf, securityOf, securitySchemes } from './access.js'
import { completeDocument, type Document, type RouteFacts, withoutUnused } from './complete-document.js'
import { errorCodesOf } from './errors.js'
import { SIGN_IN_GUIDE, tags, withExtensionPrefix } from './names.js'

export const registerDocuments = async (app: FastifyInstance): Promise<void> => {
  const { kind } = app.config.repohost
  for (const resource of schemaAt(kind, listResources())) app.addSchema(resource)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Team Settings and Activity Cloud Service',
        version: serviceVersion,
        description: `${SIGN_IN_GUIDE}To begin, read [Getting started](/api/docs/getting-started). The [error catalogue](/api/docs/errors) explains every error.`,
        license: { name: 'MIT', identifier: 'MIT' },
        contact: { name: 'The operator of this installation' },
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
        ...(route.config?.readsBody && { body: route.config.readsBody }),
        description: [schema.description, callersOf(route)].filter(Boolean).join('\n\n'),
        response: successResponsesOf(route),
        'x-route': factsOf(route),
      }
      return { schema: schemaAt(kind, transformed) as never, url }
    },
  })
}

const meanings: Record<string, string> = { 200: 'Success.', 201: 'Created.', 202: 'Accepted.' }

const successResponsesOf = ({ schema }: RouteOptions) =>
  mapValues((schema?.response ?? {}) as Record<string, { type?: string }>, (body, status) =>
    body.type === 'null' || 'content' in body
      ? body
      : {
          description: own(meanings, status) ?? 'Success.',
          content: { 'application/json': { schema: body } },
        },
  )

const factsOf = (route: RouteOptions): RouteFacts => ({
  core: route.config?.core ?? false,
  codes: errorCodesOf(route),
  limited: route.config?.limit !== 'none',
  headers: route.config?.headers ?? [],
})

/** Both documents: everything, and the core of synchronizing settings. For an app that is ready. */
export const buildDocuments = (app: FastifyInstance): { full: Document; core: Document } => {
  const { document, coreOperations } = completeDocument(app.swagger() as never)
  const named = JSON.parse(
    withExtensionPrefix(JSON.stringify(document), app.config.extensionPrefix),
  ) as Document
  const corePaths: Document['paths'] = {}
  for (const [path, operations] of Object.entries(named.paths)) {
    const ofCore = Object.entries(operations).filter(([, { operationId }]) => coreOperations.has(operationId))
    if (ofCore.length > 0) corePaths[path] = Object.fromEntries(ofCore)
  }
  const core = {
    ...named,
    info: { ...named.info, title: `${named.info.title}: core sync` },
    paths: corePaths,
  }
  return { full: withoutUnused(named), core: withoutUnused(core) }
}
