/** All transactions take several locks in the same order, so PostgreSQL never ends one to resolve a deadlock. */
import postgres from 'postgres'
import t from 'tap'
import { locksOfWorkspaces } from '../src/platform/database/locks.js'
import { readToday } from '../src/platform/time/clock.js'
import { hasProperties } from './has-properties.js'
import { lockWaiters, whileHeld } from './locks.js'
import { type Reply, type Service, startTeam, type Test } from './service.js'

const MINUTES = '/api/team/active-minutes'

/**
 * How many deadlocks PostgreSQL has ended. Ends other connections first, because they report their statistics no later
 * than that.
 */
const countDeadlocks = async ({ databaseUrl }: Service): Promise<number> => {
  const sql = postgres(databaseUrl, { max: 1 })
  await sql`
    select pg_terminate_backend(pid, 60000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`
  const [row] = await sql`select deadlocks::int from pg_stat_database where datname = current_database()`
  await sql.end()
  return row?.deadlocks
}

const start = async (test: Test) => {
  const team = await startTeam(test, 'bob')
  return { ...team, day: await readToday(team.service.database) }
}

t.test('a flush that changes the time zone doesn’t deadlock with a join by the same user', async (t) => {
  const { service, bob, code, day } = await start(t)
  let replies: Promise<Reply[]> | undefined
  const bobsRow = `select from users where login = 'bob' for no key update`
  await whileHeld(service, [bobsRow], async () => {
    const join = bob.post('/api/team/workspaces/join', { code })
    const joined = await Promise.race([join.then(() => true), lockWaiters(service).then(() => false)])
    const entries = [{ repo: 'acme/new', day, minutes: 5 }]
    const flush = bob.post(MINUTES, { timezone: 'Europe/Berlin', entries })
    await lockWaiters(service, joined ? 1 : 2)
    replies = Promise.all([join, flush])
  })
  hasProperties(t, await replies, [{ status: 200 }, { status: 200 }])
  t.equal(await countDeadlocks(service), 0)
})

t.test(
  'a push that extends a personal workspace doesn’t deadlock with a change of its patterns',
  async (t) => {
    const { service, ada } = await start(t)
    const first = await ada.push('ada/web', { 'ext.a': 1 })
    hasProperties(t, first, { status: 200, body: { workspace_created: true } })
    const { workspace_id: id } = first.body
    const patternsPath = `/api/team/workspaces/${id}/patterns`
    t.equal((await ada.put(patternsPath, { patterns: [] })).status, 200)
    let replies: Promise<Reply[]> | undefined
    const lock = `select pg_advisory_xact_lock(${locksOfWorkspaces.administration}, hashtext($1::uuid::text))`
    await whileHeld(service, [lock, id], async () => {
      const change = ada.put(patternsPath, { patterns: ['ada/other'] })
      await lockWaiters(service)
      const push = ada.push('ada/web', { 'ext.a': 2 })
      await lockWaiters(service, 2)
      replies = Promise.all([change, push])
    })
    hasProperties(t, await replies, [{ status: 200 }, { status: 200 }])
    t.same((await ada.get(patternsPath)).body.patterns, ['ada/other', 'ada/*'])
    t.equal(await countDeadlocks(service), 0)
  },
)

for (const repos of [['acme/new'], ['acme/known', 'acme/new']]) {
  t.test(`a flush of ${repos} doesn’t deadlock with an upload written in chunks`, async (t) => {
    const { service, ada, bob, id, day } = await start(t)
    const counts = (...names: string[]) => names.map((repo) => ({ repo, count: 1 }))
    const flushOf = (names: string[]) => ({ entries: names.map((repo) => ({ repo, day, minutes: 5 })) })
    await ada.post(MINUTES, flushOf(['acme/known']))
    const between = counts(...Array.from({ length: 200 }, (_, index) => `acme/m${index}`))
    const members = [
      ...Array.from({ length: 30 }, (_, index) => ({ login: `stranger-${index}`, repos: between })),
      { login: 'ada', repos: counts('acme/l') },
      { login: 'bob', repos: counts('acme/known', 'acme/new') },
    ]
    const takeRow = `
      insert into daily_activity (workspace_id, user_id, day, repo_key)
      select $1::uuid, id, $2::text::date, $3::text from users where login = 'ada'`
    let replies: Promise<Reply[]> | undefined
    await whileHeld(service, [takeRow, id, day, 'acme/l'], async () => {
      const upload = ada.post('/api/team/commits', { workspace: id, day, members })
      // It has Bob's count of what is known, and not yet that of what is new.
      await lockWaiters(service)
      const flush = bob.post(MINUTES, flushOf(repos))
      await lockWaiters(service, 2)
      replies = Promise.all([upload, flush])
    })
    hasProperties(t, await replies, [{ status: 200, body: { upserted: 3 } }, { status: 200 }])
    t.equal(await countDeadlocks(service), 0)
  })
}
