import { execFile } from 'node:child_process'
import { cp, readdir, readFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { lint, loadConfig } from '@redocly/openapi-core'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import { Repo, RepoPath } from '../schemas/common.js'
import { errorCatalogue, errorCodes } from '../schemas/errors.js'
import { NO_RULES, settingsKeys } from '../schemas/settings-keys.js'
import { createInviteCode } from '../src/features/workspaces/queries/invites.js'
import { formatsOf } from '../src/platform/http/formats.js'
import { type ExampleSchema, exampleOf } from '../src/platform/openapi/examples.js'
import { projectRoot } from '../src/platform/process/root.js'
import { closed, conformanceOf } from './conformance.js'
import { equals } from './equals.js'
import { launchProgram, temporaryFolder } from './process.js'
import { startService } from './service.js'

const run = promisify(execFile)
const service = await startService(t)
/** Has other settings than by default. */
const other = await startService(t, { env: { DASHBOARD: 'off', EXTENSION_PREFIX: 'foo' } })
const files = { full: 'openapi/openapi.json', core: 'openapi/openapi.core.json' }

t.test('the service serves the committed documents, which are generated from its routes', async (t) => {
  const folder = await temporaryFolder(t)
  const program = launchProgram(t, 'src/bin/openapi', {}, [folder])
  t.equal(await program.ended, 0, program.output())
  for (const file of Object.values(files)) {
    const made = await readFile(join(folder, basename(file)), 'utf8')
    t.ok(
      made === (await readFile(join(projectRoot, file), 'utf8')),
      `run \`npm run openapi\` and commit ${file}`,
    )
    const served = await service.request('GET', `/api/${basename(file)}`)
    t.equal(served.status, 200)
    t.equal(served.text, JSON.stringify(JSON.parse(made)))
  }
})

t.test('the documents pass the linter’s strict rules', async (t) => {
  const config = await loadConfig({ configPath: join(projectRoot, 'redocly.yaml') })
  for (const file of Object.values(files)) {
    const problems = await lint({ ref: join(projectRoot, file), config })
    t.strictSame(
      problems
        .filter(({ ignored }) => !ignored)
        .map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`),
      [],
    )
  }
})

interface Schema extends ExampleSchema {
  oneOf?: Schema[]
  discriminator?: { propertyName: string; mapping: Record<string, string> }
}

type Content = Record<string, { schema: Schema; example?: unknown; examples?: Record<string, object> }>

interface Operation {
  operationId?: string
  summary?: string
  description: string
  tags?: string[]
  security?: Record<string, string[]>[]
  parameters?: { name: string; in: string; required?: boolean }[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<
    string,
    {
      description: string
      headers: Record<string, object>
      content?: Content
    }
  >
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const readDocument = async (file: string): Promise<Document> =>
  JSON.parse(await readFile(join(projectRoot, file), 'utf8'))

/** The target of a local reference. */
const resolved = <T extends object>(document: object, value: T): T => {
  const { $ref } = value as { $ref?: string }
  if ($ref === undefined) return value
  return $ref
    .split('/')
    .slice(1)
    .reduce((node, name) => (node as Record<string, object>)[name] ?? {}, document) as T
}

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      where: `${method} ${path}`,
      method,
      operation,
    })),
  )

/** The codes of an operation, from the examples of its responses. */
const codesOf = ({ responses }: Operation) =>
  new Set(
    Object.values(responses).flatMap(({ content }) =>
      Object.keys(content?.['application/problem+json']?.examples ?? {}),
    ),
  )

t.test('every operation is described, and every code is documented', async (t) => {
  const seen = new Set<string>()
  for (const { where, operation } of operationsOf(await readDocument(files.full))) {
    t.ok(operation.operationId && operation.summary && operation.tags?.length === 1, where)
    // Only OAuth has scopes.
    t.ok(
      operation.security?.every((schemes) => Object.values(schemes).every((scopes) => !scopes.length)),
      where,
    )
    for (const code of codesOf(operation)) seen.add(code)
  }
  // Errors from before the operation is known.
  const ofNone = ['headers_too_large']
  t.strictSame(
    errorCodes.filter((code) => !seen.has(code)),
    ofNone,
  )
})

interface ProblemSchema {
  properties: { code: { const: string }; status: { const: number } }
}

t.test('first sentences say what clients have to know', async (t) => {
  const operations = operationsOf(await readDocument(files.full))
  const paged = operations.filter(({ operation }) =>
    operation.parameters?.some(({ name }) => name === 'cursor'),
  )
  t.equal(paged.length, 7)
  for (const { where, operation } of paged)
    t.match(
      operation.description,
      /^Returns the first page, with at most 500 rows unless you send `limit`:/,
      where,
    )
  const descriptionOf = (id: string) =>
    operations.find(({ operation }) => operation.operationId === id)?.operation.description ?? ''
  t.match(
    descriptionOf('pushSettings'),
    /^[^.]*401 `repohost_token_invalid` is about `X-Repohost-Token` alone, never about your session\./,
  )
  for (const id of ['pushSettings', 'pullSettings'])
    t.match(descriptionOf(id), /The snapshot belongs to the workspace that matched\./, id)
})

t.test('every error response has one schema and one example per code', async (t) => {
  for (const file of Object.values(files)) {
    const document = await readDocument(file)
    // One assertion for thousands of values, because each takes as long as a hundred comparisons.
    const found: unknown[] = []
    const expected: unknown[] = []
    for (const { where, operation } of operationsOf(document)) {
      for (const [status, { description, content }] of Object.entries(operation.responses)) {
        if (status === 'default' || Number(status) < 400) continue
        const { schema, examples = {} } = content?.['application/problem+json'] ?? { schema: {} }
        const codes = Object.keys(examples)
        const described = [...description.matchAll(/^`([a-z_]+)`:/gm)].map(([, code]) => code)
        const { discriminator, oneOf = [schema] } = schema
        found.push([where, status, codes, discriminator?.propertyName])
        expected.push([where, status, described, codes.length > 1 ? 'code' : undefined])
        for (const [index, code] of codes.entries()) {
          const problem = resolved(document, oneOf[index] ?? {}) as ProblemSchema
          const { value } = resolved(document, examples[code] ?? {}) as { value: Record<string, unknown> }
          found.push({
            where,
            constants: [problem.properties.code.const, problem.properties.status.const],
            mapped: discriminator?.mapping[code],
            example: [value.type, value.status, value.code, value.detail],
          })
          const [ofCode, detail] = errorCatalogue[code as keyof typeof errorCatalogue]
          expected.push({
            where,
            constants: [code, Number(status)],
            mapped: discriminator && oneOf[index]?.$ref,
            example: [`/api/docs/errors#${code}`, ofCode, code, detail],
          })
          if (ofCode !== Number(status)) t.fail(`${where} ${code}: ${ofCode}`)
        }
      }
    }
    t.ok(found.length > 100)
    equals(t, found, expected, file)
  }
})

