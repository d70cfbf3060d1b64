import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { writeTypes } from '../client/generate/types.js'
import { projectRoot, serviceVersion } from '../src/platform/process/root.js'
import { bundle } from './bundle.js'
import { temporaryFolder } from './process.js'
import { startService } from './service.js'

const run = promisify(execFile)
const read = (path: string) => readFile(join(projectRoot, path), 'utf8')
const compiler = join(projectRoot, 'node_modules/@typescript/native/bin/tsc')
const olderCompiler = join(projectRoot, 'node_modules/typescript/bin/tsc6')

type Conditions = Record<'import' | 'require', { types: string; default: string }>

const packing = (async (): Promise<string[]> => {
  const options = ['pack', '--dry-run', '--ignore-scripts', '--json', '-w', 'client']
  const { stdout } = await run('npm', options, { cwd: projectRoot })
  const [{ files }] = JSON.parse(stdout)
  return files.map(({ path }: { path: string }) => path).sort()
})()

t.test('the client’s types match the OpenAPI document', async (t) => {
  const types = writeTypes(JSON.parse(await read('openapi/openapi.json')))
  t.ok(types === (await read('client/src/api.ts')), 'run `npm run openapi`, and commit client/src/api.ts')
})

t.test('a document that the types can’t express is rejected', async (t) => {
  const document = (schema: object) => ({ paths: {}, components: { schemas: { Thing: schema } } })
  t.throws(() => writeTypes(document({ type: 'object', patternProperties: {} })), /patternProperties/)
  t.throws(() => writeTypes(document({ type: 'file' })), /file/)
})

