/** The interactive reference at /api/docs (the core document first), the documents themselves, the guides, and the page of errors. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { ERROR_PAGE } from '../../../schemas/errors.js'
import { own } from '../../../schemas/own.js'
import { schemaAt } from '../../../schemas/subgroups.js'
import type { Config } from '../../config.js'
import { ApiError } from '../../errors.js'
import { anyone } from '../access/access.js'
import { etagOfText, isUnchanged } from '../http/etag.js'
import { lazy } from '../process/async.js'
import { projectRoot } from '../process/root.js'
import type { Document } from './complete-document.js'
import {
  CORE,
  DOCUMENT_PARAMETER,
  EVERYTHING,
  filterIndex,
  type OperationEntry,
  operationEntries,
  operationListOf,
  renderSidebar,
} from './contents.js'
import { errorCataloguePage, errorSections } from './error-page.js'
import { inlineMarkdown, readGuides } from './guides.js'
import { llmsText, operationMarkdown } from './markdown.js'
import { SIGN_IN_GUIDE, withExtensionPrefix } from './names.js'
import { pageFile, referencePage, textPage } from './pages.js'

const DOCS = '/api/docs'

/** Only the library's files are used, because its page has no viewport, and its file names have no versions. */
const swaggerUi = dirname(fileURLToPath(import.meta.resolve('@fastify/swagger-ui')))
const swaggerUiFile = (name: string) => readFileSync(join(swaggerUi, 'static', name), 'utf8')

const referencePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
// Swagger UI writes HTML from strings, which the other pages forbid.
const textPolicy = `${referencePolicy}; require-trusted-types-for 'script'`

/** Compressed once, at a level that would be too slow for each response. */
const encoders: Record<string, (text: string) => Promise<Buffer>> = {
  br: (text) =>
    promisify(brotliCompress)(text, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: text.length },
    }),
  gzip: (text) => promisify(gzip)(text, { level: 9 }),
}

/** The committed document without its indentation. Generating it here would block the process for half a second. */
const documentText = (name: string, { extensionPrefix, repohost }: Config): string => {
  const text = readFileSync(join(projectRoot, 'openapi', `${name}.json`), 'utf8')
  return JSON.stringify(schemaAt(repohost.kind, JSON.parse(withExtensionPrefix(text, extensionPrefix))))
}

const servedText = (type: string, make: () => string, policy?: string) => {
  const made = lazy(() => {
    const text = make()
    const version = createHash('sha256').update(text).digest('hex').slice(0, 12)
    const compressed = new Map<string, Promise<Buffer>>()
    return { text, bytes: Buffer.from(text), etag: etagOfText(text), version, compressed }
  })
  return { type, made, policy }
}
type ServedText = ReturnType<typeof servedText>

