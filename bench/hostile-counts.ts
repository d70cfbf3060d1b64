/**
 * Uploads of invalid counts, four at once and each kind on a service of its own: the responses, the waits of other
 * callers, memory, and whether the service survives.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { readToday } from '../src/platform/time/clock.js'
import { addDays } from '../src/platform/time/days.js'
import {
  benchmark,
  createWorkspace,
  memoryOf,
  prepare,
  type Setting,
  say,
  send,
  WATCH_MS,
  watch,
} from './harness.js'

const BYTES = 24 * 2 ** 20 - 1_000
const AT_ONCE = 4
const HEALTH_EVERY_MS = 20
/** Slow enough for the rate limits, which are on here. */
const UPLOAD_EVERY_MS = 250

const fill = (item: string, bytes = BYTES) => item.repeat(Math.floor(bytes / item.length))
const list = (items: string) => `{"members":[${items.slice(0, -1)}]}`
const keys = (total: number) => `{${Array.from({ length: total }, (_, n) => `"key-${n}":1`).join()}}`

const bodies: Record<string, () => string> = {
  'empty objects': () => list(fill('{},')),
  'empty arrays': () => list(fill('[],')),
  'numbers with exponents': () => list(fill('1e5,')),
  'exact numbers': () => list(fill('1.5,')),
  '900,000 keys': () => keys(900_000),
  '270,000 keys': () => keys(270_000),
  'deep nesting': () => fill('['),
  'deep objects': () => fill('{"a":'),
  'one long number': () => `{"members":${fill('7')}}`,
  'one number with zeros': () => `{"members":1.${fill('0', 200_000)}1}`,
  'one long string': () => `{"members":"${fill('a')}"}`,
  'one string of escapes': () => `{"members":"${fill('\\u0001')}"}`,
  blanks: () => fill(' '),
  commas: () => fill(','),
  'one long key': () => `{"${fill('k')}":1}`,
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`

/** Sends one kind of body, in a thread of its own, which keeps this one free to watch. */
const sendHostile = async ({ name, url, token }: { name: string; url: string; token: string }) => {
  const body = bodies[name]?.()
  const gone = { status: 0, text: '' }
  const responses = await Promise.all(
    Array.from({ length: AT_ONCE }, () =>
      Promise.race([send(url, 'POST', '/api/team/commits', token, body), sleep(WATCH_MS, gone)]).catch(
        () => gone,
      ),
    ),
  )
  parentPort?.postMessage(responses.map(({ status }) => status || 'none').join(' '))
  process.exit()
}

const attack = async (setting: Setting, name: string, mine: { id: string; token: string }, token: string) => {
  const { url, pid } = await setting.restart()
  const today = await readToday(setting.database)
  const upload = (length: number) =>
    JSON.stringify({
      workspace: mine.id,
      day: addDays(today, -1),
      members: Array.from({ length }, (_, n) => ({
        login: `stranger-${n}`,
        repos: Array.from({ length: 100 }, (_, repo) => ({ repo: `acme/repo-${repo}`, count: 1 })),
      })),
    })
  const [small, large] = [upload(1), upload(100)]
  const health = watch(HEALTH_EVERY_MS, () => send(url, 'GET', '/api/health'))
  const smallUploads = watch(UPLOAD_EVERY_MS, () => send(url, 'POST', '/api/team/commits', mine.token, small))
  const largeUploads = watch(UPLOAD_EVERY_MS, () => send(url, 'POST', '/api/team/commits', mine.token, large))
  await sleep(300)
  const start = performance.now()
  const responses = await new Promise<string>((resolve) =>
    new Worker(new URL(import.meta.url), { workerData: { name, url, token } }).once('message', resolve),
  )
  const took = performance.now() - start
  const [waits, smalls, larges] = await Promise.all([health(), smallUploads(), largeUploads()])
  const memory = await memoryOf(pid, 'VmHWM')
  const lives = await send(url, 'GET', '/api/health').then(
    () => true,
    () => false,
  )
  return [
    responses,
    seconds(took),
    `${waits.longest.toFixed(0)} ms`,
    seconds(smalls.longest),
    seconds(larges.longest),
    String(waits.failed + smalls.failed + larges.failed),
    Number.isNaN(memory) ? '-' : `${memory.toFixed(0)} MiB`,
    lives ? 'lives' : 'DEAD',
  ]
}

const measure = () =>
  benchmark(async (cleanUp) => {
    const setting = await prepare(cleanUp, { RATE_LIMITS: 'on' })
    const [mine, other] = [await setting.signIn('ordinary'), await setting.signIn('hostile')]
    const id = await createWorkspace(setting.service.url, [mine])
    // The service reads no body from a caller without a workspace.
    await createWorkspace(setting.service.url, [other])
    say(`${AT_ONCE} bodies of 24 MiB at once, beside the uploads of another caller`)
    say(
      '| body | answers | after | health at most | small uploads | large uploads | failed | memory | service |',
    )
    say('|---|---|---|---|---|---|---|---|---|')
    for (const name of Object.keys(bodies)) {
      const cells = await attack(setting, name, { id, token: mine.token }, other.token)
      say(`| ${[name, ...cells].join(' | ')} |`)
    }
  })

await (isMainThread ? measure() : sendHostile(workerData))
