/** Limits that instances count together, on a real Redis that is killed, frozen and started again. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import t, { type Test } from 'tap'
import { limits } from '../schemas/limits.js'
import { LocalRateCounter } from '../src/platform/rate-limits/counts.js'
import { connectRedis } from '../src/platform/rate-limits/redis.js'
import { hasProperties } from './has-properties.js'
import { freePort, temporaryFolder } from './process.js'
import { type Caller, type Service, startService } from './service.js'
import { until } from './until.js'

const PASSWORD = 'a password of redis'

const hasRedis = () => {
  try {
    execFileSync('redis-server', ['--version'])
    return true
  } catch {
    return false
  }
}

const startRedis = async (t: Test) => {
  const [port, folder] = [await freePort(), await temporaryFolder(t)]
  const url = `redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`
  let child: ChildProcess | undefined
  const start = () => {
    const settings = { port, bind: '127.0.0.1', dir: folder, save: '', requirepass: PASSWORD }
    child = spawn(
      'redis-server',
      Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`]),
      { stdio: 'ignore' },
    )
  }
  const signal = (name: NodeJS.Signals) => child?.kill(name)
  t.teardown(() => signal('SIGKILL'))
  start()
  /** The output of the command-line client, one line for each part of the reply. */
  const ask = (...command: string[]) => {
    const args = ['-p', `${port}`, '-a', PASSWORD, '--no-auth-warning', ...command]
    return execFileSync('redis-cli', args, { encoding: 'utf8' }).split('\n').filter(Boolean)
  }
  await until(() => {
    try {
      return ask('ping')[0] === 'PONG'
    } catch {
      return false
    }
  }, 'Redis answers')
  return { url, port, start, signal, ask }
}

