/** Windows of an editor that share a folder, are killed and put to sleep at random, and send over a rough network. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startLossyProxy } from './lossy-proxy.js'
import { programFile, temporaryFolder } from './process.js'
import { startService } from './service.js'

type Test = Parameters<typeof startService>[0]

/** The instructions for a window. */
export interface Given {
  url: string
  token: string
  folder: string
  journal: string
  window: number
  /** A minute each. */
  adds: { repo: string; at: number }[]
}

const HOURS = 700
const HOUR_MS = 3_600_000
const REPOS = 20

/**
 * The minutes of a window: in every hour of the last 29 days at most 12, so that five windows fill none to more than its
 * 60 minutes, and the service cuts nothing.
 */
const minutesOf = (window: number, count: number): Given['adds'] => {
  const now = Date.now()
  const first = now - (now % HOUR_MS) - HOURS * HOUR_MS
  return Array.from({ length: Math.min(count, HOURS * 12) }, (_, index) => ({
    repo: `acme/repo-${(index * 7 + window) % REPOS}`,
    at: first + ((index * 37 + window * 11) % HOURS) * HOUR_MS,
  }))
}

const tally = (lines: string[], mark: string) => {
  const counts = new Map<string, number>()
  for (const line of lines) {
    if (line.startsWith(`${mark} `)) counts.set(line.slice(2), (counts.get(line.slice(2)) ?? 0) + 1)
  }
  return counts
}

const sum = (counts: Map<string, number>) => [...counts.values()].reduce((total, count) => total + count, 0)

/** Plays until all minutes were sent; says what was counted, and where that differs from the model. */
export const playQueue = async (
  test: Test,
  { windows = 5, minutes = 8_000, restMs = 300, killsPerWindow = Number.POSITIVE_INFINITY } = {},
) => {
  const service = await startService(test, { env: { LOG_LEVEL: 'error' } })
  const ada = await service.signIn('ada')
  await service.workspace(ada)
  const network = await startLossyProxy(test, service.url, { rough: true })
  const folder = await temporaryFolder(test)
  const children = new Set<ChildProcess>()
  test.teardown(() => {
    for (const child of children) child.kill('SIGKILL')
  })
  const troubles: string[] = []
  const happened = { kills: 0, sleeps: 0 }

  const journalOf = (window: number) => join(folder, `journal-${window}`)
  const linesOf = async (window: number) =>
    (await readFile(journalOf(window), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')

  const play = async (window: number) => {
    const adds = minutesOf(window, Math.ceil(minutes / windows))
    let kills = 0
    for (;;) {
      // A started call isn't repeated: its minute was stored, or it is lost.
      const begun = (await linesOf(window)).filter((line) => line.startsWith('? ')).length
      const given: Given = {
        url: network.url,
        token: ada.token,
        folder: join(folder, 'flushes'),
        journal: journalOf(window),
        window,
        adds: adds.slice(begun),
      }
      const child = spawn(process.execPath, [programFile('test/queue-window')], {
        stdio: ['pipe', 'ignore', 'pipe'],
      })
      children.add(child)
      child.stdin.on('error', () => {}).end(JSON.stringify(given))
      child.stderr.on('data', (chunk) => troubles.push(String(chunk)))
      const ended = once(child, 'exit')
      const fate = new AbortController()
      const disturb = async () => {
        for (;;) {
          await sleep(restMs * (0.5 + Math.random()), undefined, { signal: fate.signal })
          if (Math.random() < 0.6) {
            kills++
            happened.kills++
            return void child.kill('SIGKILL')
          }
          happened.sleeps++
          child.kill('SIGSTOP')
          await sleep(restMs, undefined, { signal: fate.signal })
          child.kill('SIGCONT')
        }
      }
      // A window that has added everything is left to end by itself.
      if (given.adds.length > 0 && kills < killsPerWindow) disturb().catch(() => {})
      const [code] = await ended
      fate.abort()
      children.delete(child)
      if (code === 0) return
      if (code !== null) throw new Error(`Window ${window} failed: ${troubles.join('')}`)
    }
  }
  await Promise.all(Array.from({ length: windows }, (_, window) => play(window)))

  const lines = (await Promise.all(Array.from({ length: windows }, (_, window) => linesOf(window)))).flat()
  const [kept, begun] = [tally(lines, '+'), tally(lines, '?')]
  const rows = await service.database.read.statement<{ repo: string; hour: string; minutes: number }>(
    `select repo_key as repo, day::text || 'T' || lpad((h.hour - 1)::text, 2, '0') as hour, h.minutes::int
     from daily_activity, unnest(hours) with ordinality as h (minutes, hour) where h.minutes > 0`,
    [],
  )
  const counted = new Map(rows.map(({ repo, hour, minutes }) => [`${repo} ${hour}`, minutes]))
  const [flushes] = await service.database.read.statement<{ flushes: number }>(
    'select count(*)::int as flushes from flushes',
    [],
  )
  /** A minute whose storing a kill has interrupted may count or not; all others count once. */
  const wrong = [...new Set([...begun.keys(), ...counted.keys()])].filter((key) => {
    const count = counted.get(key) ?? 0
    return count < (kept.get(key) ?? 0) || count > (begun.get(key) ?? 0)
  })
  return {
    wrong,
    /** The reports of the queue on batches that didn't count in full. */
    reports: lines.filter((line) => line.startsWith('! ')),
    figures: {
      kept: sum(kept),
      interrupted: sum(begun) - sum(kept),
      counted: sum(counted),
      flushes: flushes?.flushes ?? 0,
      ...happened,
      ...network.lost,
      ...network.odd,
    },
  }
}
