import t, { type Test } from 'tap'
import { createTestDatabase } from './database.js'
import { freePort, launch, onDatabase, ready, temporaryFolder } from './process.js'
import { openUnfinished, type Scene, states, stop } from './stopping.js'
import { until } from './until.js'

// Each state has a service of its own, and most of them wait for time to pass.
t.jobs = 3
const expectClean = async (t: Test, state: string, dataDir: string) => {
  const scene = await states[state]?.(t, dataDir)
  if (!scene) throw new Error(`There is no state ${state}`)
  const { ms: _, output, ...outcome } = await stop(scene)
  // A stop that had not ended after nine seconds was forced, and its code is 1.
  const clean = { code: 0, processesLeft: 0, filesLeft: 0, sessionsLeft: 0, cut: 0 }
  t.same(outcome, clean, `${state}: ${output}`)
}

const ofOneDatabase = ['embedded database suspended', 'reviving the embedded database']
for (const state of Object.keys(states).reverse())
  if (!ofOneDatabase.includes(state))
    t.test(`shutdown takes at most ten seconds: ${state}`, { buffered: true }, async (t) =>
      expectClean(t, state, await temporaryFolder(t)),
    )

t.test(
  'shutdown takes at most ten seconds whatever the embedded database does, and a second signal stops immediately',
  { buffered: true },
  async (t) => {
    const dataDir = await temporaryFolder(t)
    for (const state of ofOneDatabase) await expectClean(t, state, dataDir)
    // A minute later, it would stop by itself, with 0.
    const env = { DATA_DIR: dataDir, SHUTDOWN_DELAY_MS: '60000' }
    const service = await ready(launch(t, await freePort(), env))
    await openUnfinished(t, service)
    service.child.kill('SIGINT')
    // Later than an echo of the first would come, even where the first is noticed late.
    const again = setInterval(() => service.child.kill('SIGINT'), 1_200)
    t.teardown(() => clearInterval(again))
    const { code, processesLeft, filesLeft } = await stop({ service, dataDir })
    t.match({ code, processesLeft, filesLeft }, { code: 1, processesLeft: 0, filesLeft: 0 })
  },
)

t.test(
  'a service whose output isn’t read continues, and stops on a signal',
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
    const { code, output } = await stop({ service })
    t.equal(code, 0)
    t.equal(output, '', 'silently')
  },
)

t.test('a log reader that stops reading delays nothing', { buffered: true }, async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const service = launch(t, await freePort(), { ...onDatabase(url), LOG_LEVEL: 'trace' })
  service.child.stdout?.pause().removeAllListeners('data')
  await ready(service)
  for (let n = 0; n < 600; n++) {
    const reply = await fetch(`${service.url}/api/limits`, { headers: { 'X-Request-Id': 'x'.repeat(128) } })
    if (reply.status !== 200) t.fail(`request ${n} was answered with ${reply.status}`)
  }
  t.equal(await stopUnread({ service }), 0)
})

/** `stop` waits until all output is read, which no one does here. */
const stopUnread = async ({ service }: Scene) => {
  const exited = new Promise<void>((resolve) => service.child.once('exit', () => resolve()))
  service.child.kill('SIGTERM')
  await exited
  service.child.stdout?.destroy()
  return service.child.exitCode
}

t.test(
  'an unhandled failure is counted and stops nothing, and a stopping service responds until its delay is over',
  async (t) => {
    const { url, drop } = await createTestDatabase()
    t.teardown(drop)
    const fault = `process.on('SIGUSR2', () => Promise.reject(new Error('left alone')))`
    const metricsPort = await freePort()
    const service = await ready(
      launch(t, await freePort(), {
        ...onDatabase(url),
        METRICS_PORT: String(metricsPort),
        SHUTDOWN_DELAY_MS: '15000',
        LOG_LEVEL: 'error',
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}`,
      }),
    )
    service.child.kill('SIGUSR2')
    await until(() => service.output().includes('left alone'), 'the failure is in the log')
    const status = async (path: string) => (await fetch(service.url + path)).status
    t.equal(await status('/api/ready'), 200)
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    t.match(metrics, /^team_settings_unhandled_rejections_total 1$/m)
    const counted =
      /http_request_duration_seconds_count\{method="GET",route="\/api\/ready",status="200"\} \d+/
    t.match(metrics, counted)
    t.equal(await status('/metrics'), 404)

    t.comment('a stopping service is not ready, and answers until its delay is over')
    const stopped = stop({ service })
    await until(async () => (await status('/api/ready')) === 503, 'it is not ready')
    for (let n = 0; n < 10; n++) t.equal(await status('/api/limits'), 200)
    t.equal((await stopped).code, 0)
    const errors = service
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":50') && !line.includes('left alone'))
    t.strictSame(errors, [], 'what is meant is no error in the log')
  },
)
