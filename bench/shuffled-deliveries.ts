/**
 * Shuffled, repeated and lost deliveries of the repository host, with uploads among them: whether the counts equal those of
 * the tests' model, and the time. The argument is the number of deliveries.
 */
import { isDeepStrictEqual } from 'node:util'
import { type HostEvent, signedDelivery } from '../demo/host-deliveries.js'
import { readToday } from '../src/platform/time/clock.js'
import { deliverAtRandom } from '../test/delivery-model.js'
import { readCounts } from '../test/webhooks.js'
import { benchmark, createWorkspace, post, prepare, say, send } from './harness.js'

const deliveries = Number(process.argv[2] ?? 100_000)
const seed = Math.floor(Math.random() * 1e9)

await benchmark(async (cleanUp) => {
  const { service, database, signIn } = await prepare(cleanUp, { WEBHOOK_KEYS: 'x'.repeat(48) })
  const { url } = service
  const [ada, bob] = [await signIn('ada'), await signIn('bob')]
  const workspace = await createWorkspace(url, [ada, bob])
  const created = await send(url, 'POST', `/api/team/workspaces/${workspace}/webhook`, ada.token)
  const { url: address, secret } = JSON.parse(created.text)
  const target = {
    kind: 'github' as const,
    workspace,
    admin: { post: (path: string, body?: unknown) => send(url, 'POST', path, ada.token, body) },
    send: (event: HostEvent) =>
      post(url + new URL(address).pathname, signedDelivery('github', event, secret)),
    counts: () => readCounts(database, workspace),
  }
  const start = performance.now()
  const { counted, expected } = await deliverAtRandom(target, await readToday(database), { deliveries, seed })
  const seconds = (performance.now() - start) / 1_000
  const total = Object.values(counted).reduce((sum, counts) => sum + counts.commits + counts.closed_issues, 0)
  const equal = isDeepStrictEqual(counted, expected)
  say(`${deliveries} deliveries, seed ${seed}: ${total} commits and closed issues in ${seconds.toFixed(0)} s`)
  say(`The counts ${equal ? 'equal' : 'DIFFER from'} those of the model.`)
  if (!equal) process.exitCode = 1
})
