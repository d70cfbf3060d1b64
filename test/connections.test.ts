import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import postgres from 'postgres'
import t from 'tap'
import { readToday } from '../src/platform/time/clock.js'
import { hasProperties } from './has-properties.js'
import { type Caller, DASHBOARD, reuseService, type Service, startService, startTeam } from './service.js'
import { until } from './until.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** A client that keeps its side of the connection open, whatever the service does. */
const stubborn = async ({ url }: { url: string }, text: string): Promise<Socket> => {
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({ host, port: Number(port), allowHalfOpen: true })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

/** All bytes that the client reads until the service ends the connection. */
const readToEnd = async (socket: Socket): Promise<string> => {
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  if (!socket.readableEnded && !socket.closed)
    await Promise.race([once(socket, 'end'), once(socket, 'close')])
  return text
}

const openConnections = (service: Service) =>
  new Promise<number>((resolve) => service.app.server.getConnections((_error, count) => resolve(count)))

const noneOpen = (service: Service) =>
  until(async () => (await openConnections(service)) === 0, 'no one is connected')

const headersOf = (response: string) =>
  Object.fromEntries(
    (response.split('\r\n\r\n')[0] ?? '')
      .split('\r\n')
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  )

const everyResponse = {
  'x-request-id': /^[0-9a-f-]{36}$/,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'strict-transport-security': 'max-age=31536000',
  'cache-control': 'no-store',
  'content-type': 'application/problem+json; charset=utf-8',
  vary: /Origin/,
}

t.test('requests that Node rejects get the usual error, and their connection is closed', async (t) => {
  const service = await startService(t, {
    timeouts: { headers: 2_000, request: 3_000, check: 50, linger: 300 },
  })
  const head = 'POST /api/auth/logout HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  for (const [what, text, status, code] of [
    ['no HTTP', 'nonsense\r\n\r\n', 400, 'bad_request'],
    ['no HTTP, and more of it', `nonsense\r\n\r\n${'x'.repeat(500_000)}`, 400, 'bad_request'],
    [
      'headers too large',
      `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(200_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['headers that do not end', 'GET / HTTP/1.1\r\nHost: x\r\n', 408, 'request_timeout'],
    ['no request at all', '', 408, 'request_timeout'],
    ['a body that does not end', `${head}Content-Length: 100\r\n\r\n{`, 408, 'request_timeout'],
    ['a length that is none', `${head}Content-Length: x\r\n\r\n`, 400, 'bad_request'],
  ] as const) {
    const socket = await stubborn(service, text)
    const response = await readToEnd(socket)
    t.match(response, new RegExp(`^HTTP/1.1 ${status} `), what)
    hasProperties(t, headersOf(response), { ...everyResponse, connection: 'close' }, what)
    const problem = JSON.parse(response.split('\r\n\r\n')[1] ?? '')
    t.hasStrict(problem, { status, code, request_id: headersOf(response)['x-request-id'] }, what)
    t.ok(await noneOpen(service), `${what}: the service has closed it`)
    socket.destroy()
  }
})

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)

t.test(
  'a second listening address responds and closes like the first',
  { skip: !hasIpv6 && 'there is no ::1 on this machine' },
  async (t) => {
    const service = await startService(t, {
      hosts: ['127.0.0.1', '::1'],
      timeouts: { headers: 2_000, check: 50, linger: 300 },
    })
    const second = { url: service.url.replace('127.0.0.1', '[::1]') }
    t.match(await (await fetch(`${second.url}/api/health`)).json(), { ok: true })
    for (const [text, status] of [
      ['nonsense\r\n\r\n', 400],
      ['GET / HTTP/1.1\r\n', 408],
    ] as const) {
      const response = await readToEnd(await stubborn(second, text))
      t.match(response, new RegExp(`^HTTP/1.1 ${status} `))
      hasProperties(t, headersOf(response), { ...everyResponse, connection: 'close' })
    }
    const idle = await stubborn(second, 'GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(idle, 'data')
    await service.app.close()
    await readToEnd(idle)
    await t.rejects(stubborn(second, ''), { code: 'ECONNREFUSED' })
  },
)

t.test('requests that fail before any hook runs get the usual error', async (t) => {
  const service = await reuseService(t)
  const close = 'Connection: close\r\n'
  for (const [what, text, code] of [
    ['a path', `GET /api/settings/ada/%zz HTTP/1.1\r\nHost: x\r\n${close}`, 'validation_failed'],
    [
      'a path of a parameter',
      `GET /api/settings/a/${'a'.repeat(2_500)} HTTP/1.1\r\nHost: x\r\n${close}`,
      'validation_failed',
    ],
    [
      'an expectation',
      `GET /api/health HTTP/1.1\r\nHost: x\r\nExpect: 100-something\r\n${close}`,
      'bad_request',
    ],
    ['no host', `GET /api/health HTTP/1.1\r\n${close}`, 'bad_request'],
  ] as const) {
    const response = await readToEnd(await stubborn(service, `${text}Origin: ${DASHBOARD}\r\n\r\n`))
    t.match(response, /^HTTP\/1.1 400 /, what)
    hasProperties(
      t,
      headersOf(response),
      {
        ...everyResponse,
        'access-control-allow-origin': DASHBOARD,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': /ETag/,
      },
      what,
    )
    t.ok(response.includes(`"code":"${code}"`), what)
    const stranger = await readToEnd(
      await stubborn(service, `${text}Origin: https://else.example.com\r\n\r\n`),
    )
    t.equal(headersOf(stranger)['access-control-allow-origin'], '*', what)
    t.equal(headersOf(stranger)['access-control-allow-credentials'], undefined, what)
  }
  const old = await readToEnd(await stubborn(service, 'GET /api/health HTTP/1.0\r\n\r\n'))
  t.match(old, /^HTTP\/1.1 200 /, 'an old client names no host')
  const polite = await stubborn(
    service,
    `POST /api/auth/logout HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 0\r\n${close}\r\n`,
  )
  t.match(await readToEnd(polite), /^HTTP\/1.1 100 [\s\S]*HTTP\/1.1 200 /)
})

t.test('bodies that never end leave neither connections nor memory behind', async (t) => {
  const service = await startService(t, {
    timeouts: { request: 10_000, headers: 10_000, check: 100, linger: 100 },
  })
  collectGarbage()
  const before = process.memoryUsage().arrayBuffers
  const body = 'x'.repeat(1_000_000)
  const clients = await Promise.all(
    Array.from({ length: 40 }, (_, index) => {
      const path = index % 2 === 0 ? 'auth/logout' : 'auth/verify'
      return stubborn(
        service,
        `POST /api/${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1040000\r\n\r\n${body}`,
      )
    }),
  )
  await until(() => process.memoryUsage().arrayBuffers > before + 30_000_000, 'the bodies are held')
  for (const response of await Promise.all(clients.map(readToEnd))) t.match(response, /^HTTP\/1.1 408 /)
  t.ok(await noneOpen(service))
  await until(() => {
    collectGarbage()
    return process.memoryUsage().arrayBuffers < before + 10_000_000
  }, 'the memory is back')
  for (const client of clients) client.destroy()
  t.notMatch(service.logs.join(''), /"level":50/, 'and none is logged as an error')
})

t.test('after an invalid path, the service doesn’t wait for the rest of the body', async (t) => {
  const service = await startService(t, {
    timeouts: { headers: 3_000, request: 3_000, check: 50, linger: 100 },
  })
  const client = await stubborn(
    service,
    'POST /api/settings/ada/%zz HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n',
  )
  const sending = setInterval(() => client.write('x'), 100)
  t.teardown(() => clearInterval(sending))
  t.match(await readToEnd(client), /^HTTP\/1.1 400 /)
  t.ok(await noneOpen(service))
})

const importHead = ({ token }: Caller) =>
  `POST /api/wakatime/v1/users/current/import HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n`

t.test('a heartbeat file may take longer to arrive than other bodies, one per person', async (t) => {
  const service = await startService(t, {
    timeouts: { headers: 3_000, request: 3_000, uploadRate: 0, check: 50 },
  })
  const ada = await service.signIn('ada')
  const path = '/api/wakatime/v1/users/current/import'
  const head = importHead(ada)
  const slow = await stubborn(service, `${head}Content-Length: 40\r\n\r\n`)
  await sleep(5_000)
  const second = await ada.request('POST', path, { body: '[]' })
  t.strictSame([second.status, second.body.code], [429, 'rate_limited'])
  slow.write('[{"time": 1790845200, "project": "a/b"}]')
  t.match(await readToEnd(slow), /^HTTP\/1\.1 202 /)
})

t.test('a heartbeat file that arrives byte by byte doesn’t keep others from sending theirs', async (t) => {
  const service = await startService(t, {
    timeouts: { headers: 500, request: 500, check: 50, linger: 100, idle: 500 },
  })
  const ada = await service.signIn('ada')
  const client = await stubborn(service, `${importHead(ada)}Content-Length: 100000\r\n\r\n[`)
  const sending = setInterval(() => client.write(' '), 100)
  t.teardown(() => clearInterval(sending))
  t.match(await readToEnd(client), /^HTTP\/1\.1 408 /)
  t.ok(await noneOpen(service))
})

t.test('a heartbeat file that was too slow isn’t imported, even if the rest still arrives', async (t) => {
  const service = await startService(t, {
    timeouts: { headers: 500, request: 500, check: 50, linger: 2_000 },
  })
  const ada = await service.signIn('ada')
  const [start, rest] = ['[{"time": 1790845200,', ' "project": "a/b"}]']
  const length = start.length + rest.length
  const client = await stubborn(service, `${importHead(ada)}Content-Length: ${length}\r\n\r\n${start}`)
  t.match(await readToEnd(client), /^HTTP\/1\.1 408 /)
  client.write(rest)
  t.ok(await noneOpen(service))
  const { body } = await ada.get('/api/wakatime/v1/users/current/import')
  t.equal(body.state, 'none')
})

t.test('a caller that disconnects while sending isn’t logged as a service failure', async (t) => {
  const service = await startService(t)
  let arrived = false
  service.app.server.once('request', () => {
    arrived = true
  })
  const socket = await stubborn(
    service,
    'POST /api/auth/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
  )
  await until(() => arrived, 'the request has arrived')
  socket.destroy()
  t.ok(await noneOpen(service))
  t.notMatch(service.logs.join(''), /"level":50|unavailable/)
})

/** The largest response that needs no account. */
const LARGE = '/api/docs/static/swagger-ui-bundle.js'
const pipelined = (count: number) => `GET ${LARGE} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(count)

t.test('a client that stops reading is disconnected, and a slow reader isn’t', async (t) => {
  const inactivity = 6_000
  const service = await startService(t, { timeouts: { inactivity } })
  const file = await fetch(service.url + LARGE, {
    headers: { 'Accept-Encoding': 'identity', Connection: 'close' },
  })
  const length = (await file.arrayBuffer()).byteLength
  const count = Math.ceil(12_000_000 / length)
  const deaf = await Promise.all(Array.from({ length: 10 }, () => stubborn(service, pipelined(count))))
  for (const socket of deaf) socket.pause()
  const slow = await stubborn(service, `${pipelined(count)}`)
  slow.pause()
  let read = 0
  let chunks = 0
  while (read < count * length && !slow.closed) {
    const chunk = slow.read() as Buffer | null
    read += chunk?.length ?? 0
    // Much shorter pauses than the timeout for inactivity.
    if (chunks++ < 22) await sleep(inactivity / 15)
    else await sleep(1)
  }
  t.ok(read >= count * length, 'the whole response has arrived')
  slow.destroy()
  t.ok(await noneOpen(service), 'no other client is connected')
  for (const socket of deaf) socket.destroy()
})

/** All response streams that are created from now on. */
const watchStreams = (test: { teardown(work: () => unknown): void }): Readable[] => {
  const streams: Readable[] = []
  const { from: make } = Readable
  test.teardown(() => {
    Readable.from = make
  })
  Readable.from = (...given) => {
    const stream = make(...given)
    streams.push(stream)
    return stream
  }
  return streams
}

t.test('a stream without a reader is closed', async (t) => {
  const service = await startService(t, { timeouts: { inactivity: 6_000 } })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const today = await readToday(service.database)
  // 10 MB in few rows, which is more than the network buffers.
  const user = 'a'.repeat(290)
  const sql = postgres(service.databaseUrl, { max: 1 })
  await sql.unsafe(
    `with people as (
       insert into users (id, repohost_id, login, login_key, avatar_url)
       select gen_random_uuid(), 1000000 + n, $2 || n, $2 || n, '' from generate_series(1, 100) n
       returning id
     )
     insert into daily_activity (workspace_id, user_id, repo_key, day, minutes)
     select $1::uuid, people.id, 'acme/a', $3::date - d, 10 from people, generate_series(0, 360) d`,
    [id, user, today],
  )
  await sql.end()
  const streams = watchStreams(t)
  let connection: Socket | undefined
  service.app.server.once('connection', (accepted) => {
    connection = accepted
  })
  const from = new Date(Date.parse(today) - 360 * 86_400_000).toISOString().slice(0, 10)
  const socket = await stubborn(
    service,
    `GET /api/team/dashboard?workspace=${id}&from=${from}&to=${today}&format=csv HTTP/1.1\r\nHost: x\r\nAccept: text/csv\r\nAuthorization: Bearer ${ada.token}\r\n\r\n`,
  )
  socket.pause()
  await until(() => streams[0]?.destroyed, 'the stream is destroyed')
  t.equal(streams[0]?.readableEnded, false, 'before it has sent everything')
  await until(() => connection?.destroyed, 'the connection has ended')
  socket.destroy()
})

t.test('HEAD doesn’t generate a long response', async (t) => {
  const { ada, id } = await startTeam(t)
  const streams = watchStreams(t)
  const path = `/api/team/dashboard?workspace=${id}&format=csv`
  t.hasStrict(await ada.request('HEAD', path), { status: 200, text: '' })
  t.equal(streams.length, 0)
  t.equal((await ada.get(path)).status, 200)
  t.equal(streams.length, 1)
})
