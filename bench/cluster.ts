/**
 * The CPU time of each operation on each node of a Citus cluster, against one PostgreSQL. It starts all servers itself, with
 * the programs of PGBIN. Options: `--workers 3` (there is also a cluster with two), `--rounds 3`, `--calls 192` (of each
 * operation, in each round).
 */
import postgres from 'postgres'
import { startRepohost } from '../demo/repohost.js'
import { distribute } from '../src/operator/distribute.js'
import { connect } from '../src/platform/database/client.js'
import { migrate } from '../src/platform/database/migrate.js'
import { addDays } from '../src/platform/time/days.js'
import { withAdHocSql } from '../test/ad-hoc.js'
import { createCluster } from '../test/database.js'
import {
  benchmark,
  type CleanUp,
  cpuTimeOfServer,
  createWorkspace,
  expectOk,
  freshDatabase,
  JWT_SECRETS,
  median,
  numbersAsked,
  push,
  type SignedIn,
  say,
  send,
  startProcess,
  waitForRollups,
} from './harness.js'
import { startCluster, startSingle } from './nodes.js'

const { workers: WORKERS, rounds: ROUNDS, calls: CALLS } = numbersAsked({ workers: 3, rounds: 3, calls: 192 })
const TEAMS = 96
const MEMBERS = 2
/** Rollups take long to make. */
const TEAMS_WITH_YEAR = 12
const DAYS = 365
const AT_ONCE = 8
const OPERATIONS = [
  'flush with an id',
  'heartbeat',
  'pull',
  'push',
  'effective configuration',
  'dashboard of a year',
] as const
type Operation = (typeof OPERATIONS)[number]
const BULK = '/api/wakatime/v1/users/current/heartbeats.bulk'

interface System {
  name: string
  /** A superuser's URL of the coordinator, or of the only server. */
  url: string
  /** The measured nodes, by name. */
  nodes: Record<string, string>
  /** Each URL gets an instance of the service. Instances of the same way take turns. */
  ways: Record<string, string[]>
}

interface Team {
  id: string
  owner: string
  members: SignedIn[]
}

/** A year of one repository for each member, and its rollups. */
const addYear = async (url: string, teams: Team[], today: string) => {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  for (const { id, owner, members } of teams) {
    const [repo, repo_key] = [`${owner}/api`, `${owner}/api`]
    const days = Array.from({ length: DAYS }, (_, n) => addDays(today, -1 - n))
    const people = members.map((member) => ({ workspace_id: id, user_id: member.id }))
    const rows = people.flatMap((person) =>
      days.map((day, n) => ({ ...person, day, repo_key, minutes: 30 + (n % 60) })),
    )
    await sql`insert into daily_activity ${sql(rows)}`
    await sql`insert into activity_repos ${sql([{ workspace_id: id, repo_key, repo }])}`
    await sql`insert into activity_people ${sql(people)}`
    await sql`insert into changed_days ${sql(days.map((day) => ({ workspace_id: id, day })))}`
  }
  await sql.end()
  const database = withAdHocSql(connect({ url, poolSize: 4, prepare: true }))
  await waitForRollups(database)
  await database.close()
}

/** Starts the service, and gives each system the same teams. @returns what each operation is, by its number */
const prepareSystem = async (cleanUp: CleanUp, { url, ways }: System) => {
  const repohost = await startRepohost()
  cleanUp(repohost.close)
  const started = new Map<string, string>()
  for (const databaseUrl of Object.values(ways).flat()) {
    const env = { DATABASE_URL: databaseUrl, JWT_SECRETS, RATE_LIMITS: 'off', REPOHOST_API_URL: repohost.url }
    const service = await startProcess('src/server.js', env, '/api/ready')
    cleanUp(service.stop)
    started.set(databaseUrl, service.url)
  }
  const [first = ''] = started.values()
  const signIn = async (login: string): Promise<SignedIn> => {
    const { token: repohostToken } = repohost.addUser(login)
    const body = { repohost_token: repohostToken }
    const { token } = JSON.parse(await expectOk(send(first, 'POST', '/api/auth/verify', undefined, body)))
    const { id } = JSON.parse(await expectOk(send(first, 'GET', '/api/me', token)))
    return { id, token, repohostToken }
  }
  const teams: Team[] = []
  for (let team = 0; team < TEAMS; team++) {
    const owner = `acme-${team}`
    const members: SignedIn[] = []
    for (let n = 0; n < MEMBERS; n++) members.push(await signIn(`bench-${team}-${n}`))
    const id = await createWorkspace(first, members, [`${owner}/*`])
    if (members[0]) await push(first, members[0], `${owner}/api`, { 'ext.blob': 'x'.repeat(2_000) })
    teams.push({ id, owner, members })
  }
  const withYear = teams.slice(0, TEAMS_WITH_YEAR)
  const today = new Date().toISOString().slice(0, 10)
  await addYear(url, withYear, today)
  const get = (path: string, { token }: SignedIn, at: string) => expectOk(send(at, 'GET', path, token))
  /** The requests of the `n`th member. */
  const operations: Record<
    Operation,
    (team: Team, member: SignedIn, n: number, at: string) => Promise<unknown>
  > = {
    'flush with an id': ({ owner }, { token }, n, at) =>
      expectOk(
        send(at, 'POST', '/api/team/active-minutes', token, {
          flush_id: `bench-${n}`,
          entries: ['api', 'web', 'docs'].map((name) => ({
            repo: `${owner}/${name}`,
            day: today,
            minutes: 1,
          })),
        }),
      ),
    heartbeat: async ({ owner }, { token }, n, at) => {
      const time = Date.parse(addDays(today, -1)) / 1_000 + Math.floor(n / (TEAMS * MEMBERS)) * 120
      const beat = { time, project: `${owner}/api`, entity: '/home/ada/app.ts', type: 'file' }
      const { status, text } = await send(at, 'POST', BULK, token, [beat])
      if (status !== 202) throw new Error(`${status}: ${text}`)
    },
    pull: ({ owner }, member, _n, at) => get(`/api/settings/${owner}/api`, member, at),
    push: ({ owner, members: [admin] }, _member, n, at) =>
      admin
        ? push(at, admin, `${owner}/api`, { 'ext.blob': `${n}${'x'.repeat(2_000)}` })
        : Promise.reject(new Error('No one')),
    'effective configuration': ({ owner }, member, _n, at) =>
      get(`/api/team/effective-config?repo=${owner}/api`, member, at),
    'dashboard of a year': (_team, _member, n, at) => {
      const { id, members } = withYear[n % withYear.length] as Team
      const path = `/api/team/dashboard?workspace=${id}&from=${addDays(today, -364)}&to=${today}`
      return get(path, members[0] as SignedIn, at)
    },
  }
  let next = 0
  return async (operation: Operation, way: string) => {
    const instances = ways[way]?.map((databaseUrl) => started.get(databaseUrl) ?? '') ?? []
    const last = next + CALLS
    const one = async () => {
      while (next < last) {
        const n = next++
        const team = teams[n % TEAMS] as Team
        const member = team.members[Math.floor(n / TEAMS) % MEMBERS] as SignedIn
        await operations[operation](team, member, n, instances[n % instances.length] ?? '')
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, one))
  }
}

