import { Agent, get } from 'node:http'
import t from 'tap'
import { createTestDatabase } from './database.js'
import { freePort, launch, onDatabase, ready, temporaryFolder } from './process.js'
import { openUnfinished, type Scene, states, stop } from './stopping.js'
import { until } from './until.js'

/** A stop that waits for something takes this long, before it is forced. */
const FORCED_MS = 9_000

// Each state has a service of its own, and most of them wait for time to pass.
t.jobs = 3
for (const [state, prepare] of Object.entries(states).reverse()) {
  t.test(`a stop ends within ten seconds: ${state}`, { buffered: true }, async (t) => {
    let stopped = await stop(await prepare(t))
    // Again while it takes too long, because a busy machine adds to the last steps.
    for (let attempt = 1; attempt < 3 && stopped.ms >= 10_000; attempt++)
      stopped = await stop(await prepare(t))
    const { ms, output, ...outcome } = stopped
    t.ok(ms < 10_000, `it took ${ms} ms`)
    t.same(outcome, { code: 0, processesLeft: 0, filesLeft: 0, sessionsLeft: 0, cut: 0 }, output)
  })
}

t.test('a stop closes keep-alive connections after their answers', { buffered: true }, async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const service = await ready(launch(t, await freePort(), onDatabase(url)))
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  await new Promise((resolve) =>
    get(`${service.url}/api/health`, { agent }, (response) => response.resume().on('end', resolve)),
  )
  const { code, ms } = await stop({ service })
  t.equal(code, 0)
  t.ok(ms < FORCED_MS, 'nothing was waited for')
})

t.test(
  'a stopping service is not ready, and answers until its delay is over',
  { buffered: true },
  async (t) => {
    const { url, drop } = await createTestDatabase()
    t.teardown(drop)
    const service = await ready(
      launch(t, await freePort(), { ...onDatabase(url), SHUTDOWN_DELAY_MS: '1500', LOG_LEVEL: 'error' }),
    )
    const status = async (path: string) => (await fetch(`${service.url}/api/${path}`)).status
    const stopped = stop({ service })
    await until(async () => (await status('ready')) === 503, 'it is not ready')
    for (let n = 0; n < 10; n++) t.equal(await status('limits'), 200)
    const { code, ms } = await stopped
    t.equal(code, 0)
    t.ok(ms >= 1_500, 'the delay was kept')
    t.notMatch(service.output(), /"level":50/, 'what is meant is no error in the log')
  },
)

t.test(
  'a service whose output is not read continues, and stops on a signal',
  { buffered: true },
  async (t) => {
    const { url, drop } = await createTestDatabase()
    t.teardown(drop)
    const service = launch(t, await freePort(), onDatabase(url))
    const { stdout } = service.child
    // No one reads even the first line.
    stdout?.destroy()
    await ready(service)
    // More than one batch of lines.
    for (let n = 0; n < 100; n++) t.equal((await fetch(`${service.url}/api/limits`)).status, 200)
    const { code, ms, output } = await stop({ service })
    t.equal(code, 0)
    t.ok(ms < 10_000)
    t.equal(output, '', 'silently')
  },
)

t.test('a reader that stops reading delays nothing', { buffered: true }, async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const service = launch(t, await freePort(), { ...onDatabase(url), LOG_LEVEL: 'trace' })
  service.child.stdout?.pause().removeAllListeners('data')
  await ready(service)
  for (let n = 0; n < 600; n++) {
    const reply = await fetch(`${service.url}/api/limits`, { headers: { 'X-Request-Id': 'x'.repeat(128) } })
    if (reply.status !== 200) t.fail(`request ${n} was answered with ${reply.status}`)
  }
  const { code, ms } = await stopUnread({ service })
  t.equal(code, 0)
  t.ok(ms < 10_000)
})

/** `stop` waits until all output is read, which no one does here. */
const stopUnread = async ({ service }: Scene) => {
  const exited = new Promise<void>((resolve) => service.child.once('exit', () => resolve()))
  const since = Date.now()
  service.child.kill('SIGTERM')
  await exited
  service.child.stdout?.destroy()
  return { code: service.child.exitCode, ms: Date.now() - since }
}

t.test('a second signal stops it without waiting', { buffered: true }, async (t) => {
  const dataDir = await temporaryFolder(t)
  const service = await ready(launch(t, await freePort(), { DATA_DIR: dataDir }))
  await openUnfinished(t, service)
  service.child.kill('SIGINT')
  // Later than an echo of the first would come.
  const again = setTimeout(() => service.child.kill('SIGINT'), 1_200)
  t.teardown(() => clearTimeout(again))
  const { ms, code, processesLeft, filesLeft } = await stop({ service, dataDir })
  t.ok(ms < FORCED_MS, `it took ${ms} ms`)
  t.match({ code, processesLeft, filesLeft }, { code: 1, processesLeft: 0, filesLeft: 0 })
})
