/**
 * Five windows of an editor on one folder, killed and put to sleep at random, over a network that loses three of ten
 * exchanges: what the client has kept is counted once.
 */
import { playQueue } from '../queue-faults.js'
import { type Fault, say } from './fault.js'

const MINUTES = 15_000
const REST_MS = 3_000

export const clientQueue: Fault = {
  name: 'client-queue',
  play: async ({ teardown }, { rounds: minutes = MINUTES }) => {
    const test = { teardown, fail: say, passing: () => true }
    const { figures, wrong, reports } = await playQueue(test, { minutes, restMs: REST_MS })
    return {
      did: `${figures.kills} kills, ${figures.sleeps} sleeps, 3 of 10 exchanges lost`,
      acknowledged: figures.kept,
      lost: Math.max(0, figures.kept - figures.counted),
      doubled: Math.max(0, figures.counted - figures.kept - figures.interrupted),
      wrong: wrong.length,
      details: Object.entries(figures).map(([what, count]) => `${what}: ${count}`),
      broken: [...wrong, ...reports],
    }
  },
}
