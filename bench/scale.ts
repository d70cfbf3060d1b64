/**
 * Flushes, pulls and dashboards per second on the coordinator of a Citus cluster with 0, 1 and 2 workers, against a plain
 * PostgreSQL; and the cost of one more shard. CITUS_URL names the coordinator, with a superuser; **a database called
 * `bench` is dropped there** and created again.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { v7 as uuidv7 } from 'uuid'
import { distribute } from '../src/operator/distribute.js'
import { migrate } from '../src/platform/database/migrate.js'
import { createCluster } from '../test/database.js'
import {
  asLua,
  bearer,
  benchmark,
  createWorkspace,
  freshDatabase,
  medianTimes,
  prepare,
  push,
  type SignedIn,
  say,
  writeWrkScript,
  wrk,
} from './harness.js'

const TEAMS = 32
const MEMBERS = 5
const SECONDS = 6
const ROUNDS = 60
/** The default number of shards in a cluster. */
const SHARDS = 32

const server = process.env.CITUS_URL
if (server === undefined)
  throw new Error('CITUS_URL is required: the coordinator of a cluster with two workers')

/** On the coordinator's server, without the extension. */
const alone = async () => ({ url: await freshDatabase(server, 'bench'), stop: async () => {} })

const cluster = (workersUsed: number) => async () => {
  const { url, drop } = await createCluster(server, { name: 'bench', workersUsed, shards: SHARDS })
  await migrate(url)
  await distribute(url, () => {})
  return { url, stop: async () => void (await drop()) }
}

/** How long statements take that touch one shard per workspace, in milliseconds. */
const costOfShards = async (url: string, workspaces: string[]) => {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const read = (count: number) => () =>
    sql`select count(*) from activity_repos where workspace_id = any(${workspaces.slice(0, count)}::uuid[])`
  const write = (count: number) => () =>
    sql.begin((tx) =>
      workspaces
        .slice(0, count)
        .map(
          (id) =>
            tx`insert into changed_days (workspace_id, day) values (${id}, '2026-01-01') on conflict do nothing`,
        ),
    )
  const ms = await medianTimes(ROUNDS, {
    'read 1': read(1),
    'read 16': read(16),
    'write 1': write(1),
    'write 16': write(16),
    'sum of settings': () =>
      sql`select sum(size_bytes) from snapshots where workspace_id = ${workspaces[0] ?? ''}`,
  })
  await sql`delete from changed_days`
  await sql.end()
  return ms
}

/** Workspaces in this many different shards. */
const inDifferentShards = async (url: string, count: number) => {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const found = new Map<string, string>()
  while (found.size < count) {
    const id = uuidv7()
    const [row] = await sql`select get_shard_id_for_distribution_column('activity', ${id}::uuid) as shard`
    if (!found.has(row?.shard)) found.set(row?.shard, id)
  }
  const ids = [...found.values()]
  await sql`insert into workspaces (id, name, idle_window_minutes) select id, 'Bench', 5 from unnest(${ids}::uuid[]) id`
  await sql.end()
  return ids
}

const measure = (name: string, start: () => Promise<{ url: string; stop(): Promise<void> }>) =>
  benchmark(async (cleanUp) => {
    const { service, databaseUrl, signIn } = await prepare(cleanUp, {}, start)
    const folder = await mkdtemp(join(tmpdir(), 'bench-scale-'))
    cleanUp(() => rm(folder, { recursive: true }))
    const today = new Date().toISOString().slice(0, 10)
    const flush: string[] = []
    const pull: string[] = []
    const dashboard: string[] = []
    for (let team = 0; team < TEAMS; team++) {
      const members: SignedIn[] = []
      for (let n = 0; n < MEMBERS; n++) members.push(await signIn(`bench-${team}-${n}`))
      const [admin] = members
      const workspace = await createWorkspace(service.url, members, [`acme-${team}/*`])
      if (admin) await push(service.url, admin, `acme-${team}/api`, { 'ext.blob': 'x'.repeat(2_000) })
      dashboard.push(asLua('GET', `/api/team/dashboard?workspace=${workspace}`, bearer(admin?.token)))
      for (const { token } of members) {
        const entries = [0, 1, 2].map((repo) => ({
          repo: `acme-${team}/repo-${repo}`,
          day: today,
          minutes: 1,
        }))
        flush.push(asLua('POST', '/api/team/active-minutes', bearer(token), JSON.stringify({ entries })))
        pull.push(asLua('GET', `/api/settings/acme-${team}/api`, bearer(token)))
      }
    }
    for (const [what, requests] of Object.entries({ flush, pull, dashboard })) {
      const script = await writeWrkScript(folder, what, requests)
      const target = { pid: service.pid, url: service.url }
      await wrk(target, {}, { seconds: 2, connections: 16, script })
      const { perSecond, p99 } = await wrk(target, {}, { seconds: SECONDS, connections: 16, script })
      say(
        `${name.padEnd(22)} ${what.padEnd(10)} ${perSecond.toFixed(0).padStart(6)}/s  p99 ${p99.toFixed(0)} ms`,
      )
    }
    if (start === alone) return
    const ms = await costOfShards(databaseUrl, await inDifferentShards(databaseUrl, 16))
    const more = (kind: 'read' | 'write') => (ms[`${kind} 16`] - ms[`${kind} 1`]) / 15
    say(
      [
        `${name.padEnd(22)} read of one shard ${ms['read 1'].toFixed(2)} ms, each further ${more('read').toFixed(2)} ms;`,
        `write ${ms['write 1'].toFixed(2)} ms, each further ${more('write').toFixed(2)} ms;`,
        `a sum over all ${SHARDS} ${ms['sum of settings'].toFixed(1)} ms`,
      ].join(' '),
    )
  })

await measure('a PostgreSQL of its own', alone)
for (const workers of [0, 1, 2]) await measure(`${workers} workers`, cluster(workers))
