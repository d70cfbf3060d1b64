/** `GET /settings` of the whole service beside bare Fastify with one prepared point-select; and its 304 beside its 200. */
import { startRepohost } from '../src/demo/repohost.js'
import {
  benchmark,
  freshDatabase,
  interleave,
  type Load,
  say,
  startDatabase,
  startProcess,
  startTheService,
  wrk,
} from './harness.js'

await benchmark(async (cleanUp) => {
  const database = await startDatabase()
  cleanUp(database.stop)
  const url = await freshDatabase(database.url, 'bench_settings')
  const repohost = await startRepohost()
  cleanUp(repohost.close)
  const ada = repohost.addUser('ada')
  const first = await startTheService(3901, url, { REPOHOST_API_URL: repohost.url, RATE_LIMITS: 'on' })

  const post = (path: string, body: object) =>
    fetch(first.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  const { token } = (await (await post('/api/auth/verify', { repohost_token: ada.token })).json()) as {
    token: string
  }
  const authorization = { Authorization: `Bearer ${token}` }
  const push = async (repo: string, bytes: number) => {
    const reply = await fetch(`${first.url}/api/settings/ada/${repo}`, {
      method: 'PUT',
      headers: { ...authorization, 'Content-Type': 'application/json', 'X-Repohost-Token': ada.token },
      body: JSON.stringify({ settings: { 'ext.blob': 'x'.repeat(bytes - 15) } }),
    })
    return reply.headers.get('etag') ?? ''
  }
  await push('small', 2_048)
  const etag = await push('large', 262_144)

  // The measured process has no limit per caller, because here one caller is the whole load; the limiter's work is in it.
  await first.stop()
  const service = await startTheService(3901, url, {
    REPOHOST_API_URL: repohost.url,
    RATE_LIMITS: process.env.BENCH_LIMITS ?? 'off',
  })
  cleanUp(service.stop)
  const bare = await startProcess('bench/bare.js', 3902, { DATABASE_URL: url }, '/health')
  cleanUp(bare.stop)

  const small = { pid: service.pid, url: `${service.url}/api/settings/ada/small` }
  const large = { pid: service.pid, url: `${service.url}/api/settings/ada/large` }
  const results = await interleave({
    bare: () => wrk({ pid: bare.pid, url: `${bare.url}/ada/small` }),
    service: () => wrk(small, authorization),
    'service 256 KB': () => wrk(large, authorization),
    'service 256 KB 304': () => wrk(large, { ...authorization, 'If-None-Match': etag }),
  })
  for (const [name, { perSecond, p99, cpu }] of Object.entries<Load>(results)) {
    say(
      `${name.padEnd(20)} ${perSecond.toFixed(0).padStart(7)}/s  p99 ${p99.toFixed(1)} ms  ${cpu.toFixed(0)} µs of CPU`,
    )
  }
  say(
    `service / bare       ${(results.service.perSecond / results.bare.perSecond).toFixed(2)}  (target 0.70)`,
  )
  say(
    `304 / 200 of 256 KB  ${(results['service 256 KB 304'].perSecond / results['service 256 KB'].perSecond).toFixed(1)}  (target 25)`,
  )
})