/** Opens a session on each node, to list the node's processes. */
const watchNodes = async (cleanUp: CleanUp, nodes: Record<string, string>) => {
  const backends: [string, number][] = []
  for (const [name, url] of Object.entries(nodes)) {
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    cleanUp(() => sql.end())
    const [row] = await sql`select pg_backend_pid() as pid`
    backends.push([name, Number(row?.pid)])
  }
  return async () => {
    const times = await Promise.all(
      backends.map(async ([name, pid]) => [name, await cpuTimeOfServer(pid)] as const),
    )
    return new Map(times)
  }
}

await benchmark(async (cleanUp) => {
  const single = await startSingle(cleanUp)
  const nodes = await startCluster(cleanUp, WORKERS)
  const [coordinator, ...workers] = nodes
  const alone = await freshDatabase(single.url, 'bench')
  const systems: System[] = [
    {
      name: 'one PostgreSQL',
      url: alone,
      nodes: { server: single.url },
      ways: { '': [alone] },
    },
  ]
  for (const count of new Set([Math.min(2, WORKERS), WORKERS])) {
    const made = await createCluster(coordinator.url, {
      name: `bench_${count}`,
      workersUsed: count,
      shards: 32,
    })
    await migrate(made.url)
    await distribute(made.url, () => {})
    const used = workers.slice(0, count)
    systems.push({
      name: `${count} workers`,
      url: made.url,
      nodes: Object.fromEntries([
        ['coordinator', coordinator.url],
        ...used.map(({ url }, index) => [`worker ${index + 1}`, url]),
      ]),
      ways: { 'by the coordinator': [made.url], 'by the workers': made.workers },
    })
  }
  const runs = []
  for (const system of systems) {
    const play = await prepareSystem(cleanUp, system)
    const read = await watchNodes(cleanUp, system.nodes)
    runs.push(...Object.keys(system.ways).map((way) => ({ system, way, play, read })))
    say(`${system.name} is prepared`)
  }
  const found = new Map<string, number[]>()
  const keyOf = (...names: string[]) => names.join(' / ')
  // The first round warms up.
  for (let round = -1; round < ROUNDS; round++) {
    for (const operation of OPERATIONS) {
      for (const { system, way, play, read } of runs) {
        const before = await read()
        await play(operation, way)
        for (const [node, time] of await read()) {
          const key = keyOf(system.name, way, operation, node)
          const ms = (time - (before.get(node) ?? 0)) / 1_000 / CALLS
          if (round >= 0) found.set(key, [...(found.get(key) ?? []), ms])
        }
      }
    }
  }
  const msOf = (system: System, way: string, operation: Operation) =>
    Object.keys(system.nodes).map((node) => median(found.get(keyOf(system.name, way, operation, node)) ?? []))
  const [one] = systems
  if (!one) return
  say(`ms of CPU, medians of ${ROUNDS} rounds of ${CALLS} calls`)
  say(
    '| operation | system | coordinator | each worker | all | times one PostgreSQL | busiest, times the mean |',
  )
  say('|---|---|---|---|---|---|---|')
  for (const operation of OPERATIONS) {
    const [single = Number.NaN] = msOf(one, '', operation)
    say(`| ${operation} | ${one.name} | | | ${single.toFixed(2)} | 1 | |`)
    for (const { system, way } of runs.slice(1)) {
      const times = msOf(system, way, operation)
      const sum = times.reduce((a, b) => a + b, 0)
      const busiest = Math.max(...times)
      const [first = 0, ...others] = times
      const figures = [
        first.toFixed(2),
        others.map((ms) => ms.toFixed(2)).join(', '),
        sum.toFixed(2),
        (sum / single).toFixed(1),
        `${busiest.toFixed(2)}, ${((busiest * times.length) / sum).toFixed(2)}`,
      ]
      say(`| ${operation} | ${system.name}, ${way} | ${figures.join(' | ')} |`)
    }
  }
})
