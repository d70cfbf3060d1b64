/** In a streaming pair, the primary fails under load, the standby takes over, and the service finds it. */
import t from 'tap'
import { migrate } from '../src/platform/database/migrate.js'
import { startService } from './service.js'
import { startPair } from './streaming-pair.js'
import { until } from './until.js'

const CALLERS = 8
const MINIMUM = 6

t.test('a failover loses no acknowledged write, and the service finds the new primary', async (t) => {
  const { first, second } = await startPair(t, { synchronous: true })
  const { username, password, host, pathname } = first.address
  // The standby comes first, so that the service has to look for the primary at startup.
  const hosts = `${second.address.host},${host}`
  const DATABASE_URL = `postgres://${username}:${password}@${hosts}${pathname}`
  await migrate(DATABASE_URL)
  const service = await startService(t, { env: { DATABASE_URL, LOG_LEVEL: 'silent' }, timeoutFactor: 1 })
  const { repohost } = service
  const call = async (token: string, path: string, body: object) => {
    const response = await fetch(`${service.url}/api${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as { token: string } }
  }

  /** On a busy machine, 503 can come at any time. */
  const untilDone = async (attempt: () => ReturnType<typeof call>) => {
    let reply = await attempt()
    while (reply.status === 503) reply = await attempt()
    return reply.body
  }

  const statuses = new Set<number>()
  const counted: number[] = []
  let isOver = false
  /** Sends one flush after the other, each until it is acknowledged. */
  const work = async (n: number) => {
    const login = `caller-${n}`
    const { token: repohostToken } = repohost.addUser(login)
    const { token } = await untilDone(() => call('', '/auth/verify', { repohost_token: repohostToken }))
    const workspace = { name: login, patterns: [`${login}/*`] }
    await untilDone(() => call(token, '/team/workspaces/create', workspace))
    const day = new Date().toISOString().slice(0, 10)
    counted[n] = 0
    while (!isOver) {
      const flush = {
        flush_id: `flush-${counted[n]}`,
        entries: [{ repo: `${login}/repo`, day, minutes: 1 }],
      }
      const { status } = await call(token, '/team/active-minutes', flush)
      statuses.add(status)
      if (status === 200) counted[n]++
    }
  }
  const all = Promise.all(Array.from({ length: CALLERS }, (_, n) => work(n)))
  const total = () => counted.reduce((sum, minutes) => sum + minutes, 0)
  await until(async () => total() >= CALLERS * MINIMUM, 'all are at work')
  await first.stop(AbortSignal.abort())
  const before = total()
  await second.sql`select pg_promote()`
  await until(async () => total() >= before + CALLERS * MINIMUM, 'work goes on')
  isOver = true
  await all
  statuses.delete(503)
  t.strictSame([...statuses], [200], 'only 503 while there is no primary')
  const found = await second.sql`
    select u.login, sum(a.minutes)::integer as minutes from daily_activity a join users u on u.id = a.user_id
    group by u.login order by u.login`
  t.same(
    found.map(({ minutes }) => minutes),
    counted,
    'every acknowledged minute is stored once',
  )
})
