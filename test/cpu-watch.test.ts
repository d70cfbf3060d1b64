/** Checks that the suite notices a piece of work that keeps everyone waiting. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { BOUND_MS, readCpu, watchCpu } from './cpu-watch.js'

const busy = (ms: number) => {
  const cpu = readCpu ?? performance.now
  const end = cpu() + ms
  while (cpu() < end);
}

t.test(
  'more than 20 ms of CPU time of the service in one piece is noticed',
  { skip: readCpu === undefined && 'needs Linux' },
  async (t) => {
    const seen: number[] = []
    let work: () => unknown = () => {}
    const server = await watchCpu(
      (ms) => seen.push(ms),
      async () => {
        const server = createServer((request, response) => {
          request.resume()
          request.on('end', async () => {
            await work()
            response.end()
          })
        })
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
        return server
      },
    )
    t.teardown(() => server.close())
    const seenOf = async (next: () => unknown) => {
      work = next
      seen.length = 0
      await (
        await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
          method: 'POST',
          body: 'x',
        })
      ).text()
      return seen.length
    }
    const half = BOUND_MS / 2 + 10
    await seenOf(() => {})
    t.equal(await seenOf(() => busy(2 * half)), 1, 'in one function')
    t.equal(
      (await seenOf(async () => {
        for (let n = 0; n < 4; n++) {
          busy(half)
          await null
        }
      })) > 0,
      true,
      'in continuations of promises, which let no one in',
    )
    t.equal(
      await seenOf(async () => {
        for (let n = 0; n < 4; n++) {
          busy(BOUND_MS / 2)
          await setImmediate()
        }
      }),
      0,
      'but not in pieces',
    )
    seen.length = 0
    busy(2 * half)
    await null
    t.strictSame(seen, [], 'and not work of the test')
  },
)
