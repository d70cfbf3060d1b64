/** Restarts instances behind HAProxy, two of four at a time, while people work, and checks that no request fails. */
import { setTimeout as sleep } from 'node:timers/promises'
import { startBalancer } from '../balancer.js'
import { ready } from '../process.js'
import type { Fault } from './fault.js'
import { finishFault, startScene } from './scene.js'

const RESTARTS = 100
const INSTANCES = 4
const AT_ONCE = 2
/** Longer than the balancer takes to ask whether an instance is ready. */
const SHUTDOWN_DELAY_MS = '2500'
/** How long the balancer takes to notice that an instance is ready. */
const SEEN_MS = 1_500

export const rollingRestarts: Fault = {
  name: 'rolling-restarts',
  needs: ['haproxy'],
  play: async (scope, { rounds = RESTARTS }) => {
    const { services, restart, crowd } = await startScene(scope, {
      callers: 8,
      excused: [],
      env: Array.from({ length: INSTANCES }, () => ({ SHUTDOWN_DELAY_MS })),
      before: (urls) =>
        startBalancer(
          scope,
          urls.map((url) => Number(new URL(url).port)),
        ),
    })
    const broken: string[] = []
    for (let done = 0; done < rounds; done += AT_ONCE) {
      const places = Array.from({ length: AT_ONCE }, (_, n) => (done + n) % INSTANCES)
      await Promise.all(
        places.map(async (place) => {
          services[place]?.child.kill('SIGTERM')
          const code = await services[place]?.ended
          if (code !== 0) broken.push(`an instance ended with ${code}`)
          await ready(restart(place))
        }),
      )
      await sleep(SEEN_MS)
    }
    return finishFault(crowd, `${rounds} restarts, ${AT_ONCE} of ${INSTANCES} at a time`, broken)
  },
}
