/**
 * Stops the service again and again in every state, and prints what that took and what it left.
 *   node build/test/faults/stops.js [--rounds 20] [--state 'database silent'] [--root <another checkout, built>]
 */
import { parseArgs } from 'node:util'
import { startTestServer } from '../database.js'
import type { Outcome } from '../stopping.js'

/** Several are stopped at a time: most of them wait. */
const AT_ONCE = 5

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    state: { type: 'string', multiple: true },
    root: { type: 'string' },
  },
})
const say = (line: string) => process.stdout.write(`${line}\n`)

const server = await startTestServer(say)
process.env.TEST_DATABASE_URL = server.url
if (values.root !== undefined) process.env.SERVICE_ROOT = values.root
// Read by what is imported here.
const { states, stop } = await import('../stopping.js')

const playOnce = async (prepare: (typeof states)[string]): Promise<Outcome | string> => {
  const ends: (() => unknown)[] = []
  try {
    return await stop(await prepare({ teardown: (end) => ends.push(end) }))
  } catch (error) {
    return String(error)
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

const play = async (prepare: (typeof states)[string], rounds: number) => {
  const outcomes: (Outcome | string)[] = []
  let begun = 0
  const player = async () => {
    while (begun++ < rounds) outcomes.push(await playOnce(prepare))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, player))
  return outcomes
}

const describe = (state: string, outcomes: (Outcome | string)[]) => {
  const done = outcomes.filter((outcome) => typeof outcome !== 'string')
  const failures = outcomes.filter((outcome) => typeof outcome === 'string')
  const times = done.map(({ ms }) => ms).sort((a, b) => a - b)
  const codes = new Map<unknown, number>()
  for (const { code } of done) codes.set(code, (codes.get(code) ?? 0) + 1)
  const sum = (of: (outcome: Outcome) => number) => done.reduce((total, outcome) => total + of(outcome), 0)
  say(
    `| ${[
      state,
      done.length,
      times[times.length >> 1] ?? '–',
      times.at(-1) ?? '–',
      [...codes].map(([code, count]) => `${code} × ${count}`).join(', '),
      sum(({ processesLeft }) => processesLeft),
      sum(({ filesLeft }) => filesLeft),
      sum(({ sessionsLeft }) => sessionsLeft),
      sum(({ cut }) => cut),
    ].join(' | ')} |`,
  )
  for (const failure of new Set(failures)) say(`not in that state: ${failure}`)
}

try {
  say(
    '| state | stops | median ms | longest ms | exit codes | processes left | files left | sessions left | answers cut |',
  )
  say('|---|---|---|---|---|---|---|---|---|')
  for (const [state, prepare] of Object.entries(states)) {
    if (values.state && !values.state.includes(state)) continue
    describe(state, await play(prepare, Number(values.rounds)))
  }
} finally {
  await server.stop()
}
