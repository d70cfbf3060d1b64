import { once } from 'node:events'
import { request as sendRequest } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import { limits } from '../schemas/limits.js'
import { locksOfWorkspaces } from '../src/platform/database/locks.js'
import { countLockWaiters, lockWaiters, whileHeld } from './locks.js'
import { bombs, fillWithPatterns, oldBombs } from './many-patterns.js'
import { type Caller, type Reply, retryWhileUnavailable, startService } from './service.js'
import { until } from './until.js'

const AT_ONCE = limits.requests_at_once_per_caller

const serviceWith = (timeoutFactor?: number) =>
  startService(t, {
    env: { RATE_LIMITS: 'on', DATABASE_POOL_SIZE: '12' },
    ...(timeoutFactor !== undefined && { timeoutFactor }),
  })
const longTimeouts = await serviceWith()
/** Its requests wait for a lock as long as in production. */
const productionTimeouts = await serviceWith(1)
let scenes = 0

/** New callers with their full share, and a workspace each. */
const start = async (service = longTimeouts) => {
  const scene = scenes++
  const [ada, bob] = await Promise.all([service.signIn(`ada-${scene}`), service.signIn(`bob-${scene}`)])
  const { id } = await service.workspace(ada)
  const { id: bobs } = await service.workspace(bob)
  const path = (workspace: string) => `/api/team/workspaces/${workspace}`
  // The lock that every change of a workspace takes. On a cluster, locking its row would lock all workspaces.
  const lock = `select pg_advisory_xact_lock(${locksOfWorkspaces.administration}, hashtext($1::uuid::text))`
  const holdWorkspace: [string, string] = [lock, id]
  return { service, ada, bob, holdWorkspace, adas: path(id), bobs: path(bobs) }
}

t.test('a caller has few concurrent database requests and doesn’t delay anyone else', async (t) => {
  const { service, ada, bob, holdWorkspace, adas, bobs } = await start()
  let all: Promise<unknown> = Promise.resolve()
  await whileHeld(service, holdWorkspace, async () => {
    // On a busy machine, some give up before their turn comes.
    const rename = (n: number) =>
      until(
        async () => (await ada.patch(adas, { name: `name ${n}` })).status === 200,
        'those who waited have their turn',
      )
    all = Promise.all(Array.from({ length: 3 * AT_ONCE }, (_, n) => rename(n)))
    await lockWaiters(service, AT_ONCE)
    for (let n = 0; n < 5; n++) t.equal((await bob.patch(bobs, { name: `name ${n}` })).status, 200)
    t.equal(await countLockWaiters(service), AT_ONCE)
    t.equal((await service.request('GET', '/api/ready')).status, 200)
  })
  await all
})

t.test('a caller that gets no permit gets a slow_down error', async (t) => {
  const { service, ada, holdWorkspace, adas } = await start(productionTimeouts)
  let replies: Reply[] = []
  await whileHeld(service, holdWorkspace, async () => {
    // Each waits 2 s for the lock, so that the last ones would begin after 6 s.
    replies = await Promise.all(
      Array.from({ length: 4 * AT_ONCE }, (_, n) => ada.patch(adas, { name: `name ${n}` })),
    )
  })
  const rejected = replies.filter(({ status }) => status === 429)
  t.ok(rejected.length >= AT_ONCE, 'the last ones at least')
  t.ok(rejected.length <= 3 * AT_ONCE, 'the first ones have had their turn')
  // On a slow machine, earlier requests have used up the caller's share.
  const allowed = [AT_ONCE, limits.busy_seconds_per_caller].map(String)
  for (const { headers, body } of rejected) {
    t.equal(body.code, 'rate_limited')
    t.match(headers.get('retry-after'), /^[1-9]/)
    t.ok(allowed.includes(headers.get('ratelimit-limit') ?? ''))
    t.equal(headers.get('ratelimit-remaining'), '0')
    t.equal(headers.get('ratelimit-reset'), headers.get('retry-after'))
  }
  const served = await retryWhileUnavailable(() => ada.get('/api/me'))
  t.equal(served.status, 200, 'and is served again')
})

t.test('a caller that disconnects keeps the permit until the work is done', async (t) => {
  const { service, ada, holdWorkspace, adas } = await start()
  await whileHeld(service, holdWorkspace, async () => {
    const calls = Array.from({ length: 3 * AT_ONCE }, () => {
      const call = sendRequest(`${service.url}${adas}`, {
        method: 'PATCH',
        headers: { Authorization: `Bearer ${ada.token}`, 'Content-Type': 'application/json' },
      })
      call.on('error', () => {})
      call.end('{"name":"gone"}')
      return call
    })
    await lockWaiters(service, AT_ONCE)
    for (const call of calls) call.destroy()
    t.equal(await countLockWaiters(service), AT_ONCE, 'no other request starts')
  })
  const replies = await Promise.all(Array.from({ length: 2 * AT_ONCE }, () => ada.get('/api/me')))
  t.same(new Set(replies.map(({ status }) => status)), new Set([200]))
})

