import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { limits } from '../schemas/limits.js'
import { type Service, startService } from './service.js'
import { until } from './until.js'

const LIMIT = limits.requests_at_once_per_connection
const CHUNK_BYTES = 65_536

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

/** As many requests as fit into the bytes that Node reads at once. */
const fullChunk = (textOf: (id: string) => string): string => {
  let text = ''
  for (let index = 0; text.length + 200 < CHUNK_BYTES; index++) text += textOf(`r${index}`)
  return text
}

interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

/** Collects the responses that arrive on a connection. Each of them has a `Content-Length`. */
const collectAnswers = (socket: Socket): Answer[] => {
  const answers: Answer[] = []
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
      answers.push({
        status: Number(start.split(' ')[1]),
        headers,
        body: bytes.toString('utf8', end + 4, length),
      })
      bytes = bytes.subarray(length)
    }
  })
  return answers
}

const idsOf = (answers: Answer[]) => answers.map(({ headers }) => headers['x-request-id'])
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `r${index}`)

t.test(
  'a client that pipelines up to 16 requests gets every answer, in order, again and again',
  async (t) => {
    const service = await startService(t)
    const socket = await open(t, service)
    const answers = collectAnswers(socket)
    const kinds = [
      (id: string) => requestText(id, '/api/openapi.json'),
      (id: string) => requestText(id, '/api/health'),
      (id: string) => requestText(id, '/api/auth/logout', '{}'),
      (id: string) => requestText(id, '/nowhere'),
    ]
    const ids = numbered(3 * LIMIT)
    for (let sent = 0; sent < ids.length; sent += LIMIT) {
      const batch = ids.slice(sent, sent + LIMIT)
      socket.write(batch.map((id, index) => kinds[index % kinds.length]?.(id)).join(''))
      await until(() => answers.length >= sent + LIMIT, 'the batch is answered')
    }
    t.same(idsOf(answers), ids)
    t.same(
      answers.map(({ status }) => status),
      ids.map((_, index) => (index % kinds.length === 3 ? 404 : 200)),
    )
  },
)

t.test('the 17th request of a connection is rejected, and the connection closes', async (t) => {
  const service = await startService(t)
  for (const [path, status] of [
    ['/', 200],
    ['/api/openapi.json', 200],
    ['/api/health', 200],
    ['/nowhere', 404],
  ] as const) {
    const socket = await open(t, service)
    const answers = collectAnswers(socket)
    const closed = once(socket, 'close')
    socket.write(fullChunk((id) => requestText(id, path)))
    await closed
    t.same(idsOf(answers), numbered(LIMIT + 1), path)
    t.same(
      answers.map((answer) => answer.status),
      [...Array(LIMIT).fill(status), 429],
      path,
    )
    const rejection = answers.at(-1)
    t.equal(rejection?.headers.connection, 'close', path)
    t.equal(rejection?.headers['ratelimit-limit'], String(LIMIT), path)
    t.equal(JSON.parse(rejection?.body ?? '').code, 'rate_limited', path)
  }
})

t.test('data that a client sends after the 17th request loses no answer', async (t) => {
  const service = await startService(t)
  service.repohost.fault = 'hang'
  const socket = await open(t, service)
  const answers = collectAnswers(socket)
  const closed = once(socket, 'close')
  socket.write(requestText('r0', '/api/auth/verify', '{"repohost_token":"x"}'))
  socket.write(
    numbered(2 * LIMIT)
      .slice(1)
      .map((id) => requestText(id, '/api/health'))
      .join(''),
  )
  await until(() => service.repohost.requests.length === 1, 'the first request is in progress')
  for (const more of [
    'nonsense\r\n\r\n',
    'GET /api/health HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
  ]) {
    socket.write(more)
    await service.request('GET', '/api/health')
  }
  await closed
  t.same(idsOf(answers), numbered(LIMIT + 1))
  t.same(
    answers.map(({ status }) => status),
    [504, ...Array(LIMIT - 1).fill(200), 429],
  )
})

t.test('a connection has at most 16 requests in progress', async (t) => {
  const service = await startService(t)
  service.repohost.fault = 'hang'
  const connections = 3
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(t, service)))
  for (const socket of sockets) {
    socket.write(fullChunk((id) => requestText(id, '/api/auth/verify', '{"repohost_token":"x"}')))
  }
  const { requests } = service.repohost
  await until(() => requests.length >= connections * LIMIT, 'as many as may are in progress')
  // Whatever else was to start has done so by the time that these are answered.
  for (let round = 0; round < 20; round++) await service.request('GET', '/api/health')
  t.equal(requests.length, connections * LIMIT)
})

/** Sends so many requests, 16 at a time. @returns the responses */
const sendInBatches = async (socket: Socket, count: number, path: string): Promise<Answer[]> => {
  const answers = collectAnswers(socket)
  const ids = numbered(count)
  for (let sent = 0; sent < count; sent += LIMIT) {
    const batch = ids.slice(sent, sent + LIMIT)
    socket.write(batch.map((id) => requestText(id, path)).join(''))
    while (answers.length < sent + batch.length) await once(socket, 'data')
  }
  return answers
}

t.test('a connection closes after its last request', async (t) => {
  const service = await startService(t, { env: { LOG_LEVEL: 'error' } })
  const socket = await open(t, service)
  const closed = once(socket, 'close')
  const answers = await sendInBatches(socket, limits.requests_per_connection, '/api/health')
  await closed
  t.equal(idsOf(answers).join(), numbered(limits.requests_per_connection).join())
  t.equal(answers.at(-2)?.headers.connection, 'keep-alive')
  t.equal(answers.at(-1)?.headers.connection, 'close')
})

t.test('pages and their files have a limit far beyond what browsers ask for', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'on', LOG_LEVEL: 'error' } })
  const max = limits.rate_pages_per_address
  const socket = await open(t, service)
  const answers = await sendInBatches(socket, max, '/api/docs/static/favicon.svg')
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]))
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
