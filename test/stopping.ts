/** Every state in which the service may be stopped, and what is left afterwards. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { Agent, get, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { startRepohost } from '../demo/repohost.js'
import { locks } from '../src/platform/database/locks.js'
import { createTestDatabase, isCluster, throughPooler } from './database.js'
import { startFreezableProxy } from './freezable-proxy.js'
import { freePort, launch, onDatabase, processesOf, ready, type ServiceProcess } from './process.js'
import { until } from './until.js'

interface Test {
  teardown(work: () => unknown): void
}

/** A service in the state in which it is to be stopped. */
export interface Scene {
  service: ServiceProcess
  /** The folder of an embedded database, or the URL of another one. */
  dataDir?: string
  databaseUrl?: string
  /** The responses that callers are waiting for. */
  answers?: Promise<unknown>[]
}

export interface Outcome {
  /** From the signal to the end. */
  ms: number
  /** The exit code, or the signal that ended it. */
  code: number | NodeJS.Signals
  processesLeft: number
  filesLeft: number
  /** Sessions that the database still has two seconds later. */
  sessionsLeft: number
  /** Requests that were under way and got no response. */
  cut: number
  /** The last output of the service. */
  output: string
}

const withDatabase = async (test: Test, template?: string) => {
  const { url, drop } = await createTestDatabase(template)
  test.teardown(drop)
  const database = postgres(url, { max: 2, onnotice: () => {}, connection: { application_name: 'watcher' } })
  test.teardown(() => database.end({ timeout: 1 }))
  return { url, database }
}

/** The service on a database of its own, with a stand-in for the repository host. */
const withRepohost = async (test: Test, databaseUrl?: string) => {
  const url = databaseUrl ?? (await withDatabase(test)).url
  const repohost = await startRepohost()
  test.teardown(() => repohost.close())
  const service = await ready(
    launch(test, await freePort(), { ...onDatabase(url), REPOHOST_API_URL: repohost.url }),
  )
  return { service, repohost, databaseUrl: url }
}

const postJson = (url: string, body: unknown, token?: string) =>
  fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  })

/** Notes failures, which come while the service is being stopped, for later. */
const noted = <T>(response: Promise<T>) => {
  response.catch(() => {})
  return response
}

