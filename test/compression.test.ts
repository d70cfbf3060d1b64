import { request as httpRequest } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { hasProperties } from './has-properties.js'
import { type Caller, DASHBOARD, reuseService, type Service, startService } from './service.js'

interface HttpResponse {
  status: number
  headers: Record<string, string | undefined>
  bytes: Buffer
}

/** The bytes as received, because `fetch` would unpack them. */
const send = (
  service: Service,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<HttpResponse> =>
  new Promise((resolve, reject) => {
    const given = { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers }
    const request = httpRequest(
      service.url + path,
      { method, headers: given, agent: false },
      async (response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk)
        const { statusCode = 0 } = response
        resolve({ status: statusCode, headers: response.headers as never, bytes: Buffer.concat(chunks) })
      },
    )
    request.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  })

const unpacked = ({ headers, bytes }: HttpResponse): string => {
  const encoding = headers['content-encoding']
  return (
    encoding === 'br' ? brotliDecompressSync(bytes) : encoding === 'gzip' ? gunzipSync(bytes) : bytes
  ).toString()
}

const get = (service: Service, caller: Caller, path: string, headers: Record<string, string>) =>
  send(service, 'GET', path, { Authorization: `Bearer ${caller.token}`, ...headers })

t.test('responses of a kilobyte or more are compressed for clients that accept it', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  await ada.push('ada/small', { 'ext.a': 1 })
  for (const [repo, length] of [
    ['a', 3_000],
    ['large', 200_000],
  ] as const) {
    await ada.push(`ada/${repo}`, { 'ext.a': 'é'.repeat(length / 2) })
    const path = `/api/settings/ada/${repo}`
    const plain = await get(service, ada, path, { Origin: DASHBOARD })
    t.equal(plain.headers['content-encoding'], undefined)
    t.match(plain.headers.vary, /Origin, accept-encoding/)
    for (const [accepted, encoding] of [
      ['br, gzip', 'br'],
      ['gzip, br', 'br'],
      ['gzip', 'gzip'],
      ['gzip;q=1, br;q=0.5', 'gzip'],
      ['*', 'gzip'],
      ['identity', undefined],
      ['br;q=0, gzip;q=0', undefined],
      ['compress, x', undefined],
    ] as const) {
      const response = await get(service, ada, path, { 'Accept-Encoding': accepted, Origin: DASHBOARD })
      t.equal(response.headers['content-encoding'], encoding, accepted)
      t.ok(encoding === undefined || response.bytes.length < 1_000, accepted)
      t.equal(unpacked(response), plain.bytes.toString(), accepted)
      t.equal(response.headers.etag, plain.headers.etag, accepted)
      t.equal(response.headers.vary, plain.headers.vary, accepted)
      t.equal(response.headers['access-control-allow-origin'], DASHBOARD)
      const again = { 'Accept-Encoding': accepted, 'If-None-Match': response.headers.etag ?? '' }
      t.match(await get(service, ada, path, again), { status: 304, bytes: { length: 0 } }, accepted)
    }
    const head = { Authorization: `Bearer ${ada.token}`, 'Accept-Encoding': 'br' }
    const headless = await send(service, 'HEAD', path, head)
    t.hasStrict(headless, { status: 200, bytes: { length: 0 }, headers: { etag: plain.headers.etag } })
  }
  const small = await get(service, ada, '/api/settings/ada/small', { 'Accept-Encoding': 'br' })
  t.equal(small.headers['content-encoding'], undefined, 'a small response isn’t worth compressing')
})

t.test('CSV, documents and the reference are compressed too', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada, { patterns: ['ada/*', 'acme/*'] })
  const entries = Array.from({ length: 60 }, (_, index) => ({
    repo: 'acme/a',
    day: new Date(Date.now() - (index % 30) * 86_400_000).toISOString().slice(0, 10),
    minutes: 1,
  }))
  t.equal((await ada.post('/api/team/active-minutes', { entries })).status, 200)
  const accept = { 'Accept-Encoding': 'br' }

  const csv = await get(service, ada, `/api/team/dashboard?workspace=${id}`, {
    ...accept,
    Accept: 'text/csv',
  })
  hasProperties(t, csv.headers, { 'content-type': /^text\/csv/, 'content-encoding': 'br' })
  t.match(csv.headers.vary, /Origin, accept-encoding, Accept/)
  t.equal(unpacked(csv).split('\n').length, 32)

  const document = await send(service, 'GET', '/api/openapi.json', accept)
  t.equal(document.headers['content-encoding'], 'br')
  t.hasStrict(JSON.parse(unpacked(document)), { openapi: '3.1.0' })
  const page = await send(service, 'GET', '/api/docs/static/swagger-ui.css', accept)
  t.hasStrict(page, {
    status: 200,
    headers: { 'content-encoding': 'br', 'x-content-type-options': 'nosniff' },
  })
  t.match(unpacked(page), /\.swagger-ui/)
})

t.test('responses that contain a token are never compressed', async (t) => {
  const service = await startService(t)
  const avatarUrl = `https://avatars.example.com/${'a'.repeat(5_000)}`
  const user = service.repohost.addUser('ada', { avatarUrl })
  const accept = { 'Accept-Encoding': 'br, gzip' }
  const response = await send(service, 'POST', '/api/auth/verify', accept, { repohost_token: user.token })
  t.equal(response.status, 200)
  t.ok(response.bytes.length > 5_000)
  t.equal(response.headers['content-encoding'], undefined)
})

t.test('request bodies are read as sent, whatever their Content-Encoding', async (t) => {
  const service = await reuseService(t)
  const reply = await service.request('POST', '/api/auth/logout', {
    body: '{}',
    headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
  })
  t.equal(reply.status, 200)
})
