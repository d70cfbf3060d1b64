/** The dashboard: one page for all its addresses, and the files that it's made of (`web/`). */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import serveFiles from '@fastify/static'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { OfferedPerson, PageStart } from '../../../schemas/page-start.js'
import { ApiError } from '../../errors.js'
import { anyone } from '../access/access.js'
import { projectRoot } from '../process/root.js'
import { etagOfText, isUnchanged } from './etag.js'

declare module 'fastify' {
  interface FastifyInstance {
    dashboard: {
      /** Undefined if there's no dashboard. */
      sendPage: PageSender | undefined
      /** People of a demo, whom the page offers to sign in. */
      offeredPeople: OfferedPerson[]
    }
  }
}

type PageSender = (request: FastifyRequest, reply: FastifyReply) => FastifyReply

const built = join(projectRoot, 'build/web')
const ACCOUNT = [
  '/account',
  ...['editors', 'keys', 'privacy', 'usage', 'workspaces'].map((name) => `/account/${name}`),
]
const ADDRESSES = ['/', '/w/*', '/s/*', '/join/*', ...ACCOUNT, '/funnel']

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

const NOT_BUILT = 'the dashboard hasn’t been built, so the service doesn’t have one: run npm run build'

/** The repository host, as the page names it. `tokenPage` is a path there. */
interface HostFacts {
  name: string
  tokenPage: string
}

/** Sends the page with the caller's data, and keeps the reply's status. */
const pageSender = (app: FastifyInstance, host: HostFacts): PageSender => {
  const { config } = app
  const [before = '', after = ''] = readFileSync(join(built, 'index.html'), 'utf8').split('"{start}"')
  const pageFor = (signedIn: boolean) => {
    const { secretKey, dormant } = config.billing
    const start: PageStart = {
      signed_in: signedIn,
      oauth: Boolean(config.repohost.clientId && config.repohost.clientSecret),
      billing: secretKey === undefined ? 'off' : dormant ? 'dormant' : 'on',
      repohost_kind: config.repohost.kind,
      repohost_name: host.name,
      repohost_token_url: config.repohost.url + host.tokenPage,
      settings_keys: config.settingsKeys,
      activity_min_group: config.privacy.minGroup,
      extension_url: config.extensionUrl ?? null,
      settings_schema: config.settingsRules !== undefined,
      people: app.dashboard.offeredPeople,
    }
    // Markup can't begin inside it.
    return `${before}${JSON.stringify(start).replaceAll('<', '\\u003c')}${after}`
  }
  return (request, reply) => {
    const page = pageFor(!(request.session instanceof ApiError))
    reply.headers({ 'Content-Security-Policy': POLICY, 'Cache-Control': 'no-cache' })
    if (reply.statusCode === 200 && isUnchanged(reply, etagOfText(page))) return reply.code(304).send()
    return reply.type('text/html; charset=utf-8').send(page)
  }
}

const addresses: FastifyPluginAsync = async (app) => {
  const { sendPage } = app.dashboard
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: anyone, limit: 'pages' }
  })
  if (!sendPage) {
    // The query is kept, because it may contain the reason for a failed sign-in.
    app.get('/', { schema: { hide: true } }, async (request, reply) =>
      reply.redirect(`/api/docs${new URL(request.url, 'http://service').search}`),
    )
    return
  }
  for (const address of ADDRESSES) {
    app.get(address, { schema: { hide: true } }, async (request, reply) => sendPage(request, reply))
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

export default fp(async (app, { host }: { host: HostFacts }) => {
  const isBuilt = existsSync(join(built, 'index.html'))
  if (app.config.dashboard && !isBuilt) app.log.warn(NOT_BUILT)
  const sendPage = app.config.dashboard && isBuilt ? pageSender(app, host) : undefined
  app.decorate('dashboard', { sendPage, offeredPeople: [] })
  await app.register(addresses)
})

const names = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Whether `host` (the value of a `Host` header) is another name for the machine of `origin`. Both are loopback with the
 * same port, so the same page appears under both, but without its cookies.
 */
export const isAliasOf = (origin: string, host: string): boolean => {
  const wanted = new URL(origin)
  const address = `${wanted.protocol}//${host}`
  if (!URL.canParse(address)) return false
  const given = new URL(address)
  return (
    names.has(wanted.hostname) &&
    names.has(given.hostname) &&
    given.hostname !== wanted.hostname &&
    given.port === wanted.port
  )
}
