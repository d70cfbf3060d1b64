/** The interactive reference at /api/docs (the core document first), the documents themselves, the guides, and the page of errors. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyPluginAsync } from 'fastify'
import Negotiator from 'negotiator'
import { ERROR_PAGE } from '../../../schemas/errors.js'
import { anyone } from '../access/access.js'
import { etagOfText, ifNoneMatchLists } from '../http/etag.js'
import { lazy } from '../process/lazy.js'
import { projectRoot } from '../process/root.js'
import { errorCataloguePage } from './error-page.js'
import { readGuides } from './guides.js'
import { pageFile, referencePage, textPage } from './pages.js'
import { withExtensionPrefix } from './prefix.js'

const DOCS = '/api/docs'

/** Only the files of the library are used, because its page has no viewport, and its file names have no versions. */
const swaggerUi = dirname(fileURLToPath(import.meta.resolve('@fastify/swagger-ui')))
const swaggerUiFile = (name: string) => readFileSync(join(swaggerUi, 'static', name), 'utf8')

const policyOf = (directives: string[]) =>
  [
    ...directives,
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
const referencePolicy = policyOf(["default-src 'self'", "object-src 'none'"])
const textPolicy = policyOf(["default-src 'none'", "style-src 'self'"])

/** Compressed once, better than what is compressed for each answer. */
const encoders: Record<string, (text: string) => Promise<Buffer>> = {
  br: (text) =>
    promisify(brotliCompress)(text, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: text.length },
    }),
  gzip: (text) => promisify(gzip)(text, { level: 9 }),
}

/** The committed document without its indentation. To generate it here would block the process for half a second. */
const documentText = (name: string, extensionPrefix: string): string => {
  const text = readFileSync(join(projectRoot, 'openapi', `${name}.json`), 'utf8')
  return JSON.stringify(JSON.parse(withExtensionPrefix(text, extensionPrefix)))
}

const reference: FastifyPluginAsync = async (app) => {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: anyone, limit: 'pages' }
  })

  /** Serves a text that does not change while the process lives. @returns its address with its version */
  const serve = (url: string, type: string, make: () => string, policy?: string) => {
    const made = lazy(() => {
      const text = make()
      const version = createHash('sha256').update(text).digest('hex').slice(0, 12)
      const compressed = new Map<string, Promise<Buffer>>()
      return { text, bytes: Buffer.from(text), etag: etagOfText(text), version, compressed }
    })
    app.get<{ Querystring: { v?: string } }>(url, { schema: { hide: true } }, async (request, reply) => {
      const { text, bytes, etag, version, compressed } = made()
      const isVersion = request.query.v === version
      reply.headers({
        'Cache-Control': isVersion ? 'public, max-age=31536000, immutable' : 'no-cache',
        ETag: etag,
        ...(policy && { 'Content-Security-Policy': policy }),
      })
      if (ifNoneMatchLists(request.headers['if-none-match'], etag)) return reply.code(304).send()
      reply.type(`${type}; charset=utf-8`)
      const accepted = new Negotiator(request.raw).encodings(['br', 'gzip'])
      const encoding = accepted.includes('br') ? 'br' : accepted[0]
      const encode = encoders[encoding ?? '']
      if (!encoding || !encode) return reply.send(bytes)
      const encoded = compressed.get(encoding) ?? encode(text)
      compressed.set(encoding, encoded)
      return reply.header('Content-Encoding', encoding).send(await encoded)
    })
    return () => `${url}?v=${made().version}`
  }

  const fullText = lazy(() => documentText('openapi', app.config.extensionPrefix))
  serve('/api/openapi.json', 'application/json', fullText)
  serve('/api/openapi.core.json', 'application/json', () =>
    documentText('openapi.core', app.config.extensionPrefix),
  )
  serve(`${DOCS}/json`, 'application/json', fullText)
  // JSON is YAML.
  serve(`${DOCS}/yaml`, 'application/yaml', fullText)

  const script = 'text/javascript'
  const style = 'text/css'
  const file = (name: string, type: string, read: (name: string) => string) =>
    serve(`${DOCS}/static/${name}`, type, () => read(name))
  const favicon = file('favicon.svg', 'image/svg+xml', pageFile)
  const pageStyle = file('page.css', style, pageFile)
  const styleSheets = [file('swagger-ui.css', style, swaggerUiFile), file('reference.css', style, pageFile)]
  const scripts = [
    file('swagger-ui-bundle.js', script, swaggerUiFile),
    file('reference.js', script, pageFile),
  ]

  const guides = readGuides(app.config.extensionPrefix)
  const pages = [...guides, { href: ERROR_PAGE, title: 'Errors', content: errorCataloguePage }]
  const links = pages.map(({ href, title }) => ({ href, text: title }))
  for (const page of pages) {
    const { href } = page
    const text = () =>
      textPage({
        ...page,
        content: page.content(),
        links: [{ href: DOCS, text: 'Reference' }, ...links],
        favicon: favicon(),
        styleSheet: pageStyle(),
      })
    serve(href, 'text/html', text, textPolicy)
  }
  const page = lazy(() =>
    referencePage({
      documents: [
        { href: '/api/openapi.core.json', text: 'Core sync' },
        { href: '/api/openapi.json', text: 'Everything' },
      ],
      links,
      favicon: favicon(),
      styleSheets: styleSheets.map((address) => address()),
      scripts: scripts.map((address) => address()),
    }),
  )
  for (const url of [DOCS, `${DOCS}/`]) serve(url, 'text/html', page, referencePolicy)
}

export default reference