t.test('an operation declares the error codes that follow from its access rules', async (t) => {
  const wrong: string[] = []
  for (const { where, method, operation } of operationsOf(await readDocument(files.full))) {
    const codes = codesOf(operation)
    const security = JSON.stringify(operation.security)
    const follows = (code: string, wanted: boolean) => {
      if (codes.has(code) !== wanted) wrong.push(`${where}: ${code} ${wanted ? 'is missing' : 'is too much'}`)
    }
    const who = operation.description.split('**Access:** ')[1] ?? ''
    t.ok(who, where)
    for (const code of [
      'unauthenticated',
      'token_invalid',
      'token_expired',
      'token_revoked',
      'scope_missing',
    ])
      follows(code, security.includes('bearer'))
    const isSignIn = where.endsWith('/auth/verify') || where.endsWith('/auth/callback')
    follows('account_disabled', isSignIn || security.includes('bearer'))
    if (security.includes('cookie')) follows('csrf_rejected', method !== 'get')
    follows('admin_required', who.startsWith('an admin of'))
    if (who.includes('of the workspace')) follows('workspace_not_found', true)
    follows('pro_required', who.includes('Requires Pro'))
    follows('admin_key_invalid', who.includes('an admin key'))
    follows('signature_invalid', /the (billing provider|repository host)/.test(who))
    follows('invalid_json', method !== 'get')
    follows('rate_limited', 'RateLimit-Limit' in (operation.responses['429']?.headers ?? {}))
    if ('RateLimit-Limit' in (operation.responses['500']?.headers ?? {})) follows('rate_limited', true)
    follows('upstream_timeout', codes.has('upstream_failed'))
  }
  t.strictSame(wrong, [])
})

t.test('a body is required if one of its properties is', async (t) => {
  const document = await readDocument(files.full)
  const bodies = operationsOf(document).flatMap(({ where, operation: { requestBody } }) =>
    requestBody ? [{ where, ...requestBody }] : [],
  )
  for (const { where, required, content } of bodies) {
    const members = resolved(document, content['application/json']?.schema ?? {}).required ?? []
    t.equal(required, members.length > 0, where)
  }
  t.ok(bodies.some(({ required }) => required) && bodies.some(({ required }) => !required))
})

