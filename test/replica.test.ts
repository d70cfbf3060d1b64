/** Reads on a replica: nothing is missed, whatever the replica does, and no caller gets an error because of it. */
import t from 'tap'
import { migrate } from '../src/platform/database/migrate.js'
import { createTestDatabase } from './database.js'
import { processesOf } from './process.js'
import { type Caller, type Service, startService } from './service.js'
import { startPair } from './streaming-pair.js'
import { until } from './until.js'

const { first, second } = await startPair(t)
await migrate(first.url)
const env = {
  DATABASE_URL: first.url,
  DATABASE_REPLICA_URL: second.url,
  ADMIN_KEYS: 'a-key-of-the-operator',
  // Nothing listens there: this only lets metrics be kept.
  METRICS_PORT: '9',
}
const service = await startService(t, { env })
const [ada, bob] = await Promise.all([service.signIn('ada'), service.signIn('bob')])
const { id } = await service.workspace(ada, { members: [bob] })
const today = new Date().toISOString().slice(0, 10)

const isUsed = () => until(() => service.app.database.replica?.isUsed(), 'the replica is used')
const isLeft = () => until(() => !service.app.database.replica?.isUsed(), 'the replica is not used')

const flush = async (caller: Caller, minutes = 1) => {
  const entries = [{ repo: 'acme/api', day: today, minutes }]
  t.equal((await caller.post('/api/team/active-minutes', { entries })).status, 200)
}
const dashboard = `/api/team/dashboard?workspace=${id}`
const minutesIn = async (caller: Caller) => {
  const { status, text, body } = await caller.get(dashboard)
  if (status !== 200) throw new Error(text)
  return body.totals.active_minutes as number
}
/** Which of the servers have answered `work`. */
const askedDuring = async (work: () => Promise<unknown>, of = service) => {
  const before = await readsOf(of)
  await work()
  const after = await readsOf(of)
  return { replica: after('replica') - before('replica'), primary: after('primary') - before('primary') }
}
const readsOf = async ({ app }: Service) => {
  const text = await app.metrics.metrics()
  return (server: string) =>
    Number(
      text.match(
        new RegExp(`^team_settings_database_replica_reads_total\\{server="${server}"\\} (.*)$`, 'm'),
      )?.[1],
    )
}
const troubles = ({ logs }: Service) =>
  logs.map((line) => JSON.parse(line)).filter(({ level, msg }) => level === 40 && /replica/.test(msg))

let minutes = 0

t.test('dashboards, the audit trail and the funnel are read on the replica', async (t) => {
  const key = { 'X-Service-Admin-Key': 'a-key-of-the-operator' }
  const readAll = async () => {
    await minutesIn(ada)
    t.equal((await ada.get(`${dashboard}&format=csv`)).status, 200)
    t.equal((await ada.get(`/api/team/workspaces/${id}/audit`)).status, 200)
    t.equal((await service.request('GET', '/api/admin/funnel', { headers: key })).status, 200)
  }
  await until(async () => {
    const { primary, replica } = await askedDuring(readAll)
    return primary === 0 && replica >= 4
  }, 'all of them are answered by a replica that keeps up')
})

t.test('every later read by anyone includes an answered write', async (t) => {
  const beside = await startService(t, { env, beside: service })
  const there = await beside.signIn('ada')
  for (let n = 0; n < 20; n++) {
    await flush(bob)
    minutes++
    t.equal(await minutesIn(n % 2 === 0 ? ada : there), minutes)
  }
  const { headers } = await ada.get(dashboard)
  const again = { 'If-None-Match': headers.get('etag') ?? '' }
  t.equal((await there.get(dashboard, again)).status, 304, 'the same content has one ETag')
})

t.test('a replica that is behind is not asked until it has caught up', async (t) => {
  await isUsed()
  const known = troubles(service).length
  await second.sql`select pg_wal_replay_pause()`
  await flush(bob, 5)
  minutes += 5
  const asked = await askedDuring(async () => {
    t.equal(await minutesIn(ada), minutes)
    const tightened = { activity_privacy: 'team' }
    t.equal((await ada.patch(`/api/team/workspaces/${id}/settings`, tightened)).status, 200)
    t.strictSame((await ada.get(dashboard)).body.members, [], 'the level that holds now decides')
    const { body } = await ada.get(`/api/team/workspaces/${id}/audit`)
    t.hasStrict(body.entries[0], { actor: 'ada' })
    t.match(JSON.stringify(body.entries[0].details), /team/)
    t.equal((await ada.delete(`/api/team/workspaces/${id}/members?login=bob`)).status, 200)
    t.equal((await bob.get(`/api/team/dashboard/mine?workspace=${id}`)).status, 404)
    t.equal((await ada.get(dashboard)).status, 200)
  })
  t.equal(asked.replica, 0)
  t.equal(troubles(service).length, known + 1, 'which is said once')
  await second.sql`select pg_wal_replay_resume()`
  await isUsed()
})

t.test('a replica that does not answer makes no one wait for an error', async (t) => {
  const own = await service.workspace(ada, { name: 'Globex', patterns: ['globex/*'] })
  const read = () => ada.get(`/api/team/dashboard?workspace=${own.id}`)
  await isUsed()
  const processes = await processesOf(second.folder)
  const stopAll = (signal: NodeJS.Signals) => {
    for (const pid of processes) {
      try {
        process.kill(pid, signal)
      } catch {
        // A connection that has ended meanwhile.
      }
    }
  }
  t.teardown(() => stopAll('SIGCONT'))
  const asked = await askedDuring(async () => {
    stopAll('SIGSTOP')
    const replies = await Promise.all(Array.from({ length: 5 }, read))
    t.strictSame(new Set(replies.map(({ status }) => status)), new Set([200]))
    t.equal((await service.request('GET', '/api/ready')).status, 200)
  })
  t.strictSame(asked, { replica: 0, primary: 5 })
  stopAll('SIGCONT')
  await isUsed()
})

t.test('connections that break are no error either', async (t) => {
  await isUsed()
  await second.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'team-settings-cloud' and pid <> pg_backend_pid()`
  const replies = await Promise.all(Array.from({ length: 5 }, () => ada.get(dashboard)))
  t.strictSame(new Set(replies.map(({ status }) => status)), new Set([200]))
  await isUsed()
})

t.test('a server that is not a replica of this database is not read', async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const sibling = new URL(second.url)
  sibling.pathname = '/template1'
  for (const [DATABASE_REPLICA_URL, reason] of [
    [url, /^It is a primary, not a replica$/],
    [first.url, /^It is a primary, not a replica$/],
    [sibling.href, /not a replica of the current primary of DATABASE_URL/],
    ['postgres://nobody@127.0.0.1:1/x', /ECONNREFUSED/],
  ] as const) {
    const other = await startService(t, { env: { ...env, DATABASE_REPLICA_URL }, beside: service })
    const asked = await askedDuring(
      async () => t.equal((await (await other.signIn('ada')).get(dashboard)).status, 200),
      other,
    )
    t.strictSame(asked, { replica: 0, primary: 1 })
    t.match(troubles(other), { length: 1 })
    t.match(troubles(other)[0].err.message, reason)
  }
})

t.test('a replica that was promoted is not read any more', async (t) => {
  await isUsed()
  await second.sql`select pg_promote()`
  await second.sql`update workspaces set name = 'of another time'`
  await flush(ada, 3)
  const { status, body } = await ada.get(dashboard)
  t.hasStrict({ status, name: body.workspace.name }, { status: 200, name: 'Acme' })
  await isLeft()
})
