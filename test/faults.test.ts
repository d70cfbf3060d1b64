/**
 * Short versions of the faults of `npm run test:faults`, with the same callers and the same model of the expected data.
 */
import t from 'tap'
import { frozenFor } from './faults/frozen.js'
import { finishFault, startScene } from './faults/scene.js'
import { killProcesses } from './process.js'
import { until } from './until.js'

t.test('acknowledged writes are stored exactly once, whatever stops or freezes during writes', async (t) => {
  const { databaseProcesses, services, restart, crowd } = await startScene(t, {
    callers: 3,
    pauseMs: 100,
    excused: [0, 503, 504],
  })
  await t.test('the service is killed', async () => {
    services[0]?.child.kill('SIGKILL')
    await services[0]?.ended
    restart()
    await crowd.recovered()
  })
  await t.test('the database is killed', async (t) => {
    killProcesses(await databaseProcesses())
    await crowd.recovered()
    t.equal(services[0]?.child.exitCode, null, 'the service lives')
  })
  await t.test('the database freezes', async (t) => {
    const url = services[0]?.url
    const headers = { Authorization: `Bearer ${crowd.people[0]?.token}` }
    // A database process that starts after the freeze would keep running.
    await until(async () => (await fetch(`${url}/api/ready`)).ok, 'the connection of the probes is there')
    await frozenFor(databaseProcesses, async () => {
      const away = await fetch(`${url}/api/me`, { headers })
      t.equal(away.status, 503)
      t.ok(Number(away.headers.get('retry-after')) >= 1)
      t.equal((await fetch(`${url}/api/health`)).status, 200)
      t.equal((await fetch(`${url}/api/ready`)).status, 503)
    })
    await crowd.recovered()
  })
  await t.test('the service freezes', async () => {
    await frozenFor(
      async () => [services[0]?.child.pid ?? 0],
      async () => {},
    )
    await crowd.recovered()
  })
  const { acknowledged = 0, broken } = await finishFault(crowd, '')
  t.ok(acknowledged > 10)
  t.same(broken, [])
})
