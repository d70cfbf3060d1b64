/** How the service serves the dashboard. Needs no browser. */

import { execFile } from 'node:child_process'
import { appendFile, cp, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompressSync } from 'node:zlib'
import t from 'tap'
import { ALLOWED_KEYS, DENIED_KEYS } from '../../schemas/denied-patterns.js'
import { EDITOR_PREFIXES } from '../../schemas/settings-keys.js'
import { projectRoot } from '../../src/platform/process/root.js'
import { hasProperties } from '../has-properties.js'
import { temporaryFolder } from '../process.js'
import { startService } from '../service.js'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

const SCRIPT_BYTES = 45 * 1_024
const STYLE_BYTES = 8 * 1_024

/** The encoded body. */
const bytesOf = (url: string, encoding: string) =>
  new Promise<{ headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    request(url, { headers: { 'Accept-Encoding': encoding } }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      resolve({ headers: response.headers, body: Buffer.concat(chunks) })
    })
      .on('error', reject)
      .end()
  })

const assetsOf = (html: string) =>
  [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)

const service = await startService(t)

t.test('the page is served only at its own paths', async (t) => {
  const addresses = [
    '/',
    '/w/x',
    '/w/x/people?a=b',
    '/s/acme/web',
    '/join/ABC',
    '/account',
    '/account/keys',
    '/account/editors',
    '/account/privacy',
    '/account/usage',
    '/account/workspaces',
    '/funnel',
  ]
  for (const address of addresses) {
    const page = await fetch(service.url + address)
    t.equal(page.status, 200, address)
    t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
    t.equal(page.headers.get('content-security-policy'), POLICY)
    t.equal(page.headers.get('cache-control'), 'no-cache')
    const again = await fetch(service.url + address, {
      headers: { 'If-None-Match': page.headers.get('etag') ?? '' },
    })
    t.equal(again.status, 304, address)
  }
  for (const address of [
    '/nothing',
    '/accounts',
    '/account/nothing',
    '/assets/nothing.js',
    '/index.html',
    '/assets/',
    '/w',
  ]) {
    const reply = await service.request('GET', address)
    t.hasStrict(reply, { status: 404, body: { code: 'route_not_found' } }, address)
  }
})

t.test('an unknown path returns the page to browsers and a problem to other clients', async (t) => {
  const open = (path: string, accept: string, method = 'GET') =>
    fetch(service.url + path, { method, headers: { Accept: accept } })
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  for (const path of ['/nope', '/w', '/index.html', '/apis?x=/api/']) {
    const page = await open(path, browser)
    t.equal(page.status, 404, path)
    t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8', path)
    t.equal(page.headers.get('content-security-policy'), POLICY)
    t.equal(page.headers.get('etag'), null, 'the page is not cached')
  }
  for (const [path, accept, method] of [
    ['/nope', 'application/json'],
    ['/nope', '*/*'],
    ['/nope', browser, 'POST'],
    ['/api/nope', browser],
    ['/api?x', browser],
    ['/api/settings/only-an-owner', browser],
  ] as const) {
    const reply = await open(path, accept, method)
    t.equal(reply.status, 404, path)
    t.hasStrict(await reply.json(), { code: 'route_not_found' }, `${method ?? 'GET'} ${path} ${accept}`)
  }
})

t.test('other origins can embed only API responses', async (t) => {
  const policyOf = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(service.url + path, { headers })).headers.get('cross-origin-resource-policy')
  const page = await (await fetch(service.url)).text()
  const docs = await (await fetch(`${service.url}/api/docs`)).text()
  const files = [...docs.matchAll(/(?:src|href)="(\/api\/docs\/static\/[^"]+)"/g)].map(
    ([, path = '']) => path,
  )
  const ours = [
    '/',
    '/w/x',
    '/nowhere',
    '/api',
    '/api/docs',
    '/api/docs/',
    '/api/docs/sessions',
    '/api/docs/nowhere',
  ]
  for (const path of [...ours, ...assetsOf(page), ...files]) {
    t.equal(await policyOf(path), 'same-origin', path)
    t.equal(await policyOf(path, { Accept: 'text/html' }), 'same-origin', path)
  }
  t.ok(files.length > 3)
  for (const path of ['/api/openapi.json', '/api/limits', '/api/me', '/api/health', '/api/nowhere'])
    t.equal(await policyOf(path), 'cross-origin', path)
})

