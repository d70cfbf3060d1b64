/** Stops the service repeatedly in every state, and reports how long it took and what was left. */
import { temporaryFolder } from '../process.js'
import { type Outcome as Stop, states, stop } from '../stopping.js'
import type { Fault } from './fault.js'

const ROUNDS = 10
/** Several are stopped at a time: most of them wait. */
const AT_ONCE = 5
const WITHIN_MS = 10_000

const playOnce = async (prepare: (typeof states)[string]): Promise<Stop | string> => {
  const ends: (() => unknown)[] = []
  try {
    const scope = { teardown: (end: () => unknown) => void ends.push(end) }
    return await stop(await prepare(scope, await temporaryFolder(scope)))
  } catch (error) {
    return String(error)
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

const play = async (prepare: (typeof states)[string], rounds: number) => {
  const stops: (Stop | string)[] = []
  let begun = 0
  const player = async () => {
    while (begun++ < rounds) stops.push(await playOnce(prepare))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, player))
  return stops
}

const describe = (state: string, stops: Stop[]) => {
  const times = stops.map(({ ms }) => ms).sort((a, b) => a - b)
  const codes = new Map<unknown, number>()
  for (const { code } of stops) codes.set(code, (codes.get(code) ?? 0) + 1)
  const sum = (of: (stop: Stop) => number) => stops.reduce((total, each) => total + of(each), 0)
  const cells = [
    state,
    stops.length,
    times[times.length >> 1] ?? '–',
    times.at(-1) ?? '–',
    [...codes].map(([code, count]) => `${code} × ${count}`).join(', '),
    sum(({ processesLeft }) => processesLeft),
    sum(({ filesLeft }) => filesLeft),
    sum(({ sessionsLeft }) => sessionsLeft),
    sum(({ cut }) => cut),
  ]
  return `| ${cells.join(' | ')} |`
}

const isClean = ({ ms, code, processesLeft, filesLeft, sessionsLeft, cut }: Stop) =>
  ms < WITHIN_MS && code === 0 && processesLeft + filesLeft + sessionsLeft + cut === 0

export const stops: Fault = {
  name: 'stops',
  play: async (_scope, { rounds = ROUNDS }) => {
    const details = [
      '| state | stops | median ms | longest ms | exit codes | processes left | files left | sessions left | answers cut |',
      '|---|---|---|---|---|---|---|---|---|',
    ]
    const broken: string[] = []
    for (const [state, prepare] of Object.entries(states)) {
      const all = await play(prepare, rounds)
      const done = all.filter((each) => typeof each !== 'string')
      details.push(describe(state, done))
      for (const each of all) {
        if (typeof each === 'string') broken.push(`not in the state ${state}: ${each}`)
        else if (!isClean(each)) broken.push(`${state}: ${JSON.stringify({ ...each, output: undefined })}`)
      }
    }
    return { did: `${rounds} × SIGTERM in ${Object.keys(states).length} states`, details, broken }
  },
}
