import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { reuseService, type Service, startService } from './service.js'
import { until } from './until.js'

/** How many requests may wait on a connection. */
const WAITING = 100

const open = async (test: { teardown(work: () => unknown): void }, { url }: Service): Promise<Socket> => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  test.teardown(() => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

const requestText = (id: string, path: string, body?: string) =>
  body === undefined
    ? `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\n\r\n`
    : `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`

interface HttpResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/** Collects the responses that arrive on a connection. Each of them has a `Content-Length`. */
const collectResponses = (socket: Socket): HttpResponse[] => {
  const responses: HttpResponse[] = []
  let bytes = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk])
    for (let end = bytes.indexOf('\r\n\r\n'); end >= 0; end = bytes.indexOf('\r\n\r\n')) {
      const [start = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
      const headers = Object.fromEntries(
        lines.map((line) => [
          line.slice(0, line.indexOf(':')).toLowerCase(),
          line.slice(line.indexOf(':') + 2),
        ]),
      )
      const length = end + 4 + Number(headers['content-length'])
      if (bytes.length < length) return
      responses.push({
        status: Number(start.split(' ')[1]),
        headers,
        body: bytes.toString('utf8', end + 4, length),
      })
      bytes = bytes.subarray(length)
    }
  })
  return responses
}

const idsOf = (responses: HttpResponse[]) => responses.map(({ headers }) => headers['x-request-id'])
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `r${index}`)

t.test('a client that pipelines requests gets every response in order, repeatedly', async (t) => {
  const service = await reuseService(t)
  const socket = await open(t, service)
  const responses = collectResponses(socket)
  const kinds = [
    // The first answer is large.
    (id: string) => requestText(id, id === 'r0' ? '/api/openapi.json' : '/api/limits'),
    (id: string) => requestText(id, '/api/health'),
    (id: string) => requestText(id, '/api/auth/logout', '{}'),
    (id: string) => requestText(id, '/nowhere'),
  ]
  const ids = numbered(2 * WAITING)
  for (let sent = 0; sent < ids.length; sent += WAITING) {
    const batch = ids.slice(sent, sent + WAITING)
    socket.write(batch.map((id, index) => kinds[index % kinds.length]?.(id)).join(''))
    await until(() => responses.length >= sent + WAITING, 'the batch is answered')
  }
  t.same(idsOf(responses), ids)
  t.same(
    responses.map(({ status }) => status),
    ids.map((_, index) => ((index % WAITING) % kinds.length === 3 ? 404 : 200)),
  )
})

t.test('a connection handles one request at a time without delaying other connections', async (t) => {
  const service = await reuseService(t)
  service.repohost.fault = 'hang'
  const connections = 3
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(t, service)))
  const verify = (id: string) => requestText(id, '/api/auth/verify', '{"repohost_token":"x"}')
  for (const socket of sockets) socket.write(numbered(WAITING).map(verify).join(''))
  const { requests } = service.repohost
  await until(() => requests.length >= connections, 'one of each connection is in progress')
  // Whatever else was to start has done so by the time that these are answered.
  for (let round = 0; round < 20; round++) await service.request('GET', '/api/health')
  t.equal(requests.length, connections)
})

t.test('a connection is closed if too many requests wait on it', async (t) => {
  const service = await reuseService(t)
  service.repohost.fault = 'hang'
  const socket = await open(t, service)
  const closed = once(socket, 'close')
  socket.write(requestText('first', '/api/auth/verify', '{"repohost_token":"x"}'))
  await until(() => service.repohost.requests.length === 1, 'the first request is in progress')
  socket.write(
    numbered(WAITING + 1)
      .map((id) => requestText(id, '/api/health'))
      .join(''),
  )
  await closed
  t.equal((await service.request('GET', '/api/health')).status, 200)
})

t.test('pages and their assets have a separate limit', async (t) => {
  const max = 50
  const service = await startService(t, {
    env: { RATE_LIMITS: 'on', LIMITS: `rate_pages_per_address=${max}` },
  })
  const socket = await open(t, service)
  const responses = collectResponses(socket)
  for (const id of numbered(max)) socket.write(requestText(id, '/api/docs/static/favicon.svg'))
  await until(() => responses.length === max, 'all are answered')
  t.same(new Set(responses.map(({ status }) => status)), new Set([200]))
  for (const path of [
    '/',
    '/w/x',
    '/api/docs',
    '/api/docs/errors',
    '/api/openapi.json',
    '/api/docs/static/page.css',
  ]) {
    const rejected = await service.request('GET', path)
    t.equal(rejected.status, 429, path)
    t.equal(rejected.body.code, 'rate_limited', path)
    t.equal(rejected.headers.get('ratelimit-limit'), String(max), path)
  }
  t.equal((await service.request('GET', '/api/limits')).status, 200, 'other limits are not affected')
  t.equal((await service.request('GET', '/api/health')).status, 200)
})
