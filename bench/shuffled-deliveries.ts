/**
 * Deliveries of the repository host that are shuffled, repeated and lost, with uploads among them: whether the service counts
 * what the model of the tests counts, and how long that takes. The first argument is how many deliveries.
 */
import { isDeepStrictEqual } from 'node:util'
import { type HostEvent, signedDelivery } from '../demo/host-deliveries.js'
import { readToday } from '../src/platform/time/clock.js'
import { deliverAtRandom } from '../test/delivery-model.js'
import { readCounts } from '../test/webhooks.js'
import { benchmark, expectOk, post, prepare, say, send } from './harness.js'

const deliveries = Number(process.argv[2] ?? 100_000)
const seed = Math.floor(Math.random() * 1e9)

await benchmark(async (cleanUp) => {
  const { service, database, signIn } = await prepare(cleanUp, { WEBHOOK_KEYS: 'x'.repeat(48) })
  const { url } = service
  const [ada, bob] = [await signIn('ada'), await signIn('bob')]
  const content = { name: 'bench', patterns: ['acme/*'] }
  const { text } = await send(url, 'POST', '/api/team/workspaces/create', ada.token, content)
  const { workspace, invite } = JSON.parse(text)
  await expectOk(send(url, 'POST', '/api/team/workspaces/join', bob.token, { code: invite.code }))
  const created = await send(url, 'POST', `/api/team/workspaces/${workspace.id}/webhook`, ada.token)
  const { url: address, secret } = JSON.parse(created.text)
  const target = {
    kind: 'github' as const,
    workspace: workspace.id as string,
    admin: { post: (path: string, body?: unknown) => send(url, 'POST', path, ada.token, body) },
    send: (event: HostEvent) =>
      post(url + new URL(address).pathname, signedDelivery('github', event, secret)),
    counts: () => readCounts(database, workspace.id),
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