/** Posts, and returns when the service has begun with it. */
const beginPost = async (url: string, body: unknown, token: string) => {
  const call = request(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}`, Expect: '100-continue' },
  })
  const response = noted(
    new Promise((resolve, reject) => {
      call.on('error', reject)
      call.on('response', (response) => {
        response
          .on('error', reject)
          .on('end', () => resolve(response.statusCode))
          .resume()
      })
    }),
  )
  call.flushHeaders()
  await once(call, 'continue')
  call.end(JSON.stringify(body))
  return { answer: response }
}

const isWaitingFor = async (database: postgres.Sql, event: string, count = 1) => {
  const cluster = await isCluster()
  const [row] = await database`
    select count(*)::int as waiting from ${database(cluster ? 'citus_stat_activity' : 'pg_stat_activity')}
    where datname = current_database() and wait_event = ${event}`
  return row?.waiting >= count
}

/** The head of a request whose body the service reads. */
const UNFINISHED = [
  'POST /api/auth/verify HTTP/1.1',
  'Host: here',
  'Content-Type: application/json',
  'Content-Length: 1000',
  'Expect: 100-continue',
  '\r\n',
].join('\r\n')

/** A connection whose other side answers no end with an end; returns when the service has said something, if it will. */
const openHalf = async (test: Test, service: ServiceProcess, text: string, isAnswered: boolean) => {
  const { port, hostname: host } = new URL(service.url)
  const socket = connect({ port: Number(port), host, allowHalfOpen: true })
  test.teardown(() => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  if (isAnswered) await once(socket, 'data')
}

export const openUnfinished = (test: Test, service: ServiceProcess) =>
  openHalf(test, service, UNFINISHED, true)

const whenNewFile = (dataDir: string, name: RegExp) =>
  until(
    async () => (await readdir(dataDir).catch(() => [])).some((entry) => name.test(entry)),
    `there is a file like ${name}`,
  )

const readPostmaster = async (dataDir: string) =>
  Number((await readFile(join(dataDir, 'postgresql', 'postmaster.pid'), 'utf8')).split('\n')[0])

/** @param dataDir where an embedded database is or will be */
type Prepare = (test: Test, dataDir: string) => Promise<Scene>

export const states: Record<string, Prepare> = {
  '200 requests in flight, beside kept-alive and half-open connections': async (test) => {
    const { service, repohost, databaseUrl } = await withRepohost(test)
    const agent = new Agent({ keepAlive: true })
    test.teardown(() => agent.destroy())
    await new Promise((resolve) =>
      get(`${service.url}/api/health`, { agent }, (response) => response.resume().on('end', resolve)),
    )
    for (let n = 0; n < 10; n++) {
      await openHalf(test, service, '', false)
      await openHalf(test, service, UNFINISHED.slice(0, 60), false)
      await openHalf(test, service, 'GET /api/health HTTP/1.1\r\nHost: here\r\n\r\n', true)
      await openUnfinished(test, service)
    }
    repohost.fault = 'hang'
    const responses = Array.from({ length: 200 }, () =>
      noted(postJson(`${service.url}/api/auth/verify`, { repohost_token: 'any' })),
    )
    await until(() => repohost.requests.length === 200, '200 look-ups are under way')
    return { service, databaseUrl, answers: responses }
  },

  'database silent': async (test) => {
    const { url } = await withDatabase(test)
    const line = await startFreezableProxy(test, url)
    const { service, repohost } = await withRepohost(test, line.url)
    const { token: hostToken } = repohost.addUser('ada')
    const signedIn = await postJson(`${service.url}/api/auth/verify`, { repohost_token: hostToken })
    const { token } = (await signedIn.json()) as { token: string }
    line.freeze()
    const create = () =>
      beginPost(`${service.url}/api/team/workspaces/create`, { name: 'Acme', patterns: [] }, token)
    const begun = await Promise.all(Array.from({ length: 20 }, create))
    const responses = begun.map(({ answer: response }) => response)
    await sleep(randomInt(500))
    // Without `databaseUrl`, because behind the frozen proxy the database keeps its sessions.
    return { service, answers: responses }
  },

  'embedded database suspended': async (test, dataDir) => {
    const service = await ready(launch(test, await freePort(), { DATA_DIR: dataDir }))
    const postmaster = await readPostmaster(dataDir)
    process.kill(postmaster, 'SIGSTOP')
    return { service, dataDir }
  },

  'waiting for the lock of a migration': async (test) => {
    const { url, database } = await withDatabase(test, 'template0')
    const holder = await database.reserve()
    test.teardown(() => holder.release())
    await holder`select pg_advisory_lock(${locks.migration})`
    const service = launch(test, await freePort(), onDatabase(url))
    await until(() => service.output().includes('This instance is waiting'), 'the start waits for the lock')
    return { service, databaseUrl: url }
  },

  migrating: async (test) => {
    const { url, database } = await withDatabase(test, 'template0')
    await database.unsafe(`
      create function dawdle() returns event_trigger language plpgsql as
        $$ begin if tg_tag = 'CREATE INDEX' then perform pg_sleep(60); end if; end $$;
      create event trigger dawdle on ddl_command_start execute function dawdle()`)
    const service = launch(test, await freePort(), onDatabase(url))
    await until(() => isWaitingFor(database, 'PgSleep'), 'a migration is running')
    return { service, databaseUrl: url }
  },

  'making the embedded database': async (test, dataDir) => {
    const service = launch(test, await freePort(), { DATA_DIR: dataDir })
    await whenNewFile(dataDir, /^postgresql\.[0-9a-f]{8}$/)
    // At a random time between creating the first file and the first request.
    await sleep(randomInt(1_500))
    return { service, dataDir }
  },

  'reviving the embedded database': async (test, dataDir) => {
    const service = await ready(launch(test, await freePort(), { DATA_DIR: dataDir }))
    process.kill(await readPostmaster(dataDir), 'SIGKILL')
    await sleep(randomInt(400))
    return { service, dataDir }
  },

  /** One is made at once where the level of privacy changes; others wait for minutes. */
  'a rollup running': async (test) => {
    const { url, database } = await withDatabase(test)
    await database.unsafe(`
      create function dawdle() returns boolean language plpgsql as $$ begin perform pg_sleep(60); return true; end $$`)
    await database`alter table workspace_days add constraint dawdle check (dawdle()) not valid`
    const { service, repohost } = await withRepohost(test, url)
    const { token: hostToken } = repohost.addUser('ada')
    const signedIn = await postJson(`${service.url}/api/auth/verify`, { repohost_token: hostToken })
    const { token } = (await signedIn.json()) as { token: string }
    const workspaces = `${service.url}/api/team/workspaces`
    const created = await postJson(`${workspaces}/create`, { name: 'Acme', patterns: [] }, token)
    const { workspace } = (await created.json()) as { workspace: { id: string } }
    await database`
      insert into daily_activity (workspace_id, user_id, day, repo_key, minutes)
      select w.id, u.id, current_date, 'acme/api', 5 from workspaces w cross join users u`
    await database`insert into changed_days (workspace_id, day) select id, current_date from workspaces on conflict do nothing`
    await fetch(`${workspaces}/${workspace.id}/settings`, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ activity_privacy: 'team' }),
    })
    await until(() => isWaitingFor(database, 'PgSleep'), 'a rollup is running')
    return { service, databaseUrl: url }
  },
}

/** Stops the service as a supervisor does, and looks at what is left. */
export const stop = async ({
  service,
  dataDir,
  databaseUrl,
  answers: responses = [],
}: Scene): Promise<Outcome> => {
  const since = Date.now()
  service.child.kill('SIGTERM')
  // A supervisor would have killed it long before.
  const killTimer = setTimeout(() => service.child.kill('SIGKILL'), 70_000)
  const code = await service.ended
  clearTimeout(killTimer)
  const ms = Date.now() - since
  const settled = await Promise.allSettled(responses)
  return {
    ms,
    code,
    processesLeft: dataDir === undefined ? 0 : await atLast(async () => (await processesOf(dataDir)).length),
    filesLeft: dataDir === undefined ? 0 : (await unfinishedIn(dataDir)).length,
    sessionsLeft: databaseUrl === undefined ? 0 : await sessionsOn(databaseUrl),
    cut: settled.filter(({ status }) => status === 'rejected').length,
    output: service.output().slice(-1_000),
  }
}

/** The unfinished folder of a new database, which a start creates next to the final one. */
const unfinishedIn = async (dataDir: string) =>
  (await readdir(dataDir)).filter((name) => /^postgresql\.[0-9a-f]{8}/.test(name))

/** The count, once it is 0 or half a minute is over: processes and sessions may end a moment after the service. */
const atLast = async (count: () => Promise<number>): Promise<number> => {
  for (let attempt = 0; attempt < 300 && (await count()) > 0; attempt++) await sleep(100)
  return count()
}

const sessionsOn = async (databaseUrl: string): Promise<number> => {
  const watcher = postgres(databaseUrl, { max: 1, connection: { application_name: 'watcher' } })
  const count = async () => {
    // A pooler keeps its own sessions, in which nothing of the service may be left.
    const [row] = await watcher`
      select count(*)::int as sessions from pg_stat_activity
      where datname = current_database() and application_name <> 'watcher' and backend_type = 'client backend'
        and not (${throughPooler()} and state = 'idle' and pid not in (select pid from pg_locks where pid is not null))
        -- Between the nodes of a cluster.
        and application_name !~ '^citus_'`
    return row?.sessions
  }
  try {
    return await atLast(count)
  } finally {
    await watcher.end({ timeout: 1 })
  }
}
