/**
 * Every operation of the OpenAPI document at its limits: alone, for its longest piece of CPU time, and then all of them by
 * one account, and by five, beside an ordinary caller.
 */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { startRepohost } from '../../demo/repohost.js'
import { projectRoot } from '../../src/platform/process/root.js'
import { readToday } from '../../src/platform/time/clock.js'
import { withAdHocSql } from '../ad-hoc.js'
import { attacksOn, type Document } from '../attack.js'
import { createTestDatabase, openDatabase } from '../database.js'
import { fillWithPatterns } from '../many-patterns.js'
import { freePort, launch, onDatabase, ready } from '../process.js'
import type { Fault, Scope } from './fault.js'
import { type Attacker, worstOf } from './worst-operations.js'

const SECONDS = 30
const ATTACKERS = 5
/** As many as the limit of requests per minute allows. */
const EVERY_MS = 100
/** Of 51 patterns each, so that one more workspace can be created. */
const WORKSPACES = 18
const REPOS = 8
/** The longest piece of CPU time, in loops of the same run (`report-cpu`). Waiting times depend on what else the machine does. */
const MAX_LOOPS = 3
const MAX_MIB = 500

const percentile = (times: number[], share: number) =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0

interface Request {
  operation: string
  method: string
  path: string
  headers: Record<string, string>
  body: string | undefined
}

const setUp = async (scope: Scope) => {
  const testDatabase = await createTestDatabase()
  scope.teardown(() => testDatabase.drop())
  const database = withAdHocSql(openDatabase(testDatabase.url))
  scope.teardown(() => database.close())
  const repohost = await startRepohost()
  scope.teardown(() => repohost.close())
  const start = async (env: Record<string, string>) =>
    ready(
      launch(scope, await freePort(), {
        ...onDatabase(testDatabase.url),
        REPOHOST_URL: repohost.url,
        REPOHOST_API_URL: repohost.url,
        LOG_LEVEL: 'fatal',
        ...env,
      }),
    )
  const [limited, watched] = await Promise.all([
    start({ RATE_LIMITS: 'on' }),
    start({ NODE_OPTIONS: `--import ${join(projectRoot, 'build/test/faults/report-cpu.js')}` }),
  ])
  const document: Document = JSON.parse(await readFile(join(projectRoot, 'openapi/openapi.json'), 'utf8'))
  const operations = worstOf(Object.values(document.paths).flatMap((path) => Object.values(path)))
  const today = await readToday(database)

  const signIn = async (login: string) => {
    const { token: host } = repohost.addUser(login)
    const reply = await fetch(`${limited.url}/api/auth/verify`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ repohost_token: host }),
    })
    const { token } = (await reply.json()) as { token: string }
    return { authorization: `Bearer ${token}`, 'x-repohost-token': host }
  }

  /** Someone who has used up every quota. */
  const attackerOf = async (login: string) => {
    const headers = await signIn(login)
    await fillWithPatterns({ database }, login, WORKSPACES)
    for (const text of [
      `update workspaces set created_by = (select id from users where login = $1::text) where name like $1::text || ' %'`,
      `insert into activity_repos (workspace_id, repo_key, repo)
        select w.id, $1::text || '/r' || n, $1::text || '/r' || n from workspaces w, generate_series(1, ${REPOS}) n
        where w.name like $1::text || ' %'`,
      `insert into daily_activity (workspace_id, user_id, day, repo_key, minutes)
        select w.id, u.id, '${today}'::date - d, $1::text || '/r' || n, 5
        from workspaces w, users u, generate_series(0, 299) d, generate_series(1, ${REPOS}) n
        where w.name like $1::text || ' %' and u.login = $1::text`,
      `insert into patterns (workspace_id, owner_key, repo_key, position, pattern, exact, literal_length, repo_like)
        select w.id, $1::text, 'r*', 51, $1::text || '/r*', false, 1, 'r%' from workspaces w where w.name like $1::text || ' %'`,
      `insert into overrides (owner_key, repo_key, workspace_id, revision, owner, repo, settings, updated_by)
        select $1::text, 'o' || n, (select id from workspaces where name = $1::text || ' 1'), gen_random_uuid(), $1::text, 'o' || n,
          '{"ext.a":"' || repeat(md5(n::text), 8000) || '"}', u.id
        from generate_series(1, 200) n, users u where u.login = $1::text`,
    ])
      await database.hot.statement(text, [login])
    const [found] = await database.hot.statement<{ id: string }>(
      `select id::text from workspaces where name = $1::text || ' 1'`,
      [login],
    )
    return { headers, attacker: { login, id: found?.id ?? '', today } satisfies Attacker }
  }
  const attackers: Awaited<ReturnType<typeof attackerOf>>[] = []
  for (let n = 0; n < ATTACKERS; n++) attackers.push(await attackerOf(`mallory${n}`))
  const ordinary = await signIn('ada')
  const pushed = await fetch(`${limited.url}/api/settings/ada/repo`, {
    method: 'PUT',
    headers: { ...ordinary, 'Content-Type': 'application/json' },
    body: JSON.stringify({ settings: { 'ext.theme': 'dark' } }),
  })
  if (!pushed.ok) throw new Error(await pushed.text())
  await database.hot.statement('analyze', [])

  /** The worst request of each operation. */
  const requestsOf = ({ headers, attacker }: (typeof attackers)[number]) => {
    const usual = {
      owner: attacker.login,
      repo: 'r1',
      id: attacker.id,
      workspace: attacker.id,
      login: attacker.login,
      user: 'current',
    }
    return operations.map(([operation, worstOf]) => {
      const all = attacksOn(document, { ...usual, ...worstOf(attacker).values }, headers, [], [])
      const base = [...all].find((one) => one.operation === operation)
      if (!base) throw new Error(`There is no operation ${operation}`)
      return (): Request => {
        const worst = worstOf(attacker)
        return {
          operation,
          method: base.method,
          path: worst.query ? `${base.path.split('?')[0]}?${worst.query}${queryOf(base.path)}` : base.path,
          headers: {
            ...base.headers,
            ...(worst.body !== undefined && { 'content-type': 'application/json' }),
            ...worst.headers,
          },
          body: worst.body ?? base.body,
        }
      }
    })
  }
  return { limited, watched, attackers, ordinary, operations, requestsOf }
}

