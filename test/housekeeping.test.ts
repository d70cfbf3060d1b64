import { getTableName } from 'drizzle-orm'
import t from 'tap'
import { rebuildDay, rebuildMonth } from '../src/features/rollups/queries/rollups.js'
import { tables } from '../src/features/tables.js'
import { lockHousekeeping } from '../src/platform/database/locks.js'
import { columnsOf } from '../src/platform/database/table.js'
import { readToday } from '../src/platform/time/clock.js'
import { monthOf } from '../src/platform/time/days.js'
import { isCluster } from './database.js'
import { lockWaiters } from './locks.js'
import { type Reply, reuseService, type Service, startService, startTeam } from './service.js'
import { until } from './until.js'

const team = '/api/team/workspaces'

/** Every table that belongs to workspaces, as the database itself knows it. */
const tablesWithWorkspace = async ({ database }: Service): Promise<string[]> => {
  const rows = await database.hot.statement<{ name: string }>(
    `select table_name as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and column_name = 'workspace_id' and table_type = 'BASE TABLE' order by 1`,
    [],
  )
  return rows.map(({ name }) => name)
}

const countRows = async ({ database }: Service, table: string, column: string, id: string) => {
  const text = `select count(*)::int as total from ${table} where ${column} = $1::uuid`
  const [row] = await database.hot.statement<{ total: number }>(text, [id])
  return row?.total
}

t.test('every table is cleared for a deleted workspace', async (t) => {
  const service = await reuseService(t)
  const cleared = tables.filter(({ table }) => Object.values(columnsOf(table)).includes('workspace_id'))
  t.same(cleared.map(({ table }) => getTableName(table)).sort(), await tablesWithWorkspace(service))
})

t.test('no rows are left of workspaces that are deleted while members write to them', async (t) => {
  const service = await reuseService(t)
  const beside = await startService(t, { beside: service })
  const ada = await service.signIn('ada')
  const [bob, cyd, dan, eve] = [
    await beside.signIn('bob'),
    await service.signIn('cyd'),
    await beside.signIn('dan'),
    await service.signIn('eve'),
  ]
  const tables = await tablesWithWorkspace(service)
  for (let round = 0; round < 2; round++) {
    const { id, code } = await service.workspace(ada, { patterns: [`round${round}/*`], members: [bob, cyd] })
    for (const login of ['bob', 'cyd']) {
      await ada.patch(`${team}/${id}/members`, { login, role: 'admin' })
    }
    let deleted = false
    let successes = 0
    const failures: Reply[] = []
    const keepWriting = async (write: (turn: number) => Promise<Reply>) => {
      for (let turn = 0, rest = 3; rest > 0 && turn < 1_000; turn++) {
        const reply = await write(turn)
        if (reply.status === 200) successes++
        if (reply.status >= 500) failures.push(reply)
        if (deleted) rest--
      }
    }
    const repo = (turn: number) => `round${round}/repo-${turn}`
    const writers = [
      keepWriting((turn) => bob.push(repo(turn), { 'ext.n': turn })),
      keepWriting((turn) => cyd.push(repo(turn), { 'ext.n': -turn })),
      keepWriting((turn) => ada.put(`${team}/${id}/project-settings/${repo(turn)}`, { settings: {} })),
      keepWriting((turn) => bob.patch(`${team}/${id}/settings`, { settings: { 'ext.n': turn } })),
      keepWriting((turn) =>
        cyd.put(`${team}/${id}/patterns`, { patterns: [`round${round}/*`, `x/${turn}`] }),
      ),
      keepWriting(() => ada.post(`${team}/${id}/invites`)),
      keepWriting((turn) =>
        turn % 2 ? dan.post(`${team}/${id}/leave`) : dan.post(`${team}/join`, { code }),
      ),
      keepWriting(() => eve.post(`${team}/join`, { code })),
    ]
    await until(() => successes >= 20, 'twenty writes have succeeded')
    const removals = await Promise.all([ada.delete(`${team}/${id}`), bob.delete(`${team}/${id}`)])
    deleted = true
    t.same(removals.map(({ status }) => status).sort(), [200, 404], 'one of two deletes it')
    await Promise.all(writers)
    t.same(failures, [])
    await service.app.housekeeping.run()
    for (const table of tables) t.equal(await countRows(service, table, 'workspace_id', id), 0, table)
    t.equal(await countRows(service, 'workspaces', 'id', id), 0)
  }
})

