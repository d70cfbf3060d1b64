/** `GET /settings` of the whole service beside bare Fastify with one prepared point-select; and its 304 beside its 200. */
import { benchmark, interleave, type Load, prepare, say, startProcess, wrk } from './harness.js'

await benchmark(async (cleanUp) => {
  const { databaseUrl, service, signIn } = await prepare(cleanUp)
  const ada = await signIn('ada')
  const authorization = { Authorization: `Bearer ${ada.token}` }
  const push = async (repo: string, bytes: number) => {
    const reply = await fetch(`${service.url}/api/settings/ada/${repo}`, {
      method: 'PUT',
      headers: {
        ...authorization,
        'Content-Type': 'application/json',
        'X-Repohost-Token': ada.repohostToken,
      },
      body: JSON.stringify({ settings: { 'ext.blob': 'x'.repeat(bytes - 15) } }),
    })
    return reply.headers.get('etag') ?? ''
  }
  await push('small', 2_048)
  const etag = await push('large', 262_144)

  const bare = await startProcess('bench/bare.js', 3902, { DATABASE_URL: databaseUrl }, '/health')
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