/** The query that the path needs: dashboards name their workspace. */
const queryOf = (path: string) => {
  const workspace = new URLSearchParams(path.split('?')[1]).get('workspace')
  return workspace ? `&workspace=${workspace}` : ''
}

const memoryOf = async (pid: number | undefined) =>
  Number((await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')).match(/VmRSS:\s+(\d+)/)?.[1] ?? 0) /
  1_024

export const everyOperation: Fault = {
  name: 'worst-caller-operations',
  play: async (scope, { seconds = SECONDS }) => {
    const { limited, watched, attackers, ordinary, operations, requestsOf } = await setUp(scope)
    const details: string[] = []
    const broken: string[] = []

    const send = async (url: string, { method, path, headers, body }: Request) => {
      const reply = await fetch(url + path, {
        method,
        headers,
        ...(body !== undefined && method !== 'GET' && { body }),
      }).catch(() => undefined)
      await reply?.arrayBuffer().catch(() => {})
      return reply?.status ?? 0
    }

    const [first] = attackers
    if (!first) throw new Error('There is no attacker')
    const calibration = Number(watched.output().match(/^calibration ([0-9.]+)$/m)?.[1])
    details.push(
      `Thirty million steps of a loop take ${calibration} ms of CPU.`,
      '',
      '| operation | answers | longest piece, ms of CPU | in loops |',
      '|---|---|---|---|',
    )
    for (const call of requestsOf(first)) {
      const statuses = new Set<number>()
      let longest = 0
      for (let n = 0; n < 4; n++) {
        const heard = watched.output().length
        const request = call()
        statuses.add(await send(watched.url, request))
        await sleep(20)
        const pieces = [
          ...watched
            .output()
            .slice(heard)
            .matchAll(/^cpu ([0-9.]+)$/gm),
        ].map(([, ms]) => Number(ms))
        // Code that runs for the first time is compiled.
        if (n > 1) longest = Math.max(longest, ...pieces)
      }
      const loops = longest / calibration
      const row = `| ${call().operation} | ${[...statuses].join(', ')} | ${longest.toFixed(0)} | ${loops.toFixed(1)} |`
      details.push(row)
      if (loops > MAX_LOOPS) broken.push(row)
    }

    /** @returns a function that ends it, and tells how long the caller has waited */
    const watch = (path: string, everyMs: number) => {
      const worker = new Worker(new URL('./watcher.js', import.meta.url), {
        workerData: { url: limited.url + path, headers: ordinary, everyMs },
      })
      return async (): Promise<{ times: number[]; refused: number[] }> => {
        worker.postMessage('over')
        const [seen] = await once(worker, 'message')
        return seen
      }
    }
    const play = async (count: number) => {
      const responses = new Map<number, number>()
      let underWay = 0
      const timers = attackers.slice(0, count).map((attacker) => {
        const calls = requestsOf(attacker)
        let next = 0
        return setInterval(async () => {
          if (underWay > 30 * count) return
          underWay += 1
          const call = calls[next++ % calls.length]
          const status = call ? await send(limited.url, call()) : 0
          underWay -= 1
          responses.set(status, (responses.get(status) ?? 0) + 1)
        }, EVERY_MS)
      })
      const end = Date.now() + seconds * 1_000
      let mib = 0
      const watching = [watch('/api/settings/ada/repo', 200), watch('/api/health', 50)] as const
      while (Date.now() < end) {
        mib = Math.max(mib, await memoryOf(limited.child.pid))
        await sleep(100)
      }
      for (const timer of timers) clearInterval(timer)
      const [other, health] = [await watching[0](), await watching[1]()]
      return {
        p50: percentile(other.times, 0.5),
        p99: percentile(other.times, 0.99),
        refused: other.refused,
        requests: other.times.length,
        health: percentile(health.times, 1),
        mib,
        answers: [...responses].map(([status, n]) => `${n} × ${status}`).join(', '),
      }
    }
    details.push(
      '',
      '| accounts | answers to them | other caller: p50, p99 ms, refused | health, longest ms | MiB |',
      '|---|---|---|---|---|',
    )
    const quiet = await play(0)
    let requests = 0
    for (const count of [1, ATTACKERS]) {
      const { p50, p99, refused, health, mib, answers: responses, ...rest } = await play(count)
      requests += rest.requests
      const row = `| ${count} | ${responses} | ${p50.toFixed(0)} (quiet ${quiet.p50.toFixed(0)}), ${p99.toFixed(0)}, ${refused.join(', ') || '0'} | ${health.toFixed(0)} | ${mib.toFixed(0)} |`
      details.push(row)
      if (refused.length > 0 || mib >= MAX_MIB) broken.push(row)
    }
    return {
      did: `${operations.length} operations, ${seconds} s of all of them`,
      requests,
      details,
      broken,
    }
  },
}