t.test('responses queued on a connection release their permits when it breaks', async (t) => {
  const { service, ada } = await start()
  const { port } = new URL(service.url)
  const one = `GET /api/team/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ada.token}\r\n\r\n`
  for (let round = 0; round < 4; round++) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(one.repeat(AT_ONCE + 1))
    await once(socket, 'data')
    socket.resetAndDestroy()
  }
  const replies = await Promise.all(Array.from({ length: 2 * AT_ONCE }, () => ada.get('/api/me')))
  t.same(new Set(replies.map(({ status }) => status)), new Set([200]))
})

t.test('a caller over the working-time share continues with one request at a time', async (t) => {
  const { service, ada, bob, holdWorkspace, adas, bobs } = await start(productionTimeouts)
  const rename = () => ada.patch(adas, { name: 'held' })
  // Each waits 2 s for the lock: with four at a time, the share is soon used up.
  await whileHeld(service, holdWorkspace, async () => {
    for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: AT_ONCE }, rename))
  })
  let all: Promise<Reply[]> = Promise.resolve([])
  await whileHeld(service, holdWorkspace, async () => {
    all = Promise.all(Array.from({ length: AT_ONCE }, rename))
    await lockWaiters(service)
    for (let n = 0; n < 5; n++) {
      const reply = await retryWhileUnavailable(() => bob.patch(bobs, { name: `name ${n}` }))
      t.equal(reply.status, 200)
      // Between two turns, no request waits.
      t.ok((await countLockWaiters(service)) <= 1, 'one at a time')
    }
    await all
  })
  const statuses = (await all).map(({ status }) => status).sort()
  // A request times out after 2 s at the lock, and after 5 s if it waits for its turn.
  t.same(new Set(statuses), new Set([429, 503]), 'others were rejected')
  t.equal(statuses[3], 503, 'one at least')
  for (const { status, headers, body } of await all) {
    if (status !== 429) continue
    t.equal(body.code, 'rate_limited')
    t.equal(headers.get('ratelimit-limit'), `${limits.busy_seconds_per_caller}`)
    t.equal(headers.get('ratelimit-remaining'), '0')
    t.match(headers.get('retry-after'), /^[1-9][0-9]?$/)
    t.equal(headers.get('ratelimit-reset'), headers.get('retry-after'))
  }
})

t.test('three callers with 9,750 new or old patterns each don’t delay anyone else', async (t) => {
  const { service, ada, adas } = await start()
  await ada.put(`${adas}/patterns`, { patterns: ['ordinary/*'] })
  const attackers: Caller[] = []
  for (const [login, pattern] of Object.entries({ mal: bombs, mel: bombs, mil: oldBombs })) {
    attackers.push(await service.signIn(login))
    await fillWithPatterns(service, login, 195, pattern)
  }
  const day = new Date().toISOString().slice(0, 10)
  const entriesOf = (owner: string, count: number) =>
    Array.from({ length: count }, (_, n) => ({
      repo: `${owner}/${'a'.repeat(90)}${100 + n}`,
      day,
      minutes: 0,
    }))
  let isOver = false
  const responses: Reply[] = []
  const attack = async (caller: Caller, n: number) => {
    // The largest allowed size, and a larger one.
    const entries = entriesOf(caller.login, n % 2 === 0 ? 1 : 200)
    while (!isOver && responses.length < 600)
      responses.push(await caller.post('/api/team/active-minutes', { entries }))
  }
  const attacks = attackers.flatMap((caller) =>
    Array.from({ length: 2 * AT_ONCE }, (_, n) => attack(caller, n)),
  )
  await until(async () => responses.length > 0, 'the attack goes on')
  for (let n = 0; n < 15; n++) {
    const flush = await ada.post('/api/team/active-minutes', { entries: entriesOf('ordinary', 20) })
    t.equal(flush.status, 200)
  }
  isOver = true
  await Promise.all(attacks)
  t.same(
    responses.filter(({ status }) => ![200, 413, 429].includes(status)),
    [],
  )
})

t.test('an address can have few unfinished bodies at a time, and probes still get responses', async (t) => {
  const { service } = await start()
  const { port } = new URL(service.url)
  const sockets = Array.from({ length: limits.requests_at_once_per_address }, () => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      'POST /api/auth/logout HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
    )
    return socket
  })
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  const rejected = await until(async () => {
    const reply = await service.request('GET', '/api/limits')
    return reply.status === 429 && reply
  }, 'no place is left for the address')
  t.hasStrict(rejected.body, { code: 'rate_limited' })
  for (const probe of ['/api/health', '/api/ready'])
    t.equal((await service.request('GET', probe)).status, 200)
})
