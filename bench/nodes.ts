/** PostgreSQL servers of a benchmark: one, and a cluster with the extension Citus. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { findAccount, serverEnvironment } from '../src/platform/database/embedded/account.js'
import { type CleanUp, freePort } from './harness.js'

const run = promisify(execFile)

/** The programs of a PostgreSQL with Citus. */
const programs = process.env.PGBIN ?? '/usr/lib/postgresql/15/bin'

const SETTINGS = [
  "listen_addresses = '127.0.0.1'",
  "unix_socket_directories = ''",
  'max_connections = 200',
  'max_worker_processes = 32',
  // Shards can move.
  'wal_level = logical',
  'shared_buffers = 256MB',
  'max_wal_size = 4GB',
  "log_min_messages = 'panic'",
]

export interface Server {
  url: string
  /** Kills it, as if its machine had failed, until `start`. */
  kill(): Promise<void>
  start(): Promise<void>
}

/** A durable server in a folder for this run. */
const startServer = async (cleanUp: CleanUp, settings: string[]): Promise<Server> => {
  const account = await findAccount()
  const folder = await mkdtemp(join(tmpdir(), 'bench-node-'))
  cleanUp(() => rm(folder, { recursive: true }))
  const data = join(folder, 'data')
  await mkdir(data)
  if (account) for (const path of [folder, data]) await chown(path, account.uid, account.gid)
  const as = { ...account, cwd: '/', env: serverEnvironment() }
  await run(
    join(programs, 'initdb'),
    ['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--no-sync'],
    as,
  )
  const port = await freePort()
  await appendFile(join(data, 'postgresql.conf'), [`port = ${port}`, ...SETTINGS, ...settings, ''].join('\n'))
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  let end = async (_signal: NodeJS.Signals): Promise<void> => {}
  const start = async () => {
    const child = spawn(join(programs, 'postgres'), ['-D', data], {
      ...as,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const ended = once(child, 'exit')
    end = async (signal) => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      await ended
    }
    await waitFor(url)
  }
  cleanUp(() => end('SIGINT'))
  await start()
  return { url, kill: () => end('SIGQUIT'), start }
}

const waitFor = async (url: string) => {
  for (let attempt = 1; ; attempt++) {
    const sql = postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 2 })
    const isThere = await sql`select`.then(
      () => true,
      (error) => {
        if (attempt === 100) throw error
        return false
      },
    )
    await sql.end()
    if (isThere) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

export const startSingle = (cleanUp: CleanUp): Promise<Server> => startServer(cleanUp, [])

/** @returns the coordinator, which has no shards, and the workers */
export const startCluster = async (cleanUp: CleanUp, workers: number): Promise<[Server, ...Server[]]> => {
  const start = () => startServer(cleanUp, ["shared_preload_libraries = 'citus'"])
  const coordinator = await start()
  const nodes: [Server, ...Server[]] = [coordinator]
  for (let worker = 0; worker < workers; worker++) nodes.push(await start())
  for (const { url } of nodes) await onServer(url, (sql) => sql`create extension citus`)
  await onServer(coordinator.url, async (sql) => {
    await sql`select citus_set_coordinator_host('127.0.0.1', ${Number(new URL(coordinator.url).port)})`
    for (const { url } of nodes.slice(1))
      await sql`select citus_add_node('127.0.0.1', ${Number(new URL(url).port)})`
  })
  return nodes
}

const onServer = async (url: string, work: (sql: postgres.Sql) => Promise<unknown>) => {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await work(sql)
  } finally {
    await sql.end()
  }
}
