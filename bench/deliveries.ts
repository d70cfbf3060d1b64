/**
 * Deliveries of the repository host, against an upload of as many counts: time, the longest pause of the event loop, and the
 * longest wait of another caller.
 */
import { deliveryShapes, type PushedCommit, signedDelivery } from '../demo/host-deliveries.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays } from '../src/platform/time/days.js'
import {
  benchmark,
  createWorkspace,
  longestStall,
  METRICS_PORT,
  median,
  memoryOf,
  post,
  prepare,
  say,
  send,
  watch,
} from './harness.js'

const COMMITS = 2_048
const FILES = 40
const BYTES = 24 * 2 ** 20 - 1_000
const REPOS = 64
const ROUNDS = 9
const ASK_EVERY_MS = 1

let made = 0

await benchmark(async (cleanUp) => {
  const env = { METRICS_PORT: String(METRICS_PORT), WEBHOOK_KEYS: 'x'.repeat(48) }
  const { service, database, signIn } = await prepare(cleanUp, env)
  const { url, pid } = service
  const ada = await signIn('ada')
  const { token } = ada
  const id = await createWorkspace(url, [ada])
  const webhook = JSON.parse((await send(url, 'POST', `/api/team/workspaces/${id}/webhook`, token)).text)
  const address = url + new URL(webhook.url).pathname
  const today = await readToday(database)

  const commits = (): PushedCommit[] =>
    Array.from({ length: COMMITS }, (_, n) => ({
      id: (++made).toString(16).padStart(40, '0'),
      timestamp: `${addDays(today, -(n % 30))}T10:00:00Z`,
      login: 'ada',
    }))
  const push = (length: number, files: number) => {
    const { event, payload } = deliveryShapes.github.push('acme/api', commits().slice(0, length))
    const modified = Array.from({ length: files }, (_, n) => `src/features/a-feature/a-file-${n}.ts`)
    const detailed = (payload as { commits: object[] }).commits.map((commit) => ({ ...commit, modified }))
    return { event, payload: { ...payload, commits: detailed } }
  }
  const large = () => {
    const { event, payload } = push(COMMITS, FILES)
    return { event, payload: { ...payload, note: 'x'.repeat(BYTES - JSON.stringify(payload).length) } }
  }
  const signed = (event: ReturnType<typeof push>) => signedDelivery('github', event, webhook.secret)
  const forged = (event: ReturnType<typeof push>) => signedDelivery('github', event, 'wrong')
  const counts = () =>
    JSON.stringify({
      workspace: id,
      day: addDays(today, -1 - made++),
      members: Array.from({ length: COMMITS / REPOS }, (_, n) => ({
        login: n === 0 ? 'ada' : `stranger-${n}`,
        repos: Array.from({ length: REPOS }, (_, repo) => ({ repo: `acme/repo-${repo}`, count: 1 })),
      })),
    })
  const deliver = (make: () => ReturnType<typeof signed>) => () => {
    const delivery = make()
    return { size: delivery.body.length, send: () => post(address, delivery) }
  }
  const upload = () => {
    const body = counts()
    return { size: body.length, send: () => send(url, 'POST', '/api/team/commits', token, body) }
  }
  const cases = {
    '2,048 counts, uploaded': upload,
    'one commit': deliver(() => signed(push(1, 3))),
    '2,048 commits': deliver(() => signed(push(COMMITS, 3))),
    '2,048 commits with 40 files each': deliver(() => signed(push(COMMITS, FILES))),
    '24 MiB': deliver(() => signed(large())),
    '24 MiB, wrongly signed': deliver(() => forged(large())),
  }
  const bob = await signIn('bob')
  const askAsBob = () => send(url, 'GET', '/api/me', bob.token)
  say('| request | size | time | longest pause of the event loop | longest wait of another caller | status |')
  say('|---|---|---|---|---|---|')
  for (const [name, make] of Object.entries(cases)) {
    const times: number[] = []
    const stalls: number[] = []
    const statuses = new Set<number>()
    let size = 0
    const waits: number[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const request = make()
      size = request.size
      await longestStall()
      const stopAsking = watch(ASK_EVERY_MS, askAsBob)
      const start = performance.now()
      statuses.add((await request.send()).status)
      const time = performance.now() - start
      const { longest, failed } = await stopAsking()
      if (failed > 0) throw new Error(`${failed} requests of another caller failed`)
      const stall = await longestStall()
      if (round === 0) continue
      times.push(time)
      stalls.push(stall)
      waits.push(longest)
    }
    const mib = (size / 2 ** 20).toFixed(2)
    const cells = [
      name,
      `${mib} MiB`,
      `${median(times).toFixed(0)} ms`,
      `${Math.max(...stalls).toFixed(0)} ms`,
      `${Math.max(...waits).toFixed(0)} ms`,
    ]
    say(`| ${[...cells, [...statuses].join()].join(' | ')} |`)
  }
  say(`Memory at most: ${(await memoryOf(pid, 'VmHWM')).toFixed(0)} MiB`)
})
