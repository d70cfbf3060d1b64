/** A streaming pair of real servers. */
import { execFile } from 'node:child_process'
import { appendFile, chown, copyFile, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { startEmbedded } from '../src/platform/database/embedded/index.js'
import { temporaryFolder } from './process.js'
import { startTcpProxy } from './tcp-proxy.js'
import { until } from './until.js'

const run = promisify(execFile)
const quiet = { info: () => {}, warn: () => {}, error: () => {} }

interface Scope {
  teardown(work: () => unknown): void
}

/** Two servers, of which the second follows the first; with `synchronous`, what is committed there is on both. */
export const startPair = async (test: Scope, { synchronous = false } = {}) => {
  const start = async (dataDir: string) => {
    const server = await startEmbedded({ dataDir, maxConnections: 40, log: quiet })
    test.teardown(() => server.stop())
    const sql = postgres(server.url, { max: 1, onnotice: () => {}, connect_timeout: 30 })
    test.teardown(() => sql.end({ timeout: 1 }))
    // Several hosts in one URL are hosts of TCP.
    const proxy = await startTcpProxy(test, server.url)
    return { ...server, sql, address: new URL(proxy.url), folder: dataDir }
  }
  const folders = { first: await temporaryFolder(test), second: await temporaryFolder(test) }
  const made = await startEmbedded({ dataDir: folders.first, maxConnections: 40, log: quiet })
  await made.stop()

  const cluster = join(folders.second, 'postgresql')
  await run('cp', ['-a', join(folders.first, 'postgresql'), cluster])
  const password = join(folders.second, 'postgresql-password')
  await copyFile(join(folders.first, 'postgresql-password'), password)
  const first = await start(folders.first)
  const { hostname, port, username } = new URL(first.url)
  const follow = `host=${decodeURIComponent(hostname)} port=${port} user=${username} password=${await readFile(password, 'utf8')}`
  await appendFile(join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${follow.trim()}'\n`)
  const signal = join(cluster, 'standby.signal')
  await writeFile(signal, '')
  const { uid, gid } = await stat(cluster)
  await chown(signal, uid, gid)
  const second = await start(folders.second)
  if (synchronous) {
    await first.sql`alter system set synchronous_standby_names = '*'`
    await first.sql`select pg_reload_conf()`
  }
  const state = synchronous ? 'sync' : 'async'
  await until(
    async () => (await first.sql`select from pg_stat_replication where sync_state = ${state}`).length === 1,
    'the second server follows',
  )
  return { first, second }
}
