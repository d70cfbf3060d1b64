/** The dashboard: one page for all of its addresses, and the files that it is made of (`web/`). */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import serveFiles from '@fastify/static'
import type { FastifyPluginAsync } from 'fastify'
import type { OfferedPerson, PageStart } from '../../schemas/page-start.js'
import { etagOfText, noneMatchNames } from '../domain/etag.js'
import { ApiError } from '../errors.js'
import { anyone } from '../policies/access.js'
import { projectRoot } from '../runtime/root.js'

declare module 'fastify' {
  interface FastifyInstance {
    offeredPeople: OfferedPerson[]
  }
}

const built = join(projectRoot, 'build/web')
const addresses = ['/', '/w/*', '/s/*', '/join/*', '/account', '/funnel']

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const dashboard: FastifyPluginAsync = async (app) => {
  const { config } = app
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: anyone, limit: 'none' }
  })
  if (!config.dashboard || !existsSync(join(built, 'index.html'))) {
    if (config.dashboard) app.log.warn('the dashboard was not built, so there is none: npm run build:web')
    // The query may say why a login failed, so it is kept.
    app.get('/', { schema: { hide: true } }, async (request, reply) =>
      reply.redirect(`/api/docs${new URL(request.url, 'http://service').search}`),
    )
    return
  }

  const [before = '', after = ''] = readFileSync(join(built, 'index.html'), 'utf8').split('"{start}"')
  const pageFor = (signedIn: boolean) => {
    const start: PageStart = {
      signed_in: signedIn,
      oauth: app.repohostOAuth !== undefined,
      repohost_url: config.repohost.url,
      extension_prefix: config.extensionPrefix,
      people: app.offeredPeople,
    }
    // No markup can begin inside of it.
    return `${before}${JSON.stringify(start).replaceAll('<', '\\u003c')}${after}`
  }
  for (const address of addresses) {
    app.get(address, { schema: { hide: true } }, async (request, reply) => {
      const page = pageFor(!(request.session instanceof ApiError))
      const etag = etagOfText(page)
      reply.headers({ 'Content-Security-Policy': POLICY, 'Cache-Control': 'no-cache', ETag: etag })
      if (noneMatchNames(request.headers['if-none-match'], etag)) return reply.code(304).send()
      return reply.type('text/html; charset=utf-8').send(page)
    })
  }
  await app.register(serveFiles, {
    root: join(built, 'assets'),
    prefix: '/assets/',
    wildcard: false,
    globIgnore: ['**/*.br', '**/*.gz'],
    preCompressed: true,
    immutable: true,
    maxAge: '1y',
    decorateReply: false,
  })
}

export default dashboard