t.test('the client core takes at most 8 KB, and doesn’t use Node', async (t) => {
  const code = await bundle('client/src/index.ts', { minify: true })
  const bytes = gzipSync(code, { level: 9 }).length
  t.ok(bytes <= 8 * 1024, `${bytes} bytes`)
  t.notMatch(code, /\b(process|Buffer|require|global)\b[.[(]/)
  t.same(JSON.parse(await read('client/package.json')).dependencies, undefined)
})

t.test('every snippet in the client’s README compiles, in order', async (t) => {
  const snippets = Array.from(
    (await read('client/README.md')).matchAll(/^```ts\n(.*?)^```$/gms),
    ([, code]) => code,
  )
  t.ok(snippets.length > 5)
  const folder = join(projectRoot, 'build/snippets')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'readme.ts'), `${snippets.join('\n')}\nexport { csv, idleMinutes, theme }\n`)
  const config = {
    extends: '../../tsconfig.json',
    compilerOptions: {
      exactOptionalPropertyTypes: true,
      incremental: false,
      noEmit: true,
      rootDir: '../..',
      paths: {
        '@team-settings/client': ['../../client/src/index.ts'],
        '@team-settings/client/node': ['../../client/src/node.ts'],
      },
    },
    include: ['readme.ts'],
    exclude: [],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const failure = await run(process.execPath, [compiler, '-p', folder]).then(
    () => undefined,
    ({ stdout }) => stdout,
  )
  t.equal(failure, undefined)
})

t.test('the client package contains only its code, types and documentation', async (t) => {
  const names = await packing
  const { exports } = JSON.parse(await read('client/package.json'))
  for (const { types, default: code } of Object.values<Conditions>(exports).flatMap(Object.values)) {
    t.ok(names.includes(types.slice(2)) && names.includes(code.slice(2)), `${types}, ${code}`)
    const { sources, sourcesContent } = JSON.parse(await read(`client/${code}.map`))
    t.equal(sourcesContent.length, sources.length)
  }
  const others = names.filter((name) => !/^dist\/(cjs\/)?[a-z]+(\.d\.ts|\.js|\.js\.map)$/.test(name))
  t.same(others.sort(), ['LICENSE', 'README.md', 'dist/cjs/package.json', 'package.json'])
})

t.test('npm can install the client from a service, without a registry', async (t) => {
  const service = await startService(t)
  const latest = await service.request('GET', '/api/client.tgz')
  t.equal(latest.status, 302)
  t.equal(latest.headers.get('cache-control'), 'no-cache')
  const address = latest.headers.get('location') ?? ''
  t.equal(address, `/api/client-${serviceVersion}.tgz`)

  const { status, headers } = await service.request('GET', address)
  t.equal(status, 200)
  t.equal(headers.get('content-type'), 'application/gzip')
  t.equal(headers.get('content-encoding'), null)
  t.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
  const etag = headers.get('etag') ?? ''
  t.match(etag, /^"[\w-]{43}"$/)
  t.equal((await service.request('GET', address, { headers: { 'If-None-Match': etag } })).status, 304)
  const pinned = await fetch(`${service.url}/api/client-1.0.0.tgz`)
  t.equal(
    createHash('sha256')
      .update(Buffer.from(await pinned.arrayBuffer()))
      .digest('hex'),
    '4dcfd9ec3f9a59db8807b0ce3047840968f3afde3ee6bfa782c796828b355f91',
    'and 1.0.0 stays what it was',
  )
  const other = await service.request('GET', '/api/client-0.0.1.tgz')
  t.hasStrict(other.body, { code: 'route_not_found' })
  t.ok(other.body.detail.includes(address))

  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'package.json'), '{}')
  const noRegistry = ['--registry', 'http://127.0.0.1:1/', '--cache', join(folder, '.npm'), '--no-audit']
  await run('npm', ['install', ...noRegistry, service.url + address], { cwd: folder })
  const modules = {
    'a.mjs':
      "import { createClient } from '@team-settings/client'\nimport { folderStorage } from '@team-settings/client/node'",
    'b.cjs':
      "const { createClient } = require('@team-settings/client')\nconst { folderStorage } = require('@team-settings/client/node')",
  }
  for (const [file, imports] of Object.entries(modules)) {
    const call = `createClient({ baseUrl: '${service.url}' }).request('GET /api/health')`
    const code = `${imports}\n${call}.then(({ data }) => console.log(typeof folderStorage, data.version))\n`
    await writeFile(join(folder, file), code)
    const { stdout } = await run(process.execPath, [join(folder, file)])
    t.equal(stdout, `function ${serviceVersion}\n`, file)
  }
  const installed = await readdir(join(folder, 'node_modules/@team-settings/client'), { recursive: true })
  t.strictSame(installed.filter((name) => /[.]|LICENSE/.test(name)).sort(), await packing)
})

t.test('CommonJS projects compile against the client and run with it', async (t) => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'node_modules/@team-settings'), { recursive: true })
  await symlink(join(projectRoot, 'client'), join(folder, 'node_modules/@team-settings/client'))
  await writeFile(join(folder, 'package.json'), '{ "type": "commonjs" }')
  await writeFile(
    join(folder, 'index.ts'),
    `import { createClient, memoryStorage } from '@team-settings/client'
import { folderStorage } from '@team-settings/client/node'
import type { indexedDbStorage } from '@team-settings/client/browser'
export const storage: ReturnType<typeof indexedDbStorage> = memoryStorage()
console.log(typeof createClient, typeof folderStorage)
`,
  )
  const roots = ['--typeRoots', join(projectRoot, 'node_modules/@types'), '--types', 'node']
  const settings = ['--strict', '--skipDefaultLibCheck', '--module', 'Node16', '--target', 'ES2022']
  const options = ['--ignoreConfig', ...settings, ...roots]
  for (const file of [olderCompiler, compiler]) {
    const failure = await run(process.execPath, [file, ...options, 'index.ts'], { cwd: folder }).then(
      () => undefined,
      ({ stdout }) => stdout,
    )
    t.equal(failure, undefined)
  }
  const { stdout } = await run(process.execPath, ['index.js'], { cwd: folder })
  t.equal(stdout, 'function function\n')
})