t.test('rollups computed during their workspace’s removal are removed too', async (t) => {
  const { service, ada, id } = await startTeam(t)
  const day = await readToday(service.database)
  const entries = [{ repo: 'acme/api', day, minutes: 5, hours: { 0: 5 } }]
  t.equal((await ada.post('/api/team/active-minutes', { entries })).status, 200)
  const month = { workspaceId: id, month: monthOf(day) }
  let removal = Promise.resolve()
  await service.database.transaction(async (tx) => {
    t.equal(await rebuildDay(tx, { workspaceId: id, day }), true)
    t.equal(await rebuildMonth(tx, month), 1)
    t.equal((await ada.delete(`${team}/${id}`)).status, 200)
    removal = service.app.housekeeping.run()
    await lockWaiters(service)
  })
  await removal
  await service.app.housekeeping.run()
  for (const table of await tablesWithWorkspace(service)) {
    t.equal(await countRows(service, table, 'workspace_id', id), 0, table)
  }
  t.equal(await countRows(service, 'workspaces', 'id', id), 0)
  // Another instance may have listed them before.
  await service.database.transaction(async (tx) => {
    t.equal(await rebuildDay(tx, { workspaceId: id, day }), false)
    t.equal(await rebuildMonth(tx, month), 0)
  })
})

const triggers = { skip: (await isCluster()) && 'a cluster has no triggers on distributed tables' }

t.test('a deleted workspace’s privacy levels are kept longer than its activity', triggers, async (t) => {
  const { service, ada, id } = await startTeam(t)
  const day = await readToday(service.database)
  await ada.post('/api/team/active-minutes', { entries: [{ repo: 'acme/api', day, minutes: 5 }] })
  await service.app.jobs.rollups.run()
  await service.database.write.statement('create table early (name text)', [])
  const levels = `(select count(*) from privacy_levels where workspace_id = old.workspace_id)`
  await service.database.write.statement(
    `create function note_early() returns trigger language plpgsql as $$ begin
       if ${levels} = 0 then insert into early values (tg_table_name); end if;
       return old;
     end $$`,
    [],
  )
  const holders = ['daily_activity', 'workspace_days', 'member_days', 'activity_people']
  for (const name of holders)
    await service.database.write.statement(
      `create trigger note_early before delete on ${name} for each row execute function note_early()`,
      [],
    )
  for (const name of [...holders, 'privacy_levels'])
    t.ok(await countRows(service, name, 'workspace_id', id), `${name} has rows`)
  await ada.delete(`${team}/${id}`)
  await service.app.housekeeping.run()
  t.same(await service.database.read.statement('select name from early', []), [])
  for (const name of [...holders, 'privacy_levels'])
    t.equal(await countRows(service, name, 'workspace_id', id), 0, name)
  for (const text of ['drop function note_early cascade', 'drop table early'])
    await service.database.write.statement(text, [])
})

t.test('a large workspace is removed in steps, even by an instance that didn’t delete it', async (t) => {
  const { service, ada, id } = await startTeam(t)
  const { id: kept } = await service.workspace(ada, { patterns: ['kept/*'] })
  await ada.push('kept/repo', { 'ext.a': 1 })
  await ada.put(`${team}/${kept}/project-settings/kept/repo`, { settings: {} })
  await service.database.hot.statement(
    `insert into audit_entries (workspace_id, id, actor, action, details)
     select $1::uuid, gen_random_uuid(), 'ada', 'member.joined', '{}' from generate_series(1, 1700)`,
    [id],
  )
  // As if the instance that deleted it had stopped right then.
  await service.database.hot.statement('delete from members where workspace_id = $1::uuid', [id])
  await service.database.hot.statement('update workspaces set deleted_at = now() where id = $1::uuid', [id])
  await Promise.all([service.app.housekeeping.run(), service.app.housekeeping.run()])
  for (const table of await tablesWithWorkspace(service)) {
    t.equal(await countRows(service, table, 'workspace_id', id), 0, table)
  }
  t.equal(await countRows(service, 'workspaces', 'id', id), 0)
  t.hasStrict((await ada.get('/api/settings/kept/repo')).body, { workspace_id: kept, version: 1 })
  t.equal((await ada.get(`${team}/${kept}/project-settings`)).body.overrides.length, 1)
})

/** Adds so many audit entries and marks the workspace as deleted, so long ago. */
const addDeleted = async ({ database }: Service, id: string, entries: number, minutes: number) => {
  await database.write.statement(
    `insert into audit_entries (workspace_id, id, actor, action, details)
     select $1::uuid, gen_random_uuid(), 'ada', 'member.joined', '{}' from generate_series(1, $2::int)`,
    [id, entries],
  )
  await database.write.statement(
    'update workspaces set deleted_at = now() - make_interval(mins => $2::int) where id = $1::uuid',
    [id, minutes],
  )
}

