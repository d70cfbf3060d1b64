/** The primary of a synchronous pair ends under load, and the other one is promoted: the service finds it. */
import { startRepohost } from '../../demo/repohost.js'
import { freePort, launch, onDatabase, ready } from '../process.js'
import { startPair } from '../streaming-pair.js'
import { startCrowd } from './crowd.js'
import { combineOutcomes, type Fault, type Outcome, type Scope } from './fault.js'
import { finishFault, randomPause } from './scene.js'

const ROUNDS = 5
const WITHIN_MS = 15_000

const failOver = async (scope: Scope): Promise<Outcome> => {
  const { first, second } = await startPair(scope, { synchronous: true })
  const repohost = await startRepohost()
  scope.teardown(() => repohost.close())
  const { username, password, host, pathname } = first.address
  const service = await ready(
    launch(scope, await freePort(), {
      ...onDatabase(`postgres://${username}:${password}@${second.address.host},${host}${pathname}`),
      REPOHOST_URL: repohost.url,
      REPOHOST_API_URL: repohost.url,
      LOG_LEVEL: 'silent',
    }),
  )
  const crowd = await startCrowd({ url: () => service.url, repohost, admin: second.sql })
  await randomPause(3_000, 5_000)
  await first.stop(AbortSignal.abort())
  const since = performance.now()
  await second.sql`select pg_promote()`
  const ms = await crowd.recovered(since)
  await randomPause()
  return finishFault(crowd, '', ms > WITHIN_MS ? [`it took ${Math.round(ms)} ms to be back`] : [])
}

export const failover: Fault = {
  name: 'failover',
  play: async (_scope, { rounds = ROUNDS }) => {
    const outcomes: Outcome[] = []
    for (let round = 0; round < rounds; round++) {
      const ends: (() => unknown)[] = []
      outcomes.push(await failOver({ teardown: (end) => ends.unshift(end) }))
      for (const end of ends) await end()
    }
    return combineOutcomes(`${rounds} × the primary ends, the standby is promoted`, outcomes)
  },
}
