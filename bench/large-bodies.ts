/**
 * An ordinary caller beside the largest bodies, alone and of eight callers at once, in a container of `--mib 512`: the
 * responses, how long each caller waited, the CPU time and memory of the service, and what the ordinary caller waited.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { deliveryShapes } from '../demo/host-deliveries.js'
import { limits } from '../schemas/limits.js'
import { groupBy } from '../src/platform/process/maps.js'
import { launchIn } from './confine.js'
import {
  benchmark,
  cpuTime,
  createWorkspace,
  memoryOf,
  numbersAsked,
  percentile,
  post,
  prepare,
  say,
  send,
} from './harness.js'

const CALLERS = 8
const QUIET_MS = 3_000
const PULL_EVERY_MS = 5

/** Pulls in a thread of its own, until it's told to stop. */
const pull = async ({ url, token }: { url: string; token: string }) => {
  let isOver = false
  parentPort?.once('message', () => {
    isOver = true
  })
  const waits: number[] = []
  let failed = 0
  await send(url, 'GET', '/api/me', token)
  parentPort?.postMessage('ready')
  while (!isOver) {
    const start = performance.now()
    const { status } = await send(url, 'GET', '/api/me', token).catch(() => ({ status: 0 }))
    waits.push(performance.now() - start)
    if (status !== 200) failed++
    await sleep(PULL_EVERY_MS)
  }
  parentPort?.postMessage({ waits, failed })
}

const countsOf = (workspace: string) =>
  JSON.stringify({
    workspace,
    day: '2026-01-01',
    members: Array.from({ length: limits.counts_members }, (_, n) => ({
      login: `caller-${n}`,
      repos: Array.from({ length: limits.counts_repos_per_member }, (_, repo) => ({
        repo: `acme/a-repository-with-a-name-that-is-longer-than-most-are-${repo}`,
        count: 1,
      })),
    })),
  })

const overrides = (count: number, settings: object) =>
  JSON.stringify({
    projects: Object.fromEntries(Array.from({ length: count }, (_, n) => [`acme/repo-${n}`, { settings }])),
  })
const longTexts = overrides(63, { 'ext.a': 'x'.repeat(limits.settings_bytes - 20) })
const mostValues = overrides(
  31,
  Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`ext.${n.toString(36)}`, 'a'])),
)

const { payload } = deliveryShapes.github.push(
  'acme/api',
  Array.from({ length: 2_000 }, (_, n) => ({
    id: n.toString(16).padStart(40, '0'),
    timestamp: new Date().toISOString(),
    login: `caller-${n % CALLERS}`,
  })),
)
const withFiles = JSON.stringify({
  ...payload,
  files: Array.from({ length: 420_000 }, (_, n) => `packages/a-package/src/a-folder/file-number-${n}.ts`),
})

const measure = () =>
  benchmark(async (cleanUp) => {
    const { mib } = numbersAsked({ mib: 512 })
    const launch = await launchIn(mib, cleanUp)
    const setting = await prepare(cleanUp, { WEBHOOK_KEYS: 'x'.repeat(48) }, undefined, launch)
    let { service } = setting
    const people = await Promise.all(
      Array.from({ length: CALLERS + 1 }, (_, n) => setting.signIn(`caller-${n}`)),
    )
    const ordinary = people.pop()?.token ?? ''
    const callers = await Promise.all(
      people.map(async (caller) => {
        const workspace = await createWorkspace(service.url, [caller])
        const { text } = await send(
          service.url,
          'POST',
          `/api/team/workspaces/${workspace}/webhook`,
          caller.token,
        )
        const { url, secret } = JSON.parse(text) as { url: string; secret: string }
        return { ...caller, workspace, path: new URL(url).pathname, secret }
      }),
    )
    type Sender = (typeof callers)[number]
    let delivered = 0
    const configure = (body: string) => (caller: Sender) =>
      send(service.url, 'PUT', `/api/team/workspaces/${caller.workspace}/configuration`, caller.token, body)
    const kinds: Record<string, (caller: Sender) => Promise<{ status: number }>> = {
      'nothing else': () => sleep(QUIET_MS, { status: 200 }),
      'an upload of 500 × 200 counts': ({ token, workspace }) =>
        send(service.url, 'POST', '/api/team/commits', token, countsOf(workspace)),
      'a configuration of 16 MiB': configure(longTexts),
      'a configuration of 310,000 values': configure(mostValues),
      'a delivery of 24 MiB': ({ path, secret }) =>
        post(service.url + path, {
          body: withFiles,
          headers: {
            'Content-Type': 'application/json',
            ...deliveryShapes.github.headers('push', withFiles, secret, `${delivered++}`),
          },
        }),
    }
    say('| bodies | answers | longest | CPU | peak | ordinary caller: median | 99 % | most | failed |')
    say('|---|---|---|---|---|---|---|---|---|')
    for (const [name, request] of Object.entries(kinds))
      for (const count of [1, CALLERS]) {
        const watcher = new Worker(new URL(import.meta.url), {
          workerData: { url: service.url, token: ordinary },
        })
        await once(watcher, 'message')
        const [cpu, start] = [await cpuTime(service.pid), performance.now()]
        const replies = await Promise.all(
          callers.slice(0, count).map(async (caller) => {
            const { status } = await request(caller).catch(() => ({ status: 0 }))
            return { status, ms: performance.now() - start }
          }),
        )
        const cells = [
          `${count} × ${name}`,
          [...groupBy(replies, ({ status }) => status)]
            .map(([status, all]) => `${all.length} × ${status || 'lost'}`)
            .join(', '),
          `${(Math.max(...replies.map(({ ms }) => ms)) / 1_000).toFixed(1)} s`,
          `${((await cpuTime(service.pid)) - cpu) / 1_000} ms`,
          `${(await memoryOf(service.pid, 'VmHWM')).toFixed(0)} MiB`,
        ]
        const seen = new Promise<{ waits: number[]; failed: number }>((resolve) =>
          watcher.once('message', resolve),
        )
        watcher.postMessage('over')
        const { waits, failed } = await seen
        cells.push(
          ...[percentile(waits, 0.5), percentile(waits, 0.99), Math.max(...waits)].map(
            (ms) => `${ms.toFixed(1)} ms`,
          ),
          String(failed),
        )
        say(`| ${cells.join(' | ')} |`)
        service = await setting.restart()
      }
  })

await (isMainThread ? measure() : pull(workerData))
