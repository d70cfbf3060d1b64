/**
 * Serves the package of the client that fits this version, and those of earlier versions. No registry has them, so `npm install`
 * takes them from here.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { NotModified } from '../../../schemas/common.js'
import { ApiError } from '../../errors.js'
import { anyone } from '../access/access.js'
import { lazy } from '../process/lazy.js'
import { projectRoot, serviceVersion } from '../process/root.js'
import { etagOfText, isUnchanged } from './etag.js'

const file = join(projectRoot, 'build/client.tgz')
/** Packages of earlier versions, byte for byte, for a year: they are pinned in projects and jobs. */
const RELEASED = join(projectRoot, 'client/released')
const ADDRESS = `/api/client-${serviceVersion}.tgz`

const PACKED = 'application/gzip'

const PackageParams = Type.Object({
  version: Type.String({
    pattern: '^\\d{1,9}(\\.\\d{1,9}){2}$',
    description: 'As in `version` of `GET /api/health`.',
    examples: [serviceVersion],
  }),
})

export const clientPackageRoutes: FastifyPluginAsyncTypebox = async (app) => {
  if (!existsSync(file))
    app.log.warn('the client wasn’t packed, so the service doesn’t serve it: run npm run build:client')
  const files = new Map([
    ...(existsSync(RELEASED) ? readdirSync(RELEASED) : []).map(
      (name) => [name, join(RELEASED, name)] as const,
    ),
    ...(existsSync(file) ? [[`client-${serviceVersion}.tgz`, file] as const] : []),
  ])
  const packages = new Map(
    Array.from(files, ([name, path]) => [
      name,
      lazy(() => {
        const bytes = readFileSync(path)
        return { bytes, etag: etagOfText(bytes) }
      }),
    ]),
  )

  app.route({
    method: 'GET',
    url: '/client.tgz',
    config: { access: anyone, limit: 'pages', asksDatabase: false },
    schema: {
      operationId: 'findClient',
      tags: ['service'],
      summary: 'Find the client for this version',
      description:
        'Redirects to the package of the client. In instructions and in `package.json`, use the address with the version.',
      response: { 302: Type.Null({ description: 'Redirects to `GET /api/client-{version}.tgz`.' }) },
    },
    handler: async (_, reply) => reply.header('Cache-Control', 'no-cache').redirect(ADDRESS),
  })

  app.route({
    method: 'GET',
    url: '/client-:version.tgz',
    config: {
      access: anyone,
      limit: 'pages',
      asksDatabase: false,
      headers: ['ETag'],
      errors: ['route_not_found'],
    },
    schema: {
      operationId: 'downloadClient',
      tags: ['service'],
      summary: 'Download the client',
      description:
        'The npm package of the typed client, for `npm install`. The service has the version that `GET /api/health` names, and those of the year before.',
      params: PackageParams,
      response: {
        200: {
          description: 'The package, which never changes.',
          content: { [PACKED]: { schema: Type.String({ format: 'binary', examples: ['an npm package'] }) } },
        },
        304: NotModified,
      },
    },
    handler: async ({ params }, reply) => {
      const packed = packages.get(`client-${params.version}.tgz`)
      if (!packed)
        throw new ApiError('route_not_found', {
          detail: `This service has version ${serviceVersion} of the client: ${ADDRESS}`,
        })
      const { bytes, etag } = packed()
      reply.header('Cache-Control', 'public, max-age=31536000, immutable')
      if (isUnchanged(reply, etag)) return reply.code(304).send()
      return reply.type(PACKED).send(bytes as never)
    },
  })
}