const reference: FastifyPluginAsync = async (app) => {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: anyone, limit: 'pages', needsPermit: false }
  })

  /** Sends a text that doesn't change while the process runs. @param requestedVersion the version in its address */
  const send = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { type, made, policy }: ServedText,
    requestedVersion?: string,
  ) => {
    const { text, bytes, etag, version, compressed } = made()
    reply.headers({
      'Cache-Control': requestedVersion === version ? 'public, max-age=31536000, immutable' : 'no-cache',
      ...(policy && { 'Content-Security-Policy': policy }),
    })
    if (isUnchanged(reply, etag)) return reply.code(304).send()
    reply.type(`${type}; charset=utf-8`)
    const accepted = new Negotiator(request.raw).encodings(['br', 'gzip'])
    const encoding = accepted.includes('br') ? 'br' : accepted[0]
    const encode = own(encoders, encoding ?? '')
    if (!encoding || !encode) return reply.send(bytes)
    const encoded = compressed.get(encoding) ?? encode(text)
    compressed.set(encoding, encoded)
    return reply.header('Content-Encoding', encoding).send(await encoded)
  }

  /** @returns its address with its version */
  const serve = (url: string, type: string, make: () => string, policy?: string) => {
    const served = servedText(type, make, policy)
    app.get<{ Querystring: { v?: string } }>(url, { schema: { hide: true } }, (request, reply) =>
      send(request, reply, served, request.query.v),
    )
    return () => `${url}?v=${served.made().version}`
  }

  const { extensionPrefix } = app.config
  const fullText = lazy(() => documentText('openapi', app.config))
  const coreText = lazy(() => documentText('openapi.core', app.config))
  serve('/api/openapi.json', 'application/json', fullText)
  serve('/api/openapi.core.json', 'application/json', coreText)
  serve(`${DOCS}/json`, 'application/json', fullText)
  // JSON is YAML.
  serve(`${DOCS}/yaml`, 'application/yaml', fullText)

  const guides = readGuides(extensionPrefix)
  const contents = lazy(() => {
    const full: Document = JSON.parse(fullText())
    const operations = operationEntries(full, JSON.parse(coreText()))
    return { operations, tags: full.tags, info: full.info }
  })

  const script = 'text/javascript'
  const style = 'text/css'
  const file = (name: string, type: string, read: (name: string) => string) =>
    serve(`${DOCS}/static/${name}`, type, () => read(name))
  const favicon = file('favicon.svg', 'image/svg+xml', pageFile)
  const index = file('filter.json', 'application/json', () => filterIndex(contents().operations, guides))
  const pageStyle = file('page.css', style, pageFile)
  const pageScript = file('page.js', script, pageFile)
  const swaggerUi = {
    script: file('swagger-ui-bundle.js', script, swaggerUiFile),
    styleSheet: file('swagger-ui.css', style, swaggerUiFile),
  }
  const referenceStyle = file('reference.css', style, pageFile)
  const referenceScript = file('reference.js', script, pageFile)
  const codeSamples = file('code-samples.js', script, (name) =>
    readFileSync(join(projectRoot, 'build/src/platform/openapi', name), 'utf8'),
  )

  const errors = {
    href: ERROR_PAGE,
    title: 'Errors',
    content: errorCataloguePage,
    sections: () => errorSections,
  }
  const pages = [...guides, errors]
  const frameOf = (href: string) => {
    const { operations, tags } = contents()
    const listed = pages.map((page) => ({ ...page, sections: page.sections().filter(({ id }) => id) }))
    return {
      home: app.config.dashboard ? '/' : DOCS,
      side: renderSidebar(listed, operations, tags, href),
      favicon: favicon(),
      index: index(),
      styleSheets: [pageStyle()],
      scripts: [pageScript()],
    }
  }
  for (const { href, title, content } of pages)
    serve(href, 'text/html', () => textPage(title, content(), frameOf(href)), textPolicy)

  for (const { href, markdown } of guides) serve(`${href}.md`, 'text/markdown', () => markdown)
  // Conflicts used to be a separate page.
  for (const end of ['', '.md'])
    app.get(`${DOCS}/conflicts${end}`, { schema: { hide: true } }, (_, reply) =>
      reply.redirect(`${DOCS}/settings${end}${end ? '' : '#conflicts'}`, 301),
    )
  serve('/llms.txt', 'text/plain', () => llmsText(contents().info, guides, contents().operations))
  const operationTexts = lazy(() => {
    const renderText = (operation: OperationEntry) => operationMarkdown(JSON.parse(fullText()), operation)
    return new Map(
      contents().operations.map((operation) => [
        operation.operationId,
        servedText('text/markdown', () => renderText(operation)),
      ]),
    )
  })
  app.get<{ Params: { operationId: string } }>(
    `${DOCS}/operations/:operationId.md`,
    { schema: { hide: true } },
    (request, reply) => {
      const text = operationTexts().get(request.params.operationId)
      if (!text) throw new ApiError('route_not_found')
      return send(request, reply, text)
    },
  )

  const documents = [
    { href: '/api/openapi.core.json', text: CORE },
    { href: '/api/openapi.json', text: EVERYTHING },
  ]
  const pageOf = (shown: string, isSignedIn: boolean) => {
    const frame = frameOf(DOCS)
    const { operations, tags, info } = contents()
    return referencePage(
      {
        documents,
        shown,
        isSignedIn,
        info: {
          ...info,
          description: inlineMarkdown(
            isSignedIn ? info.description.replace(SIGN_IN_GUIDE, '') : info.description,
          ),
        },
        operations: operationListOf(operations, tags),
        swaggerUi: { script: swaggerUi.script(), styleSheet: swaggerUi.styleSheet() },
        codeSamples: codeSamples(),
      },
      {
        ...frame,
        styleSheets: [...frame.styleSheets, referenceStyle()],
        scripts: [...frame.scripts, referenceScript()],
      },
    )
  }
  const variantsOf = (shown: string) => ({
    signedIn: servedText('text/html', () => pageOf(shown, true), referencePolicy),
    signedOut: servedText('text/html', () => pageOf(shown, false), referencePolicy),
  })
  const core = variantsOf(CORE)
  const everything = variantsOf(EVERYTHING)
  for (const url of [DOCS, `${DOCS}/`]) {
    app.get<{ Querystring: { [DOCUMENT_PARAMETER]?: string } }>(
      url,
      { schema: { hide: true } },
      (request, reply) => {
        const isSignedOut = request.session instanceof ApiError
        const { [DOCUMENT_PARAMETER]: name = isSignedOut ? CORE : EVERYTHING } = request.query
        const { signedIn, signedOut } = name === EVERYTHING ? everything : core
        return send(request, reply, isSignedOut ? signedOut : signedIn)
      },
    )
  }
}

export default reference