/** Every schema in a document, with where it is. */
const schemasIn = (document: Document): { where: string; schema: Node }[] => {
  const walk = (node: unknown, where: string): { where: string; schema: Node }[] => {
    if (typeof node !== 'object' || node === null) return []
    const within = Object.entries(node).filter(
      ([name]) => !['const', 'default', 'enum', 'example', 'examples'].includes(name),
    )
    const own = 'type' in node && !('in' in node) ? [{ where, schema: node as Node }] : []
    return [...own, ...within.flatMap(([name, child]) => walk(child, `${where}/${name}`))]
  }
  return walk({ paths: document.paths, components: { schemas: document.components.schemas } }, '')
}

interface Node {
  type: string
  items?: object
  minItems?: number
  maxItems?: number
}

t.test('generators create named types for bodies and list items', async (t) => {
  const document = await readDocument(files.full)
  for (const { where, operation } of operationsOf(document)) {
    const schema = operation.requestBody?.content['application/json']?.schema
    if (schema) t.ok(schema.$ref, `${where}: give its body a name (Named, of schemas/common.ts)`)
    for (const { name, in: part } of operation.parameters ?? [])
      if (part === 'header') t.match(name, /^[A-Z][a-z]*(-([A-Z][a-z]+|[0-9]+))*$/, where)
  }
  const wrong: string[] = []
  const schemas = schemasIn(document)
  t.ok(schemas.length > 1_000)
  for (const { where, schema } of schemas) {
    const { items, minItems, maxItems } = schema
    const isAnonymous = items && 'properties' in items && !where.includes('/schemas/Problem')
    if (isAnonymous) wrong.push(`${where}: give its items a name (Named, of schemas/common.ts)`)
    if (minItems !== undefined && minItems === maxItems) wrong.push(`${where}: would become a tuple`)
  }
  t.strictSame(wrong, [])
})

