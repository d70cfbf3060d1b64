/** Processes that freeze, as when a machine swaps or a virtual machine is moved. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Fault, watch } from './fault.js'
import { finishFault, randomPause, startScene } from './scene.js'

const SECONDS = [5, 30]
/** A statement that is under way is given up after 5.5 s; a busy machine adds to that, and to the next. */
const ANSWER_MS = 12_000
const HEALTH_MS = 5_000

/** Does `work` while these processes are frozen. */
export const frozenFor = async (
  list: () => Promise<number[]>,
  work: () => Promise<unknown>,
): Promise<void> => {
  const frozen = new Set<number>()
  const send = (pid: number, signal: NodeJS.Signals) => {
    try {
      process.kill(pid, signal)
    } catch {
      // The process has ended meanwhile.
    }
  }
  // Listed again, because one that isn't frozen yet starts others.
  for (let pids = await list(); pids.some((pid) => !frozen.has(pid)); pids = await list())
    for (const pid of pids) {
      send(pid, 'SIGSTOP')
      frozen.add(pid)
    }
  await work().finally(() => {
    for (const pid of frozen) send(pid, 'SIGCONT')
  })
}

export const databaseFrozen: Fault = {
  name: 'database-frozen',
  play: async (scope, { seconds }) => {
    const spells = seconds === undefined ? SECONDS : [seconds]
    const { databaseProcesses, services, crowd } = await startScene(scope)
    const url = services[0]?.url ?? ''
    const broken: string[] = []
    const details: string[] = []
    for (const spell of spells) {
      await randomPause()
      const stop = new AbortController()
      let seen = ''
      const ask = (path: string) => () => fetch(`${url}/api/${path}`)
      await frozenFor(databaseProcesses, async () => {
        const health = watch(ask('health'), 50, stop.signal)
        // A request from before the freeze may still be in progress.
        await sleep(1_000)
        const readiness = watch(ask('ready'), 200, stop.signal)
        const away = await fetch(`${url}/api/me`, {
          headers: { Authorization: `Bearer ${crowd.people[0]?.token}` },
        })
        const waits = away.headers.get('retry-after')
        if (away.status !== 503 || Number(waits) < 1) broken.push(`it was answered ${away.status}, ${waits}`)
        await sleep(spell * 1_000 - 1_000)
        stop.abort()
        const [alive, prepared] = [await health, await readiness]
        if ([...alive.statuses.keys()].some((status) => status !== 200)) broken.push('/api/health failed')
        if (alive.longestMs > HEALTH_MS) broken.push(`/api/health took ${Math.round(alive.longestMs)} ms`)
        if ([...prepared.statuses.keys()].some((status) => status !== 503))
          broken.push(`/api/ready said ${[...prepared.statuses.keys()]}`)
        seen = `${spell} s: /api/health within ${Math.round(alive.longestMs)} ms, /api/ready 503 within ${Math.round(prepared.longestMs)} ms`
      })
      const back = await crowd.recovered()
      details.push(`${seen}, back after ${Math.round(back)} ms`)
    }
    const { longestMs } = crowd.figures
    if (longestMs > ANSWER_MS) broken.push(`a request took ${Math.round(longestMs)} ms`)
    const outcome = await finishFault(crowd, `${spells.join(' and ')} s of SIGSTOP`, broken)
    return { ...outcome, details: [...details, ...(outcome.details ?? [])] }
  },
}

export const serviceFrozen: Fault = {
  name: 'service-frozen',
  play: async (scope, { seconds }) => {
    const spells = seconds === undefined ? SECONDS : [seconds]
    // The call to the repository host times out in the meantime.
    const { services, crowd } = await startScene(scope, { excused: [503, 504] })
    for (const spell of spells) {
      await randomPause()
      await frozenFor(
        async () => [services[0]?.child.pid ?? 0],
        () => sleep(spell * 1_000),
      )
      await crowd.recovered()
    }
    await randomPause()
    return finishFault(crowd, `${spells.join(' and ')} s of SIGSTOP`)
  },
}
