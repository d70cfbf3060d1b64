/**
 * `GET /settings` against bare Fastify with one prepared point-select and against a tuned Express (`express.ts`), 304 against 200,
 * and its query through the shared connection (`database.hot`) against the pool (`database.read`).
 */

import { readBestSnapshot } from '../src/features/settings/queries/snapshots.js'
import { connect, type Db } from '../src/platform/database/client.js'
import {
  bearer,
  benchmark,
  JWT_SECRETS,
  type Load,
  median,
  medianLoads,
  percentile,
  prepare,
  push,
  say,
  startProcess,
  wrk,
} from './harness.js'

await benchmark(async (cleanUp) => {
  const { databaseUrl, service, signIn } = await prepare(cleanUp)
  const ada = await signIn('ada')
  const authorization = bearer(ada.token)
  const blob = (bytes: number) => ({ 'ext.blob': 'x'.repeat(bytes - 15) })
  await push(service.url, ada, 'ada/small', blob(2_048))
  const etag = await push(service.url, ada, 'ada/large', blob(262_144))

  const bare = await startProcess('bench/bare.js', { DATABASE_URL: databaseUrl }, '/health')
  cleanUp(bare.stop)
  const peer = await startProcess(
    'bench/express.js',
    { DATABASE_URL: databaseUrl, JWT_SECRETS, NODE_ENV: 'production' },
    '/health',
  )
  cleanUp(peer.stop)

  const small = { pid: service.pid, url: `${service.url}/api/settings/ada/small` }
  const large = { pid: service.pid, url: `${service.url}/api/settings/ada/large` }
  const database = connect({ url: databaseUrl, poolSize: 10, prepare: true })
  cleanUp(database.close)
  const question = { userId: ada.id, ownerKey: 'ada', repoKey: 'small' }
  /** As many queries at once as wrk has connections. */
  const queryThrough = (db: Db) => async (): Promise<Load> => {
    const [start, cpu] = [performance.now(), process.cpuUsage()]
    const times: number[] = []
    const ask = async () => {
      for (let now = start; now < start + 5_000; now = performance.now()) {
        await readBestSnapshot(db, question, undefined)
        times.push(performance.now() - now)
      }
    }
    await Promise.all(Array.from({ length: 32 }, ask))
    const { user, system } = process.cpuUsage(cpu)
    return {
      perSecond: (times.length / (performance.now() - start)) * 1_000,
      p50: median(times),
      p99: percentile(times, 0.99),
      cpu: (user + system) / times.length,
    }
  }

  const results = await medianLoads({
    bare: () => wrk({ pid: bare.pid, url: `${bare.url}/ada/small` }),
    service: () => wrk(small, authorization),
    Express: () => wrk({ pid: peer.pid, url: `${peer.url}/api/settings/ada/small` }, authorization),
    'service 256 KB': () => wrk(large, authorization),
    'query through hot': queryThrough(database.hot),
    'query through read': queryThrough(database.read),
    'service 256 KB 304': () => wrk(large, { ...authorization, 'If-None-Match': etag }),
  })
  for (const [name, { perSecond, p99, cpu }] of Object.entries<Load>(results)) {
    say(
      `${name.padEnd(20)} ${perSecond.toFixed(0).padStart(7)}/s  p99 ${p99.toFixed(1)} ms  ${cpu.toFixed(0)} µs of CPU`,
    )
  }
  say(
    `service / bare       ${(results.service.perSecond / results.bare.perSecond).toFixed(2)}  (target 0.75), of its CPU ${(results.service.cpu / results.bare.cpu).toFixed(2)}  (target 1.4)`,
  )
  say(
    `service / Express    ${(results.service.perSecond / results.Express.perSecond).toFixed(2)}  (target 3.5), Express's CPU ${(results.Express.cpu / results.service.cpu).toFixed(2)} of the service's`,
  )
  say(
    `hot / read           ${(results['query through hot'].perSecond / results['query through read'].perSecond).toFixed(2)}`,
  )
  say(
    `304 / 200 of 256 KB  ${(results['service 256 KB 304'].perSecond / results['service 256 KB'].perSecond).toFixed(1)}  (target 25)`,
  )
})
