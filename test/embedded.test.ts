import t from 'tap'
import { startEmbedded } from '../src/db/embedded/index.js'
import { locks } from '../src/db/locks.js'
import { migrate } from '../src/db/migrate.js'
import { temporaryFolder } from './process.js'
import { startService } from './service.js'

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
