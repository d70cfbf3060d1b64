/** Restarts instances behind HAProxy, two of four at a time, while people are at work: nobody notices. */
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { projectRoot } from '../../src/runtime/root.js'
import { freePort, ready, temporaryFolder } from '../process.js'
import { until } from '../until.js'
import type { Fault } from './fault.js'
import { conclude, setScene } from './scene.js'

const RESTARTS = 100
const INSTANCES = 4
const AT_ONCE = 2
/** Longer than the balancer takes to ask whether an instance is ready. */
const SHUTDOWN_DELAY_MS = '2500'
/** Until the balancer has seen that it is. */
const SEEN_MS = 1_500

export const rollingRestarts: Fault = {
  name: 'rolling-restarts',
  needs: ['haproxy'],
  play: async (scope, { rounds = RESTARTS }) => {
    const front = await freePort()
    const { services, restart, crowd } = await setScene(scope, {
      callers: 8,
      excused: [],
      env: Array.from({ length: INSTANCES }, () => ({ SHUTDOWN_DELAY_MS })),
      before: async (urls) => {
        const example = await readFile(join(projectRoot, 'ops/haproxy.cfg'), 'utf8')
        const configuration = join(await temporaryFolder(scope), 'haproxy.cfg')
        await writeFile(
          configuration,
          example
            .replace(':8080', `:${front}`)
            .replace(
              /:300([1-4])/g,
              (_, number: string) => `:${new URL(urls[Number(number) - 1] ?? '').port}`,
            ),
        )
        const balancer = spawn('haproxy', ['-f', configuration, '-db', '-q'], { stdio: 'ignore' })
        scope.teardown(() => balancer.kill('SIGTERM'))
        const url = `http://127.0.0.1:${front}`
        await until(
          async () => (await fetch(`${url}/api/ready`).catch(() => undefined))?.ok,
          'the balancer serves',
        )
        return url
      },
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
    return conclude(crowd, `${rounds} restarts, ${AT_ONCE} of ${INSTANCES} at a time`, broken)
  },
}
