/** A streaming pair: the primary ends under load, the standby takes over, and the service finds it. */
import { execFile } from 'node:child_process'
import { appendFile, chown, copyFile, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { startRepohost } from '../demo/repohost.js'
import { startEmbedded } from '../src/db/embedded/index.js'
import { freePort, launch, onDatabase, ready, temporaryFolder } from './process.js'
import { until } from './until.js'

const run = promisify(execFile)
const quiet = { info: () => {}, warn: () => {}, error: () => {} }
const CALLERS = 8
const MINIMUM = 20

/** Two servers, of which the second follows the first: what is committed there is on both. */
const startPair = async (t: Test) => {
  const start = async (dataDir: string) => {
    const server = await startEmbedded({ dataDir, maxConnections: 40, log: quiet })
    t.teardown(() => server.stop())
    const sql = postgres(server.url, { max: 1, onnotice: () => {}, connect_timeout: 2 })
    t.teardown(() => sql.end({ timeout: 1 }))
    return { ...server, sql, address: new URL(server.url) }
  }
  const folders = { first: await temporaryFolder(t), second: await temporaryFolder(t) }
  const made = await startEmbedded({ dataDir: folders.first, maxConnections: 40, log: quiet })
  await made.stop()

  const cluster = join(folders.second, 'postgresql')
  await run('cp', ['-a', join(folders.first, 'postgresql'), cluster])
  const password = join(folders.second, 'postgresql-password')
  await copyFile(join(folders.first, 'postgresql-password'), password)
  const first = await start(folders.first)
  const { hostname, port, username } = first.address
  const follow = `host=${hostname} port=${port} user=${username} password=${await readFile(password, 'utf8')}`
  await appendFile(join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${follow.trim()}'\n`)
  const signal = join(cluster, 'standby.signal')
  await writeFile(signal, '')
  const { uid, gid } = await stat(cluster)
  await chown(signal, uid, gid)
  const second = await start(folders.second)
  await first.sql`alter system set synchronous_standby_names = '*'`
  await first.sql`select pg_reload_conf()`
  await until(
    async () => (await first.sql`select from pg_stat_replication where sync_state = 'sync'`).length === 1,
    'the second server follows',
  )
  return { first, second }
}

t.test('a failover loses nothing that was acknowledged, and the service finds the new primary', async (t) => {
  const { first, second } = await startPair(t)
  const repohost = await startRepohost()
  t.teardown(() => repohost.close())
  const { username, password, host, pathname } = first.address
  // The standby goes first, so that a start, too, must look for the primary.
  const hosts = `${second.address.host},${host}`
  const service = await ready(
    launch(t, await freePort(), {
      ...onDatabase(`postgres://${username}:${password}@${hosts}${pathname}`),
      REPOHOST_URL: repohost.url,
      REPOHOST_API_URL: repohost.url,
      LOG_LEVEL: 'silent',
    }),
  )
  const call = async (token: string, path: string, body: object) => {
    const response = await fetch(`${service.url}/api${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as { token: string } }
  }

  const statuses = new Set<number>()
  const counted: number[] = []
  let isOver = false
  /** Sends one flush after the other, each until it is acknowledged. */
  const work = async (n: number) => {
    const login = `caller-${n}`
    const { token: repohostToken } = repohost.addUser(login)
    const { token } = (await call('', '/auth/verify', { repohost_token: repohostToken })).body
    await call(token, '/team/workspaces/create', { name: login, patterns: [`${login}/*`] })
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
  t.strictSame([...statuses], [200], 'nothing but 503 while nobody is the primary')
  const found = await second.sql`
    select u.login, sum(a.minutes)::integer as minutes from activity a join users u on u.id = a.user_id
    group by u.login order by u.login`
  t.same(
    found.map(({ minutes }) => minutes),
    counted,
    'every acknowledged minute is there once',
  )
})
