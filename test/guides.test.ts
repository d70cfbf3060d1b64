import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { signatureOf } from '../demo/billing-provider.js'
import { limits } from '../schemas/limits.js'
import { projectRoot } from '../src/platform/process/root.js'
import { readCurl } from './curl.js'
import { startProviders, startService } from './service.js'

const folder = join(projectRoot, 'docs/guides')
const files = (await readdir(folder)).sort()
/** This service has a prefix other than the default. */
const prefixed = await startService(t, { env: { EXTENSION_PREFIX: 'foo' } })

/** The commands of a guide, with the status that the comment before one of them names. */
const commandsOf = (text: string) =>
  [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => {
    let expected: string | undefined
    return block.split('\n').flatMap((line) => {
      expected = /^# (\d{3})/.exec(line)?.[1] ?? expected
      if (!line.startsWith('curl')) return []
      const command = { line, expected: expected ?? '20' }
      expected = undefined
      return [command]
    })
  })

t.test('the guides’ commands do what the guides say', async (t) => {
  const { env } = await startProviders(t)
  const service = await startService(t, { env })
  const ada = await service.signIn('ada')
  const EVENT =
    '{"id":"evt_1","type":"customer.subscription.updated","data":{"object":{"id":"sub_1","customer":"cus_1"}}}'
  const variables: Record<string, string> = {
    SERVICE: '',
    REPOHOST_TOKEN: ada.repohostToken,
    TODAY: new Date().toISOString().slice(0, 10),
    TIME: String(Math.floor(Date.now() / 1_000)),
    EVENT,
    SIGNATURE: signatureOf(EVENT),
  }
  let sent = 0
  for (const file of files) {
    // A guide can end the session of the one before.
    variables.TOKEN = (await service.signIn('ada')).token
    for (const { line, expected } of commandsOf(await readFile(join(folder, file), 'utf8'))) {
      const { method, url, headers, body } = readCurl(line, variables)
      const reply = await service.request(method, url, { headers, body })
      t.match(
        String(reply.status),
        // With -L, curl follows a redirect.
        line.includes(' -fLO ') ? /^302/ : new RegExp(`^${expected}`),
        `${file}: ${line} is answered with ${reply.text}`,
      )
      sent++
      // The values that the guide asks the reader to keep.
      const { token, workspace, secret, id } = reply.body ?? {}
      if (token) variables.TOKEN = token
      if (secret) Object.assign(variables, { KEY: secret, KEY_ID: id })
      if (workspace?.id) variables.WORKSPACE = workspace.id
      const etag = reply.headers.get('etag')
      if (etag && method === 'GET') variables.ETAG = etag
    }
  }
  t.ok(sent > 15)
})

t.test('guides are pages with this installation’s numbers and link to each other', async (t) => {
  const known = new Set<string>()
  const linked = new Set<string>()
  for (const file of files) {
    const path = `/api/docs/${file.replace(/^\d+-|\.md$/g, '')}`
    const page = await prefixed.request('GET', path)
    t.match(page, { status: 200, text: /<meta name="viewport"/ }, path)
    t.match(page.headers.get('content-security-policy'), /^default-src 'none'/)
    t.notMatch(page.text, /<script(?! src="\/api\/docs\/static\/page\.js\?v=\w+"><\/script>)/, path)
    t.notMatch(page.text, /\{[a-z]+_[a-z_]+\}|["`']ext\./, path)
    known.add(path)
    // Links of a page lead where the page is served, not where its file is.
    for (const [, href = ''] of page.text.matchAll(/href="([^"#][^"]*)"/g)) {
      const { origin, pathname } = new URL(href, `http://guide${path}`)
      if (origin === 'http://guide') linked.add(pathname)
    }
  }
  for (const href of linked)
    if (!known.has(href)) t.equal((await prefixed.request('GET', href)).status, 200, href)
  const moved = await prefixed.request('GET', '/api/docs/conflicts')
  t.strictSame([moved.status, moved.headers.get('location')], [301, '/api/docs/settings#conflicts'])
  t.match((await prefixed.request('GET', '/api/docs/settings')).text, /<h2 id="conflicts">/)
  const { text } = await prefixed.request('GET', '/api/docs/limits')
  t.ok(text.includes(limits.settings_bytes.toLocaleString('en')))
})

t.test('programs can read guides and operations as Markdown listed in /llms.txt', async (t) => {
  const list = await prefixed.request('GET', '/llms.txt')
  t.match(list, { status: 200, text: /^# Team Settings and Activity Cloud Service\n/ })
  t.equal(list.headers.get('content-type'), 'text/plain; charset=utf-8')
  const links = Array.from(list.text.matchAll(/\]\((\/[^)#]*)\)/g), ([, path = '']) => path)
  const { body: document } = await prefixed.request('GET', '/api/openapi.json')
  const operations = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => `/api/docs/operations/${operationId}.md`),
  )
  const guides = files.map((file) => `/api/docs/${file.replace(/^\d+-/, '')}`)
  t.strictSame(links.filter((path) => path.endsWith('.md')).sort(), [...guides, ...operations].sort())
  for (const path of links) {
    const page = await prefixed.request('GET', path)
    t.equal(page.status, 200, path)
    if (!path.endsWith('.md')) continue
    t.equal(page.headers.get('content-type'), 'text/markdown; charset=utf-8', path)
    t.match(page.text, /^# /, path)
    t.notMatch(page.text, /\{[a-z]+_[a-z_]+\}|["`']ext\.|#\/components\/schemas/, path)
  }
  const path = '/api/docs/operations/recordActiveMinutes.md'
  const { text, headers } = await prefixed.request('GET', path)
  t.match(text, /^`POST \/api\/team\/active-minutes` \(`recordActiveMinutes`\)$/m)
  for (const part of ['"flush_id"', '`flush_id_reused`', 'curl "$SERVICE/api/team/active-minutes"'])
    t.ok(text.includes(part), part)
  const again = { headers: { 'If-None-Match': headers.get('etag') ?? '' } }
  t.equal((await prefixed.request('GET', path, again)).status, 304)
  for (const unknown of [
    'operations/constructor.md',
    'operations/nothing.md',
    'operations/getMe',
    'nothing.md',
  ])
    t.hasStrict(await prefixed.request('GET', `/api/docs/${unknown}`), {
      status: 404,
      body: { code: 'route_not_found' },
    })
  t.notOk(Object.keys(document.paths).some((path) => path.endsWith('.md') || path === '/llms.txt'))
})
