/** The interactive reference at /api/docs (the core document first), the documents themselves, and the page of errors. */
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyPluginAsync } from 'fastify'
import { ERROR_PAGE } from '../../schemas/errors.js'
import { etagOfText, noneMatchNames } from '../domain/etag.js'
import { errorPage } from '../openapi/error-page.js'
import { buildDocuments } from '../openapi/index.js'
import { anyone } from '../policies/access.js'
import { once } from '../runtime/once.js'

const reference: FastifyPluginAsync = async (app) => {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: anyone, limit: 'none' }
  })
  /** Serves a text that does not change while the process lives. */
  const serve = (url: string, type: string, make: () => string, headers: Record<string, string> = {}) => {
    const made = once(() => {
      const text = make()
      return { text, etag: etagOfText(text) }
    })
    app.get(url, { schema: { hide: true } }, async (request, reply) => {
      const { text, etag } = made()
      reply.headers({ ...headers, 'Cache-Control': 'no-cache', ETag: etag })
      if (noneMatchNames(request.headers['if-none-match'], etag)) return reply.code(304).send()
      return reply.type(`${type}; charset=utf-8`).send(text)
    })
  }
  const documents = once(() => buildDocuments(app))
  serve('/api/openapi.json', 'application/json', () => JSON.stringify(documents().full))
  serve('/api/openapi.core.json', 'application/json', () => JSON.stringify(documents().core))
  const { html, policy } = errorPage()
  serve(ERROR_PAGE, 'text/html', () => html, { 'Content-Security-Policy': policy })
  // The query may say why a login failed, so it is kept.
  app.get('/', { schema: { hide: true } }, async (request, reply) =>
    reply.redirect(`/api/docs${new URL(request.url, 'http://service').search}`),
  )

  await app.register(swaggerUi, {
    routePrefix: '/api/docs',
    // The library serves a document too: the same one.
    transformSpecification: () => documents().full as never,
    transformSpecificationClone: false,
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
      // Otherwise the document would be sent to a validator on the Internet.
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