t.test('patterns work in Go and Rust, without lookaround or backreferences', async (t) => {
  for (const file of Object.values(files)) {
    const document = await readFile(join(projectRoot, file), 'utf8')
    const patterns = [...document.matchAll(/"pattern": ?("(?:[^"\\\\]|\\\\.)*")/g)].map(([, text]) =>
      JSON.parse(text ?? ''),
    )
    t.ok(patterns.length > 3)
    t.strictSame(
      patterns.filter((pattern) => /\(\?[=!<]|\\[1-9]/.test(pattern)),
      [],
      file,
    )
  }
})

t.test('a repository name can be anything but . and .., up to 100 characters', (t) => {
  const before = /^(?!\.{1,2}\/)[A-Za-z0-9_.-]{1,100}\/(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}$/
  const pattern = new RegExp(RepoPath.pattern ?? '')
  const parts = ['', 'a', '.', '..', '...', '.a', 'a.', '..a', '..-', '.-', '-', '._', 'a b', 'a/b', 'é']
  const long = ['a', '.', '.a', '..', '..a'].flatMap((start) =>
    [99, 100, 101].map((length) => start.padEnd(length, 'x')),
  )
  const names = [...parts, ...long, '.'.repeat(100), '.'.repeat(101)]
  for (const owner of names) {
    for (const repo of names) {
      const path = `${owner}/${repo}`
      if (pattern.test(path) !== before.test(path)) t.fail(path)
    }
    const single = new RegExp(Repo.pattern ?? '')
    t.equal(single.test(owner), /^(?!\.{1,2}$)[A-Za-z0-9_.-]+$/.test(owner), owner)
  }
  t.end()
})

t.test('every body and every response has an example', async (t) => {
  const { paths, components } = closed(await readDocument(files.full))
  for (const { where, operation } of operationsOf({ paths, components })) {
    const responses = Object.entries(operation.responses).filter(([status]) => status < '300')
    const contents = [operation.requestBody?.content, ...responses.map(([, { content }]) => content)]
    for (const { schema, example, examples } of contents.flatMap((content) => Object.values(content ?? {}))) {
      if (schema.anyOf) {
        t.equal(Object.keys(examples ?? {}).length, schema.anyOf.length, where)
        continue
      }
      equals(t, example, exampleOf(schema, components.schemas), where)
    }
    for (const parameter of operation.parameters ?? []) {
      if (!parameter.required) continue
      t.ok('example' in parameter, `${where}: give ${parameter.name} \`examples\`, in schemas/`)
    }
  }
})

/** Every example and default in a document, with the schema that it belongs to. */
const examplesIn = (document: Document): { where: string; schema: object; value: unknown }[] => {
  const walk = (node: unknown, where: string): { where: string; schema: object; value: unknown }[] => {
    if (typeof node !== 'object' || node === null) return []
    const { schema, example, examples, default: preset } = node as Record<string, unknown>
    const found: unknown[] = []
    if (Array.isArray(examples)) found.push(...examples)
    else if (schema !== undefined) {
      for (const named of Object.values((examples ?? {}) as Record<string, object>))
        found.push((resolved(document, named) as { value: unknown }).value)
    }
    for (const one of [example, preset]) if (one !== undefined) found.push(one)
    const own = found.map((value) => ({ where, schema: (schema ?? node) as object, value }))
    // An example contains no schema.
    const within = Object.entries(node).filter(([name]) => !['example', 'examples', 'default'].includes(name))
    return [...own, ...within.flatMap(([name, child]) => walk(child, `${where}/${name}`))]
  }
  return walk({ paths: document.paths, components: { ...document.components, examples: {} } }, '')
}

/** The problems of the examples of a document. */
const misfits = (document: Document, extensionPrefix: string): string[] => {
  // The linter checks the schemas.
  const ajv = new Ajv2020({ strict: false, meta: false, validateSchema: false, code: { optimize: false } })
  addFormats.default(ajv)
  for (const [name, { accepts }] of Object.entries(
    formatsOf(settingsKeys({ prefixes: [extensionPrefix], ...NO_RULES })),
  ))
    ajv.addFormat(name, accepts)
  const examples = examplesIn(document)
  const texts = [...new Set(examples.map(({ schema }) => JSON.stringify(closed(schema))))]
  // In one document, so that what several of them refer to is compiled once.
  ajv.addSchema({
    $id: 'document',
    components: closed(document.components),
    $defs: texts.map((text) => JSON.parse(text)),
  })
  const validators = new Map(texts.map((text, index) => [text, ajv.getSchema(`document#/$defs/${index}`)]))
  return examples.flatMap(({ where, schema, value }) => {
    const validate = validators.get(JSON.stringify(closed(schema))) as ValidateFunction
    return validate(value)
      ? []
      : [`${where}: ${JSON.stringify(value)} ${ajv.errorsText(validate.errors, { dataVar: '' })}`]
  })
}

t.test('every example matches its schema', async (t) => {
  // The other document is a part of this one.
  const document = await readDocument(files.full)
  t.ok(examplesIn(document).length > 100)
  t.strictSame(misfits(document, 'ext'), [])
})

t.test('responses can gain properties, and requests can’t', async (t) => {
  for (const file of Object.values(files)) {
    const { paths, components } = await readDocument(file)
    const isClosed = (part: unknown): boolean => {
      const seen = new Set<string>()
      const write = (of: unknown) =>
        JSON.stringify(of, (name, value) => (/^examples?$/.test(name) ? undefined : value))
      const pending = [write(part)]
      for (let text = pending.pop(); text !== undefined; text = pending.pop()) {
        if (text.includes('"additionalProperties":false')) return true
        for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
          if (!seen.has(name)) pending.push(write(components.schemas[name]))
          seen.add(name)
        }
      }
      return false
    }
    for (const { where, operation } of operationsOf({ paths, components } as Document))
      t.equal(isClosed(operation.responses), false, where)
    const { requestBody } = paths['/api/settings/{owner}/{repo}']?.put ?? {}
    t.equal(isClosed(requestBody), true, file)
  }
})

t.test('an undeclared response property still fails the tests', async (t) => {
  const problemOf = conformanceOf((await readDocument(files.full)) as never)
  const response = (more: object) => ({
    method: 'GET',
    path: '/api/health',
    status: 200,
    headers: new Headers({ 'Content-Type': 'application/json', 'X-Request-Id': '1' }),
    text: JSON.stringify({ ok: true, version: '1.0.0', ...more }),
  })
  t.equal(problemOf(response({})), undefined)
  t.match(problemOf(response({ extra: 1 })), /must NOT have additional properties/)
})

t.test('invite codes have the same format in the document and in responses', async (t) => {
  const form = (code: string) => code.replace(/[2-9A-HJKMNP-Z]/g, 'x')
  const document = await readDocument(files.full)
  const codes = examplesIn(document).filter(
    ({ where }) => where.endsWith('/Invite/properties/code') || where.endsWith('/JoinBody/properties/code'),
  )
  t.ok(codes.length >= 2)
  for (const { where, value } of codes) {
    const { code } = typeof value === 'string' ? { code: value } : (value as { code: string })
    t.equal(form(code), form(createInviteCode()), where)
  }
})

