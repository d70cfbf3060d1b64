/** One of two instances has a clock that is ten minutes off, and callers take turns with them. Needs libfaketime. */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { combineOutcomes, type Fault, type Outcome } from './fault.js'
import { finishFault, startScene } from './scene.js'

const LIBRARY = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1',
].find(existsSync)
const SECONDS = 30

export const clockSkewed: Fault = {
  name: 'clock-skewed',
  needs: LIBRARY ? [] : ['libfaketime'],
  play: async (scope, { seconds = SECONDS }) => {
    const outcomes: Outcome[] = []
    for (const offset of ['+10m', '-10m']) {
      const odd = { LD_PRELOAD: LIBRARY ?? '', FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
      const { crowd } = await startScene(scope, { excused: [], env: [{}, odd] })
      await sleep(seconds * 1_000)
      outcomes.push(await finishFault(crowd, ''))
    }
    return combineOutcomes(`two instances, one 10 minutes ahead, then behind, ${seconds} s each`, outcomes)
  },
}