t.test('limits in Redis', { skip: !hasRedis() && 'there is no redis-server on this machine' }, async (t) => {
  const redis = await startRedis(t)
  const env = { RATE_LIMITS: 'on', REDIS_URL: redis.url }
  const one = await startService(t, { env })
  const two = await startService(t, { env, beside: one })
  const areShared = (isShared = true) =>
    until(
      () => [one, two].every(({ app }) => app.rateLimits.areShared?.() === isShared),
      isShared ? 'limits are shared' : 'limits are not shared',
    )
  /** Signs one caller in on both services. */
  const signIn = async (login: string) => [await one.signIn(login), await two.signIn(login)] as const
  const max = limits.rate_join_per_caller
  const lookUp = (caller: Caller) => caller.get('/api/team/invites/WRONG')
  const lookUps = async (caller: Caller, times: number) => {
    const statuses: number[] = []
    for (let n = 0; n < times; n++) statuses.push((await lookUp(caller)).status)
    return statuses
  }
  const troubles = ({ logs }: Service) =>
    logs.map((line) => JSON.parse(line)).filter(({ level, msg }) => level === 40 && /Redis/.test(msg))

  t.test('two instances share one count', async (t) => {
    const [here, there] = await signIn('ada')
    t.strictSame([...(await lookUps(here, 6)), ...(await lookUps(there, max - 6))], Array(max).fill(404))
    for (const caller of [there, here]) {
      const { status, headers, body } = await lookUp(caller)
      t.hasStrict({ status, body }, { status: 429, body: { code: 'rate_limited' } })
      t.equal(headers.get('ratelimit-limit'), `${max}`)
      t.ok(Number(headers.get('retry-after')) <= 60)
    }
    t.equal((await here.get('/api/me')).status, 200, 'each limit by itself')
    t.equal((await lookUp((await signIn('bob'))[0])).status, 404, 'and each caller')
  })

  t.test('a new account of the same person continues the old count, on either instance', async (t) => {
    const [here, there] = await signIn('carol')
    t.strictSame(await lookUps(here, max), Array(max).fill(404))
    t.equal((await there.request('DELETE', '/api/me', { body: { confirm: 'carol' } })).status, 200)
    for (const service of [one, two]) {
      const again = await service.signIn('carol', { id: here.repohostId })
      t.equal((await lookUp(again)).status, 429)
    }
  })

  t.test('all Redis keys have one prefix and expire', async (t) => {
    // A service that looks whether Redis is back writes a key of its own.
    const keys = redis.ask('keys', '*').filter((key) => key !== 'team-settings:probe')
    t.ok(keys.length > 0)
    for (const key of keys) {
      t.match(key, /^team-settings:[a-z_]+:/)
      const left = Number(redis.ask('pttl', key)[0])
      t.ok(left !== -1 && left <= 60_000, `${key} goes by itself`)
    }
  })

  t.test('a refund that arrives after its window gives no credit in the next one', async (t) => {
    const fallback = new LocalRateCounter()
    const told = () => {}
    const counts = await connectRedis({
      url: redis.url,
      secret: 'any',
      fallback,
      onLost: told,
      onRestored: told,
    })
    t.teardown(() => counts.close())
    const add = async (amount: 1 | -1) => (await counts.add('invite', 'judy', 60_000, amount)).count
    const before = redis.ask('keys', '*')
    t.strictSame([await add(1), await add(1)], [1, 2])
    redis.ask('del', ...redis.ask('keys', '*').filter((key) => !before.includes(key)))
    t.strictSame([await add(1), await add(-1), await add(-1), await add(1)], [1, 0, 0, 1])
  })

  t.test('host tokens that the host rejects are counted across both instances', async (t) => {
    const [here, there] = await signIn('dave')
    const statuses: number[] = []
    for (let n = 0; n <= limits.rate_refused_tokens_per_caller; n++) {
      const caller = n % 2 === 0 ? here : there
      const headers = { 'X-Repohost-Token': 'not-a-token' }
      statuses.push((await caller.push('dave/repo', {}, headers)).status)
    }
    t.equal(statuses.pop(), 429)
    t.strictSame(new Set(statuses), new Set([401]))
    t.equal((await there.push('dave/repo', {})).status, 429)
  })

  t.test('with one rejection left, all calls that the host accepts pass on both instances', async (t) => {
    const callers = await signIn('heidi')
    const push = async (n: number, headers = {}) =>
      (await callers[n % 2]?.push(`heidi/${n}`, {}, headers))?.status
    const wrong = { 'X-Repohost-Token': 'not-a-token' }
    const refused: unknown[] = []
    for (let n = 1; n < limits.rate_refused_tokens_per_caller; n++) refused.push(await push(n, wrong))
    t.strictSame(new Set(refused), new Set([401]))
    t.strictSame(await Promise.all(Array.from({ length: 8 }, (_, n) => push(n))), Array(8).fill(200))
    t.strictSame([await push(0, wrong), await push(0), await push(1)], [401, 429, 429])
  })

  t.test('while Redis is down, each instance counts on its own and logs it once', async (t) => {
    await areShared()
    const known = [one, two].map((service) => troubles(service).length)
    redis.signal('SIGKILL')
    await areShared(false)
    const [here, there] = await signIn('erin')
    for (const caller of [here, there]) {
      t.strictSame(await lookUps(caller, max), Array(max).fill(404))
      t.equal((await lookUp(caller)).status, 429)
    }
    t.equal((await one.request('GET', '/api/ready')).status, 200)
    t.strictSame(
      [one, two].map((service) => troubles(service).length),
      known.map((times) => times + 1),
    )
    redis.start()
    await areShared()
    const [again, beside] = await signIn('frank')
    t.strictSame([...(await lookUps(again, 5)), ...(await lookUps(beside, 5))], Array(10).fill(404))
    t.equal((await lookUp(again)).status, 429, 'and is asked again once it is back')
  })

  t.test('an unresponsive Redis isn’t asked again', async (t) => {
    const [here, there] = await signIn('grace')
    redis.signal('SIGSTOP')
    const callers = [here, there, here, there]
    const replies = await Promise.all(callers.map((caller) => caller.get('/api/me')))
    t.strictSame(new Set(replies.map(({ status }) => status)), new Set([200]))
    await areShared(false)
    t.strictSame(await lookUps(there, max), Array(max).fill(404))
    redis.signal('SIGCONT')
    await areShared()
  })

  t.test('a wrong password is reported as such', async (t) => {
    const REDIS_URL = `redis://:wrong@127.0.0.1:${redis.port}`
    const other = await startService(t, { env: { ...env, REDIS_URL }, beside: one })
    hasProperties(t, troubles(other), [{ reason: 'Redis rejects the user or the password' }])
    t.notMatch(other.logs.join(''), /wrong@/)
    t.equal((await (await other.signIn('heidi')).get('/api/me')).status, 200)
  })
})
