import { randomBytes } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import postgres from 'postgres'
import { clearLeftDatabases, startThrowAwayDatabase } from '../demo/database.js'
import { clusterSetting, distribute } from '../src/operator/distribute.js'
import { connect, type Database, type DatabaseOptions } from '../src/platform/database/client.js'
import { migrate } from '../src/platform/database/migrate.js'
import { until } from './until.js'

const TEMPLATE_DATABASE = 'template_service'
const IN_USE = '55006'

/**
 * How a service reaches a database of the tests: through the pooler at TEST_POOLER (`host:port`) if that is set, as by
 * `npm run test:faults -- --only pooler`.
 */
export const reach = (url: string): Record<string, string> => {
  const server = process.env.TEST_DATABASE_URL
  const pooler = process.env.TEST_POOLER
  // The parser rejects a URL with several hosts, which no test database has.
  const isOfTests = server && URL.canParse(url) && new URL(url).host === new URL(server).host
  if (!pooler || !isOfTests) return { DATABASE_URL: url }
  const pooled = new URL(url)
  pooled.host = pooler
  return { DATABASE_URL: pooled.href, DATABASE_PREPARE: 'false' }
}

/** Whether tests use a pooler, for features that need a direct connection. */
export const throughPooler = (): boolean => Boolean(process.env.TEST_POOLER)

const withDatabase = (url: string, name: string): string => {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

/** The server that `npm test` started. */
const serverUrl = (): string => {
  const url = process.env.TEST_DATABASE_URL
  if (!url) throw new Error('Run the tests with `npm test`, which starts a database for them')
  return url
}

interface Node {
  nodename: string
  nodeport: number
}

const withNode = (url: string, { nodename, nodeport }: Node): string => {
  const changed = new URL(url)
  changed.hostname = nodename
  changed.port = String(nodeport)
  return changed.href
}

const connections = new Map<string, postgres.Sql>()

/** Reuses the connection, because opening one takes longer than most of this work. */
const onServer = <T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> => {
  const sql = connections.get(url) ?? postgres(url, { max: 1, idle_timeout: 2, onnotice: () => {} })
  connections.set(url, sql)
  return work(sql)
}

/** The nodes of the Citus cluster with this coordinator, which comes first. Empty for a single server. */
const readNodes = (url: string): Promise<Node[]> =>
  onServer(url, async (sql) => {
    const [extension] = await sql`select from pg_extension where extname = 'citus'`
    return extension ? sql<Node[]>`select nodename, nodeport from pg_dist_node order by groupid` : []
  })

let cluster: Promise<boolean> | undefined

/** Whether the tests run on a Citus cluster. */
export const isCluster = (): Promise<boolean> => {
  cluster ??= readNodes(serverUrl()).then((nodes) => nodes.length > 0)
  return cluster
}

/** Runs commands on the server, or on every node, because each node has a database with the same name. */
const onEveryNode = async (url: string, nodes: Node[], commands: string[]): Promise<void> => {
  const servers = nodes.length === 0 ? [url] : nodes.map((node) => withNode(url, node))
  const run = async (sql: postgres.Sql) => {
    for (const command of commands) await sql.unsafe(command)
  }
  await Promise.all(servers.map((server) => onServer(server, run)))
}

/** Retries, because the extension may start a worker in the database meanwhile. */
const dropOnEveryNode = (url: string, nodes: Node[], name: string): Promise<unknown> =>
  until(
    () =>
      onEveryNode(url, nodes, [`drop database if exists ${name} with (force)`]).then(
        () => true,
        (error) => {
          if (error.code === IN_USE) return false
          throw error
        },
      ),
    `${name} is dropped`,
  )

/** Connects as the service does, but waits longer, because tests also run on busy machines. */
export const openDatabase = (url: string, options: Partial<DatabaseOptions> = {}): Database =>
  connect({ url, poolSize: 4, prepare: true, timeoutFactor: 12, ...options })

/** A migrated database of its own. */
export const createTestDatabase = async (template = TEMPLATE_DATABASE) => {
  const name = `test_${randomBytes(6).toString('hex')}`
  const server = serverUrl()
  const nodes = await readNodes(server)
  // Copying files is faster than also writing every page to the WAL.
  await onEveryNode(server, nodes, [`create database ${name} template ${template} strategy file_copy`])
  if (nodes.length > 0)
    await onServer(server, (sql) => sql.unsafe(`alter database ${name} ${clusterSetting}`))
  return {
    url: withDatabase(server, name),
    drop: () => dropOnEveryNode(server, nodes, name),
  }
}

/** An empty database on every node of the cluster with this coordinator, or on fewer workers. */
export const createCluster = async (
  server: string,
  { name = `test_${randomBytes(6).toString('hex')}`, workersUsed = 99, shards = 8 } = {},
) => {
  const nodes = (await readNodes(server)).slice(0, workersUsed + 1)
  const drop = () => dropOnEveryNode(server, nodes, name)
  await drop()
  await onEveryNode(server, nodes, [`create database ${name}`])
  const url = withDatabase(server, name)
  await onEveryNode(url, nodes, ['create extension citus'])
  const [coordinator, ...workers] = nodes
  await onServer(url, async (sql) => {
    if (coordinator)
      await sql`select citus_set_coordinator_host(${coordinator.nodename}, ${coordinator.nodeport})`
    for (const { nodename, nodeport } of workers) await sql`select citus_add_node(${nodename}, ${nodeport})`
    // Without any, the coordinator does their work.
    if (coordinator && workers.length === 0)
      await sql`select citus_set_node_property(${coordinator.nodename}, ${coordinator.nodeport}, 'shouldhaveshards', true)`
    // More shards would only make tests slower.
    await sql.unsafe(`alter database ${name} set citus.shard_count = ${shards}`)
  })
  return { url, workers: workers.map((worker) => withNode(url, worker)), drop }
}

const FAST_FOLDER = '/dev/shm'
/** Enough for the databases of all files that run at once, and for PostgreSQL's WAL. */
const ENOUGH_BYTES = 2 ** 31

/** Every test gets a database with hundreds of files. A folder in memory takes a tenth of the time. */
const findFastFolder = async () => {
  await clearLeftDatabases(FAST_FOLDER).catch(() => {})
  const disk = await statfs(FAST_FOLDER).catch(() => undefined)
  return disk && disk.bavail * disk.bsize >= ENOUGH_BYTES ? FAST_FOLDER : undefined
}

const startServer = async (say: (line: string) => void) => {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { url: given, folder: undefined, stop: async () => {} }
  const log = { info: say, warn: say, error: say }
  return startThrowAwayDatabase({ maxConnections: 300, durable: false, log }, await findFastFolder())
}

/**
 * The server for all tests, with the template of their databases: that of TEST_DATABASE_URL, or one for this run, in
 * whose folder is room for the files of tests.
 */
export const startTestServer = async (say: (line: string) => void) => {
  const server = await startServer(say)
  await prepareTemplate(server.url)
  return server
}

const prepareTemplate = async (url: string) => {
  const name = TEMPLATE_DATABASE
  const nodes = await readNodes(url)
  if (nodes.length === 0) {
    await onEveryNode(url, [], [`drop database if exists ${name}`, `create database ${name}`])
    return migrate(withDatabase(url, name))
  }
  const cluster = await createCluster(url, { name })
  await migrate(cluster.url)
  await distribute(cluster.url, () => {})
  await onEveryNode(url, nodes, [
    // Otherwise the extension's own connections would prevent copying.
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
  ])
}
