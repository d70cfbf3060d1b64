import { execFile } from 'node:child_process'
import { cp, readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { lint, loadConfig } from '@redocly/openapi-core'
import t from 'tap'
import { errorCodes } from '../schemas/errors.js'
import { projectRoot } from '../src/root.js'
import { temporaryFolder } from './process.js'
import { startService } from './service.js'

const run = promisify(execFile)
const files = { full: 'openapi/openapi.json', core: 'openapi/openapi.core.json' }

t.test('the committed documents are those that the service serves', async (t) => {
  const service = await startService(t)
  for (const [path, file] of [
    ['/api/openapi.json', files.full],
    ['/api/openapi.core.json', files.core],
  ] as const) {
    const served = await service.request('GET', path)
    t.equal(served.status, 200)
    const committed = JSON.parse(await readFile(join(projectRoot, file), 'utf8'))
    t.strictSame(served.body, committed, `run \`npm run openapi\` and commit ${file}`)
  }
})

t.test('the documents satisfy the strict rules of the linter', async (t) => {
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

interface Operation {
  operationId?: string
  summary?: string
  tags?: string[]
  security?: object[]
  parameters?: {
    in: string
    name: string
    schema: { maxLength?: number; format?: string; enum?: unknown[]; pattern?: string; type?: string }
  }[]
  responses: Record<string, { description: string }>
}

t.test('every operation is described, and every code has a place', async (t) => {
  const { paths } = JSON.parse(await readFile(join(projectRoot, files.full), 'utf8')) as {
    paths: Record<string, Record<string, Operation>>
  }
  const seen = new Set<string>()
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const where = `${method} ${path}`
      t.ok(operation.operationId && operation.summary && operation.tags?.length === 1, where)
      t.ok(Array.isArray(operation.security), where)
      for (const [status, { description }] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue
        for (const [, code = ''] of description.matchAll(/^`([a-z_]+)`:/gm)) seen.add(code)
      }
    }
  }
  // What an unknown path is answered with belongs to no operation.
  t.strictSame(
    errorCodes.filter((code) => !seen.has(code)),
    ['route_not_found'],
  )
})

t.test('the reference is served with everything it needs, from here alone', async (t) => {
  const service = await startService(t)
  const root = await service.request('GET', '/')
  t.match(root, { status: 302 })
  t.equal(root.headers.get('location'), '/api/docs')
  const page = await service.request('GET', '/api/docs')
  t.equal(page.status, 200)
  t.match(page.headers.get('content-security-policy'), /default-src 'self'/)
  const assets = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, asset = '']) => asset)
  t.ok(assets.length > 3)
  for (const asset of assets) {
    t.notMatch(asset, /^(https?:)?\/\//)
    const path = new URL(asset, `${service.url}/api/docs`).pathname
    t.equal((await service.request('GET', path)).status, 200, path)
  }
})

t.test('the migrations are those of the tables', async (t) => {
  const out = await temporaryFolder(t)
  await cp(join(projectRoot, 'drizzle'), out, { recursive: true })
  const before = await readdir(out)
  await run(
    process.execPath,
    [
      join(projectRoot, 'node_modules/drizzle-kit/bin.cjs'),
      'generate',
      '--dialect=postgresql',
      '--schema=./src/db/tables.ts',
      `--out=${relative(projectRoot, out)}`,
    ],
    { cwd: projectRoot },
  )
  t.strictSame(await readdir(out), before, 'run `npm run migrations` and commit drizzle/')
})