t.test('a small workspace is removed while a large one is still being removed', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const [{ id: large }, { id: small }] = [await service.workspace(ada), await service.workspace(ada)]
  // More steps of 500 rows than there are tables.
  await addDeleted(service, large, 25_000, 2)
  await addDeleted(service, small, 1, 1)
  const { transaction } = service.app.database
  t.teardown(() => {
    service.app.database.transaction = transaction
  })
  let leftWhenSmallIsGone: number | undefined
  service.app.database.transaction = async (work, options) => {
    const result = await transaction(work, options)
    if (leftWhenSmallIsGone === undefined && (await countRows(service, 'workspaces', 'id', small)) === 0)
      leftWhenSmallIsGone = await countRows(service, 'audit_entries', 'workspace_id', large)
    return result
  }
  await service.app.housekeeping.run()
  t.ok(Number(leftWhenSmallIsGone) > 0, 'the large one is still there')
  for (const id of [large, small]) t.equal(await countRows(service, 'workspaces', 'id', id), 0)
})

t.test('a workspace that can’t be removed is logged, and the others are removed', triggers, async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const [{ id: stuck }, { id: other }] = [await service.workspace(ada), await service.workspace(ada)]
  await addDeleted(service, stuck, 1, 2)
  await addDeleted(service, other, 1, 1)
  await service.database.write.statement(
    `create function reject() returns trigger language plpgsql as 'begin raise exception ''not this one''; end'`,
    [],
  )
  await service.database.write.statement(
    `create trigger reject before delete on audit_entries for each row when (old.workspace_id = '${stuck}') execute function reject()`,
    [],
  )
  await service.app.housekeeping.run()
  t.equal(await countRows(service, 'workspaces', 'id', stuck), 1)
  t.equal(await countRows(service, 'workspaces', 'id', other), 0)
  t.ok(service.logs.some((line) => line.includes('housekeeping failed') && line.includes(stuck)))
  await service.database.write.statement('drop function reject cascade', [])
  await service.app.housekeeping.run()
  t.equal(await countRows(service, 'workspaces', 'id', stuck), 0)
})

t.test('audit entries are kept for 400 days, and ended sessions until they would have expired', async (t) => {
  const { service, ada, id } = await startTeam(t)
  await service.database.hot.statement(
    `insert into audit_entries (workspace_id, id, at, actor, action, details)
     select $1::uuid, gen_random_uuid(), now() - make_interval(days => days), 'ada', 'member.joined', '{}'
     from unnest(array[399, 401, 500]) as days`,
    [id],
  )
  await service.database.hot.statement(
    `insert into revocations (jti, expires_at)
     values (gen_random_uuid(), now() - interval '1 minute'), (gen_random_uuid(), now() + interval '1 day')`,
    [],
  )
  await service.app.housekeeping.run()
  t.equal((await ada.get(`${team}/${id}/audit`)).body.entries.length, 2)
  t.equal((await service.database.hot.statement('select 1 from revocations', [])).length, 1)
})

t.test('only one instance runs housekeeping at a time', async (t) => {
  const { service, ada, id } = await startTeam(t)
  let run = Promise.resolve()
  await service.database.transaction(async (tx) => {
    await lockHousekeeping(tx)
    await ada.delete(`${team}/${id}`)
    run = service.app.housekeeping.run()
    const isOver = await Promise.race([run.then(() => true), lockWaiters(service).then(() => false)])
    t.equal(isOver, false, 'it waits for its turn')
    t.equal(await countRows(service, 'workspaces', 'id', id), 1)
  })
  await run
  t.equal(await countRows(service, 'workspaces', 'id', id), 0)
})

t.test('a failure is logged, and the next run catches up', async (t) => {
  const { service, id } = await startTeam(t)
  await service.database.hot.statement('alter table audit_entries rename to hidden_entries', [])
  await service.database.hot.statement('delete from members where workspace_id = $1::uuid', [id])
  await service.database.hot.statement('update workspaces set deleted_at = now() where id = $1::uuid', [id])
  await service.app.housekeeping.run()
  t.equal(await countRows(service, 'workspaces', 'id', id), 1)
  t.ok(service.logs.some((line) => line.includes('housekeeping failed')))
  await service.database.hot.statement('alter table hidden_entries rename to audit_entries', [])
  await service.app.housekeeping.run()
  t.equal(await countRows(service, 'workspaces', 'id', id), 0)
})
