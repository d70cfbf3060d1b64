/** Serves the package of the client that fits this version. No registry has it, so `npm install` takes it from here. */
import { existsSync, readFileSync } from 'node:fs'
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
    app.log.warn('the client was not packed, so the service does not serve it: run npm run build:client')
  const packed = lazy(() => {
    const bytes = readFileSync(file)
    return { bytes, etag: etagOfText(bytes) }
  })

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
        'The npm package of the typed client, for `npm install`. The service has the version that `GET /api/health` names.',
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
      if (params.version !== serviceVersion || !existsSync(file))
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
