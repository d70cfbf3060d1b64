import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { longestStall } from '../bench/harness.js'
import { startRepohost } from '../demo/repohost.js'
import { ATTACK_SIZES, type Attack, attack, attacksOn, type Document } from './attack.js'
import { createTestDatabase } from './database.js'
import { freePort, launch, onDatabase, ready } from './process.js'

type Test = Parameters<typeof launch>[0]

/** Three times what is promised: other tests run on the machine meanwhile. */
const BOUND = 150
/**
 * Milliseconds that another client may wait beside pipelined requests, with all of the machine's other work. Without a bound on
 * requests in progress it waits for 600 to 5,800.
 */
const WAIT_BOUND = 500

/** The service as a process of its own, which tells how long its event loop stood still. */
const startTarget = async (t: Test) => {
  const { url: databaseUrl, drop } = await createTestDatabase()
  t.teardown(drop)
  const repohost = await startRepohost()
  t.teardown(() => repohost.close())
  const { token: hostToken } = repohost.addUser('ada')
  const metricsPort = await freePort()
  const service = await ready(
    launch(t, await freePort(), {
      ...onDatabase(databaseUrl),
      REPOHOST_API_URL: repohost.url,
      METRICS_PORT: String(metricsPort),
      LOG_LEVEL: 'error',
    }),
  )
  return { url: service.url, metricsPort, hostToken }
}

t.test('no request makes others wait, whatever it contains', async (t) => {
  const service = await startTarget(t)
  const { hostToken } = service
  const verified = await fetch(`${service.url}/api/auth/verify`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ repohost_token: hostToken }),
  })
  const { token } = (await verified.json()) as { token: string }
  const document = (await (await fetch(`${service.url}/api/openapi.json`)).json()) as Document
  const credentials = { authorization: `Bearer ${token}`, 'x-repohost-token': hostToken }
  const values = { owner: 'ada', repo: 'a' }
  const largest = ATTACK_SIZES.slice(-1)

  // `bench/attack.ts` sends all of them. These are of each kind, and each has held the service up once.
  const fillings = [
    '1.00…01',
    '99…9',
    '16 digits',
    '{}',
    'own keys',
    'new keys',
    '1.5e308',
    '\\"',
    ' ',
    ',',
    '" ',
  ]
  const isChosen = ({ operation, method, place, filling }: Attack) =>
    fillings.includes(filling) &&
    ((operation === 'pushSettings' && ['body', 'body/settings'].includes(place)) ||
      (method === 'GET' && ['header authorization', 'header accept-encoding'].includes(place)))
  const all = [...attacksOn(document, values, credentials, largest)]
  const verify = all.find(({ operation }) => operation === 'verifyRepohostToken') as Attack
  const attacks = all.filter(isChosen)
  t.ok(attacks.length > 5)
  for (const [place, body] of [
    ['number', `{"repohost_token":"x","a":1.${'0'.repeat(1_000_000)}1}`],
    ['numbers', `{"repohost_token":"x","a":[${'1234567890123456,'.repeat(60_000)}1]}`],
    ['own keys', `{"settings":{"ext.a":[${Array.from({ length: 90_000 }, (_, n) => `{"${n}a":1}`)}]}}`],
  ] as const) {
    attacks.push({ ...verify, place, filling: place, body, headers: { 'content-type': 'application/json' } })
  }
  for (const hostile of attacks) {
    const { stall, status } = await attack(service, hostile, BOUND)
    const what = `${hostile.operation}, ${hostile.place}, ${hostile.filling}`
    t.ok(stall <= BOUND, `${what}: ${stall.toFixed(0)} ms`)
    t.ok(status > 0 && status < 500, `${what}: ${status}`)
  }
})

/** Sends 64 KiB of pipelined requests on each of several connections, and waits until the service has closed them. */
const pipeline = async (url: string, path: string, connections: number) => {
  const { hostname, port } = new URL(url)
  const text = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
  const chunk = text.repeat(Math.floor(65_536 / text.length))
  const send = async () => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.resume()
    socket.write(chunk)
    await Promise.race([once(socket, 'close'), sleep(10_000)])
    socket.destroy()
  }
  await Promise.all(Array.from({ length: connections }, send))
}

/** The longest time for which another client waited for `/api/health` while `work` went on. */
const longestWait = async (url: string, work: () => Promise<void>) => {
  let isOver = false
  const working = work().finally(() => {
    isOver = true
  })
  let longest = 0
  while (!isOver) {
    const start = performance.now()
    await (await fetch(`${url}/api/health`)).text()
    longest = Math.max(longest, performance.now() - start)
  }
  await working
  return longest
}

t.test('pipelined requests make no one else wait', async (t) => {
  const { url, metricsPort } = await startTarget(t)
  for (const connections of [1, 50]) {
    for (const path of ['/', '/api/openapi.json', '/api/health', '/nowhere', '/api/nowhere']) {
      const outcome = { stall: Number.POSITIVE_INFINITY, wait: Number.POSITIVE_INFINITY }
      // Again while it is too long: a machine that has other things to do stalls now and then.
      for (let attempt = 0; attempt < 4 && (outcome.stall > BOUND || outcome.wait > WAIT_BOUND); attempt++) {
        await longestStall(metricsPort)
        const wait = await longestWait(url, () => pipeline(url, path, connections))
        outcome.wait = Math.min(outcome.wait, wait)
        outcome.stall = Math.min(outcome.stall, await longestStall(metricsPort))
      }
      const what = `${path}, ${connections} connections`
      t.ok(outcome.stall <= BOUND, `${what}: the service stood still for ${outcome.stall.toFixed(0)} ms`)
      t.ok(outcome.wait <= WAIT_BOUND, `${what}: another client waited for ${outcome.wait.toFixed(0)} ms`)
    }
  }
})