t.test('assets are immutable, and the first load is small', async (t) => {
  const html = await (await fetch(service.url)).text()
  const assets = assetsOf(html)
  const sizes = { js: 0, css: 0 }
  for (const path of assets) {
    t.match(path, /-[A-Z0-9]{8}\.(js|css)$/)
    const packed = await bytesOf(service.url + path, 'br')
    t.match(packed.headers['cache-control'], /max-age=31536000, immutable/)
    t.equal(packed.headers['content-encoding'], 'br', path)
    const plain = await bytesOf(service.url + path, 'identity')
    t.equal(plain.headers['content-encoding'], undefined)
    t.ok(brotliDecompressSync(packed.body).equals(plain.body), `${path} is the same in every encoding`)
    const gzip = await bytesOf(service.url + path, 'gzip')
    t.equal(gzip.headers['content-encoding'], 'gzip')
    sizes[path.endsWith('.js') ? 'js' : 'css'] += gzip.body.length
  }
  t.ok(sizes.js > 0 && sizes.js <= SCRIPT_BYTES, `${sizes.js} bytes of script`)
  t.ok(sizes.css > 0 && sizes.css <= STYLE_BYTES, `${sizes.css} bytes of style`)
})

t.test('the page receives its sign-in options, and hostile names can’t break out of them', async (t) => {
  const startOf = async (cookie = '') => {
    const html = await (await fetch(service.url, { headers: { Cookie: cookie } })).text()
    const text = html.match(/<script type="application\/json" id="start">(.*)<\/script>/)?.[1] ?? ''
    t.notMatch(text, '<')
    return JSON.parse(text)
  }
  hasProperties(t, await startOf(), {
    signed_in: false,
    oauth: true,
    billing: 'off',
    people: [],
    settings_keys: {
      prefixes: ['ext', ...EDITOR_PREFIXES],
      denied: DENIED_KEYS,
      allowed: ALLOWED_KEYS,
      restricted: [],
      described: [],
    },
    extension_url: null,
    settings_schema: false,
  })
  const ada = await service.signIn('ada')
  t.match(await startOf(`svc_token=${ada.token}`), { signed_in: true })
  t.match(await startOf('svc_token=nonsense'), { signed_in: false })
  const hostile = { login: '</script><script>alert(1)</script>', about: '<!--', repohost_token: 'x' }
  service.app.dashboard.offeredPeople.push(hostile)
  hasProperties(t, await startOf(), { people: [hostile] })
})

t.test('an operator can turn the dashboard off', async (t) => {
  const service = await startService(t, {
    env: { DASHBOARD: 'off', REPOHOST_CLIENT_ID: '', REPOHOST_CLIENT_SECRET: '' },
  })
  t.equal((await service.request('GET', '/')).headers.get('location'), '/api/docs')
  t.match(await service.request('GET', '/account'), { status: 404 })
  const page = await fetch(`${service.url}/nope`, { headers: { Accept: 'text/html' } })
  t.hasStrict(await page.json(), { code: 'route_not_found' })
})

t.test('a new build keeps the previous one’s assets and removes older ones', async (t) => {
  const folder = await temporaryFolder(t)
  for (const name of ['web', 'client', 'schemas', 'build/web']) {
    await cp(join(projectRoot, name), join(folder, name), { recursive: true })
  }
  await symlink(join(projectRoot, 'node_modules'), join(folder, 'node_modules'))
  const assets = join(folder, 'build/web/assets')
  const current = async () => assetsOf(await readFile(join(folder, 'build/web/index.html'), 'utf8'))
  const former = await current()
  await writeFile(join(assets, 'old-AAAAAAAA.js'), '')
  // Releases are months apart, so the current assets are old when the next build replaces them.
  const longAgo = new Date(Date.now() - 90 * 86_400_000)
  for (const name of await readdir(assets)) await utimes(join(assets, name), longAgo, longAgo)
  await appendFile(join(folder, 'web/style.css'), '.new { color: red }')
  await promisify(execFile)(process.execPath, [join(folder, 'web/build.mjs')])
  const built = await current()
  t.notOk(built.every((path) => former.includes(path)))
  const there = (await readdir(assets)).map((name) => `/assets/${name}`)
  t.strictSame(
    [...built, ...former].filter((path) => !there.includes(path)),
    [],
  )
  t.notOk(there.includes('/assets/old-AAAAAAAA.js'))
})
