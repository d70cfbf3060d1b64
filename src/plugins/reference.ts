/** The interactive reference at /api/docs, with the small document first, and the documents themselves. */
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyPluginAsync } from 'fastify'
import { once } from '../once.js'
import { buildDocuments } from '../openapi.js'
import { anyone } from '../policies/access.js'

const reference: FastifyPluginAsync = async (app) => {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: anyone, limit: 'none' }
  })
  const texts = once(() => {
    const { full, core } = buildDocuments(app)
    return { full: JSON.stringify(full), core: JSON.stringify(core) }
  })
  const serve = (url: string, which: 'full' | 'core') =>
    app.get(url, { schema: { hide: true } }, async (_request, reply) => {
      reply.header('Cache-Control', 'no-cache').type('application/json; charset=utf-8')
      return texts()[which]
    })
  serve('/api/openapi.json', 'full')
  serve('/api/openapi.core.json', 'core')
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/api/docs'))

  await app.register(swaggerUi, {
    routePrefix: '/api/docs',
    uiConfig: {
      urls: [
        { url: '/api/openapi.core.json', name: 'Core sync' },
        { url: '/api/openapi.json', name: 'Everything' },
      ],
      'urls.primaryName': 'Core sync',
      docExpansion: 'list',
      deepLinking: true,
      displayRequestDuration: true,
      tryItOutEnabled: true,
      persistAuthorization: true,
      // Nothing is sent to anybody else.
      validatorUrl: null,
    } as never,
    theme: { title: 'Team Settings and Activity Cloud Service' },
    staticCSP: {
      'default-src': ["'self'"],
      'base-uri': ["'self'"],
      'frame-ancestors': ["'none'"],
      'img-src': ["'self'", 'data:'],
      'object-src': ["'none'"],
      'script-src': ["'self'"],
      'style-src': ["'self'", "'unsafe-inline'"],
    },
  })
}

export default reference
