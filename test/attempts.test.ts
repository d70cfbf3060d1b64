/** A unit of background work that fails, or ends the process, waits, and holds up no other. */
import t from 'tap'
import { readToday } from '../src/platform/time/clock.js'
import { isCluster } from './database.js'
import { type Service, startTeam } from './service.js'
import { until } from './until.js'

const triggers = { skip: (await isCluster()) && 'a cluster has no triggers on distributed tables' }

/** Makes every rollup of the workspace do this. */
const duringRollups = async ({ database }: Service, workspaceId: string, plpgsql: string) => {
  await database.write.statement(
    `create function hinder() returns trigger language plpgsql as $$ begin ${plpgsql} end $$`,
    [],
  )
  await database.write.statement(
    `create trigger hinder before insert on workspace_days for each row
     when (new.workspace_id = '${workspaceId}') execute function hinder()`,
    [],
  )
}

const listAttempts = async ({ database }: Service) =>
  Array.from(
    await database.read.statement<{ job: string; failures: number; waits: boolean }>(
      'select job, failures, next_at > now() as waits from attempts order by job, unit',
      [],
    ),
  )

const letAllTryAgain = ({ database }: Service) =>
  database.write.statement('update attempts set next_at = now()', [])

const countRolledUp = async ({ database }: Service, workspaceId: string) =>
  (await database.read.statement('select from workspace_days where workspace_id = $1::uuid', [workspaceId]))
    .length

/** Two workspaces, each with a day that waits for its rollup. */
const startTwo = async (test: Parameters<typeof startTeam>[0]) => {
  const { service, ada, id: stuck } = await startTeam(test)
  const { id: other } = await service.workspace(ada, { patterns: ['other/*'] })
  const day = await readToday(service.database)
  for (const repo of ['acme/api', 'other/api'])
    await ada.post('/api/team/active-minutes', { entries: [{ repo, day, minutes: 5, hours: { 0: 5 } }] })
  return { service, stuck, other }
}

t.test(
  'a day that can’t be rolled up waits longer each time, and others are rolled up',
  triggers,
  async (t) => {
    const { service, stuck, other } = await startTwo(t)
    await duringRollups(service, stuck, `raise exception 'not this one';`)
    await t.rejects(service.app.jobs.rollups.run(), /not this one/)
    t.equal(await countRolledUp(service, other), 1)
    t.strictSame(await listAttempts(service), [{ job: 'days', failures: 1, waits: true }])
    await service.app.jobs.rollups.run()
    t.strictSame(await listAttempts(service), [{ job: 'days', failures: 1, waits: true }], 'it isn’t tried')
    await letAllTryAgain(service)
    await t.rejects(service.app.jobs.rollups.run(), /not this one/)
    t.strictSame(await listAttempts(service), [{ job: 'days', failures: 2, waits: true }])
    await service.database.write.statement('drop function hinder cascade', [])
    await letAllTryAgain(service)
    await service.app.jobs.rollups.run()
    t.equal(await countRolledUp(service, stuck), 1)
    t.strictSame(await listAttempts(service), [])
  },
)

t.test('a day whose rollup ends the process isn’t tried at once after the restart', triggers, async (t) => {
  const { service, stuck, other } = await startTwo(t)
  await duringRollups(service, stuck, 'perform pg_sleep(600); return new;')
  const ended = t.rejects(
    service.app.jobs.rollups.run(),
    'its connection is lost, as if the process had ended',
  )
  const cut = async () =>
    (
      await service.database.write.statement(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event = 'PgSleep'`,
        [],
      )
    ).length > 0
  await until(cut, 'the rollup is under way')
  await ended
  await service.app.jobs.rollups.run()
  t.equal(await countRolledUp(service, other), 1)
  t.equal(await countRolledUp(service, stuck), 0)
  t.strictSame(await listAttempts(service), [{ job: 'days', failures: 1, waits: true }])
  await service.database.write.statement('drop function hinder cascade', [])
})
