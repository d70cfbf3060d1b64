/**
 * Measures background jobs on the largest rows that a small team can make, in a small container (`--mib 512`): people who
 * worked a minute of every day in another repository each. One of their accounts is deleted, then all rollups are made again.
 * Prints how long it takes, the peak of the service's memory, the longest wait of `/api/health`, and whether it lives.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { launchIn } from './confine.js'
import {
  benchmark,
  createWorkspace,
  expectOk,
  memoryOf,
  numbersAsked,
  prepare,
  say,
  send,
  startDatabase,
} from './harness.js'

await benchmark(async (cleanUp) => {
  const { mib, people, repos, days } = numbersAsked({ mib: 512, people: 9, repos: 1_440, days: 27 })
  const launch = await launchIn(mib, cleanUp)
  const setting = await prepare(cleanUp, {}, startDatabase, launch)
  const { database, service, signIn } = setting
  const team = await Promise.all(Array.from({ length: people }, (_, n) => signIn(`person-${n}`)))
  const workspace = await createWorkspace(service.url, team)
  for (const { id } of team)
    await database.transaction(
      async (tx) => {
        await tx.statement('set local statement_timeout = 0', [])
        await tx.statement(
          'insert into activity_people (workspace_id, user_id) values ($1::uuid, $2::uuid)',
          [workspace, id],
        )
        await tx.statement(
          `insert into daily_activity (workspace_id, user_id, day, repo_key, minutes, hours, timezone)
           select $1::uuid, $2::uuid, date_trunc('month', now() at time zone 'UTC')::date - d, 'acme/' || $2::text || r, 1,
             array_fill(0, array[r * 24 / $4::int]) || 1 || array_fill(0, array[23 - r * 24 / $4::int]), 'Europe/Berlin'
           from generate_series(1, $3::int) d, generate_series(0, $4::int - 1) r`,
          [workspace, id, days, repos],
        )
      },
      { background: true },
    )
  const markAll = () =>
    database.write.statement(
      'insert into changed_days (workspace_id, day) select distinct workspace_id, day from daily_activity on conflict do nothing',
      [],
    )
  await markAll()
  say(
    `${people * repos * days} rows; the service has ${mib} MiB, and uses ${(await memoryOf(service.pid, 'VmRSS')).toFixed(0)}.`,
  )
  say('| job | over after | peak | longest wait of health | alive |')
  say('|---|---|---|---|---|')

  const isThere = async (found: string) => (await database.read.statement(found, [])).length > 0
  const watch = async (name: string, isOver: () => Promise<boolean>) => {
    const start = performance.now()
    let longest = 0
    let alive = true
    for (let over = false; alive && !over; over = await isOver()) {
      const asked = performance.now()
      alive = await send(service.url, 'GET', '/api/health').then(
        ({ status }) => status === 200,
        () => false,
      )
      longest = Math.max(longest, performance.now() - asked)
      await sleep(20)
    }
    const seconds = ((performance.now() - start) / 1_000).toFixed(0)
    const peak = (await memoryOf(service.pid, 'VmHWM')).toFixed(0)
    say(`| ${name} | ${seconds} s | ${peak} MiB | ${longest.toFixed(0)} ms | ${alive ? 'yes' : '**no**'} |`)
  }
  await expectOk(
    send(service.url, 'DELETE', '/api/me', team.at(-1)?.token, { confirm: `person-${people - 1}` }),
  )
  await watch(
    'erasure of an account',
    async () => !(await isThere(`select from activity_people p join erasures using (user_id) limit 1`)),
  )
  await markAll()
  await watch(
    'rollups of all days',
    async () => !(await isThere('select from changed_days union all select from changed_month_days limit 1')),
  )
})
