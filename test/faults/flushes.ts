/** Flushes of many people at once, with a statement that fails or a connection that breaks in every second set. */
import { runFlushModel } from '../flush-model.js'
import { type Fault, say } from './fault.js'

const BATCHES = 10_000

export const flushSets: Fault = {
  name: 'flush-sets',
  play: async ({ teardown }, { rounds = BATCHES }) => {
    const test = { teardown, fail: say, passing: () => true }
    const { wrong, flushes, faults } = await runFlushModel(test, rounds)
    return {
      did: `${faults} failures in ${rounds} batches`,
      requests: flushes,
      wrong: wrong.length,
      broken: wrong,
    }
  },
}