t.test('the document uses the configured prefix', async (t) => {
  const { text, body } = await other.request('GET', '/api/openapi.json')
  t.notMatch(text, /["`]ext[."`]/)
  t.match(text, /"foo\.theme"/)
  t.match(text, /Keys start with `foo\.`/)
  t.strictSame(misfits(body, 'foo'), [])
})

t.test('an unchanged document returns 304', async (t) => {
  for (const path of ['/api/openapi.json', '/api/openapi.core.json']) {
    const first = await service.request('GET', path)
    t.match(first, { status: 200 })
    t.equal(first.headers.get('cache-control'), 'no-cache')
    const etag = first.headers.get('etag') ?? ''
    const again = await service.request('GET', path, { headers: { 'If-None-Match': etag } })
    t.hasStrict(again, { status: 304, text: '' })
    t.equal(again.headers.get('etag'), etag)
    t.equal(again.headers.get('cache-control'), 'no-cache')
  }
})

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

t.test('a problem’s type leads to a page that explains its code', async (t) => {
  const rejected = await service.request('GET', '/api/me')
  const { pathname, hash } = new URL(rejected.body.type, service.url)
  t.strictSame([pathname, hash], ['/api/docs/errors', '#unauthenticated'])
  const page = await service.request('GET', pathname)
  t.equal(page.status, 200)
  t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  t.equal(page.headers.get('content-security-policy'), `${POLICY}; require-trusted-types-for 'script'`)
  t.notMatch(
    page.text,
    /<script(?! src="\/api\/docs\/static\/page\.js\?v=\w+"><\/script>)|javascript:|undefined|<token>/,
  )
  for (const code of errorCodes) {
    const entry = page.text.split(`<section id="${code}">`)[1]?.split('</section>')[0] ?? ''
    t.ok(entry.includes(`&quot;status&quot;: ${errorCatalogue[code][0]},`), code)
  }
  t.match(page.text, /<code>suggested_pattern<\/code>/)
})

t.test('the reference is served with everything it needs, without other hosts', async (t) => {
  const root = await other.request('GET', '/')
  t.match(root, { status: 302 })
  t.equal(root.headers.get('location'), '/api/docs')
  const { body: everything } = await other.request('GET', '/api/openapi.json')
  t.strictSame((await other.request('GET', '/api/docs/json')).body, everything)
  const page = await other.request('GET', '/api/docs')
  t.equal(page.status, 200)
  t.equal(page.headers.get('content-security-policy'), POLICY)
  const assets = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, asset = '']) => asset)
  t.ok(assets.length > 3)
  for (const asset of assets) {
    t.notMatch(asset, /^(https?:)?\/\//)
    const path = new URL(asset, `${other.url}/api/docs`).pathname
    const isLogin = path === '/api/auth/repohost'
    t.equal((await other.request('GET', path)).status, isLogin ? 302 : 200, path)
  }
  t.match(page.text, /<meta name="viewport"/)
})

t.test('browsers cache the reference’s files until they change', async (t) => {
  const page = await service.request('GET', '/api/docs')
  t.equal(page.headers.get('cache-control'), 'no-cache')
  const assets = [...page.text.matchAll(/"(\/api\/docs\/static\/[^"]+)"/g)].map(([, asset = '']) => asset)
  t.ok(assets.length >= 5)
  for (const asset of new Set(assets)) {
    const { headers } = await service.request('GET', asset)
    t.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable', asset)
    const [path = ''] = asset.split('?')
    for (const other of [path, `${path}?v=0`])
      t.equal((await service.request('GET', other)).headers.get('cache-control'), 'no-cache', other)
  }
})

t.test('the migrations match the tables', async (t) => {
  const out = await temporaryFolder(t)
  await cp(join(projectRoot, 'drizzle'), out, { recursive: true })
  const before = await readdir(out)
  await run(
    process.execPath,
    [
      join(projectRoot, 'node_modules/drizzle-kit/bin.cjs'),
      'generate',
      '--dialect=postgresql',
      '--schema=./src/**/tables.ts',
      `--out=${relative(projectRoot, out)}`,
    ],
    { cwd: projectRoot },
  )
  t.strictSame(await readdir(out), before, 'run `npx drizzle-kit generate` and commit drizzle/')
})
