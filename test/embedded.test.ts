import { mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startThrowAwayDatabase } from '../demo/database.js'
import { startEmbedded } from '../src/db/embedded/index.js'
import { locks } from '../src/db/locks.js'
import { migrate } from '../src/db/migrate.js'
import { freePort, launchProgram, processesOf, temporaryFolder } from './process.js'
import { startService } from './service.js'
import { until } from './until.js'

t.test('the service keeps house on the embedded database that it owns', async (t) => {
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const dataDir = await temporaryFolder(t)
  const server = await startEmbedded({ dataDir, maxConnections: 30, durable: false, log })
  t.teardown(() => server.stop())
  await migrate(server.url)
  const service = await startService(t, { env: { DATABASE_URL: server.url } })
  await service.app.housekeeping.run()
  await service.app.rollups.run()
  t.strictSame(
    service.logs.filter((line) => line.includes('"level":40')),
    [],
  )
  t.equal(new Set(Object.values(locks)).size, Object.keys(locks).length)
})

t.test('what a killed run has left is cleared away by the next, and nothing else', async (t) => {
  const folder = await temporaryFolder(t)
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const start = () => startThrowAwayDatabase({ maxConnections: 10, durable: false, log }, folder)
  const living = await start()
  t.teardown(() => living.stop())
  const before = await readdir(folder)
  const stranger = join(folder, 'team-settings-stranger')
  await mkdir(stranger)

  const killed = launchProgram(t, 'demo/demo', { TMPDIR: folder, PORT: String(await freePort()) })
  const left = await until(async () => {
    const [found] = (await readdir(folder)).filter(
      (name) => join(folder, name) !== stranger && !before.includes(name),
    )
    return (
      found &&
      (await stat(join(folder, found, 'postgresql', 'postmaster.pid')).catch(() => undefined)) &&
      found
    )
  }, 'the demo has a database')
  killed.child.kill('SIGKILL')
  await killed.ended
  t.not((await processesOf(join(folder, left))).length, 0, 'its server has outlived it')

  const next = await start()
  t.strictSame(await processesOf(join(folder, left)), [])
  const now = await readdir(folder)
  t.notOk(now.includes(left))
  t.ok(now.includes('team-settings-stranger'))
  for (const name of before) t.ok(now.includes(name))
  await Promise.all([next, living].map(({ url }) => migrate(url)))
  await next.stop()
  t.equal((await readdir(folder)).length, now.length - 1, 'and a run that ends removes its own')
})
