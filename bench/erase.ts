/**
 * The longest waits of other callers while an account with a million rows of activity is erased, against those just before.
 * Also time, size and memory of its export.
 */
import { v7 as uuidv7 } from 'uuid'
import { readToday } from '../src/platform/time/clock.js'
import {
  addTeam,
  benchmark,
  expectOk,
  makeAdmin,
  memoryOf,
  prepare,
  type Setting,
  say,
  send,
  waitForRollups,
} from './harness.js'

const DAYS = 366
const REPOS = 200
const ROWS = Number(process.argv[2] ?? 1_000_000)
const BEFORE_MS = 15_000

/** Adds activity of a person in a workspace, on every day in every repository. */
const addRows = ({ database }: Setting, workspaceId: string, userId: string) =>
  database.transaction(
    async (tx) => {
      await tx.statement('set local statement_timeout = 0', [])
      await tx.statement('insert into activity_people (workspace_id, user_id) values ($1::uuid, $2::uuid)', [
        workspaceId,
        userId,
      ])
      await tx.statement(
        `insert into daily_activity (workspace_id, user_id, day, repo_key, minutes, hours)
         select $1::uuid, $2::uuid, (now() at time zone 'UTC')::date - d, 'team-1/repo-' || r, 6, array_fill(0::smallint, array[24])
         from generate_series(1, $3::int) d, generate_series(1, $4::int) r`,
        [workspaceId, userId, DAYS, REPOS],
      )
      await tx.statement(
        `insert into changed_days (workspace_id, day)
         select $1::uuid, (now() at time zone on conflict do nothing'UTC')::date - d from generate_series(1, $2::int) d`,
        [workspaceId, DAYS],
      )
    },
    { background: true },
  )

await benchmark(async (cleanUp) => {
  const setting = await prepare(cleanUp)
  const { database, service, signIn } = setting
  const gone = await signIn('gone')
  const admin = await signIn('admin')
  const { workspaceId: team } = await addTeam(setting, 1)
  for (const { id } of [gone, admin]) await makeAdmin(setting, team, id)
  await addRows(setting, team, gone.id)
  for (let rows = DAYS * REPOS; rows < ROWS; rows += DAYS * REPOS) {
    const id = uuidv7()
    await database.write.statement(
      `insert into workspaces (id, name, idle_window_minutes) values ($1::uuid, 'Other', 5)`,
      [id],
    )
    for (const person of [gone, admin]) await makeAdmin(setting, id, person.id)
    await addRows(setting, id, gone.id)
  }
  await waitForRollups(database)
  await database.write.statement('analyze activity', []).catch(() => {})

  const headers = { 'X-Repohost-Token': admin.repohostToken }
  const pushed = await fetch(`${service.url}/api/settings/team-1/api`, {
    method: 'PUT',
    headers: { ...headers, Authorization: `Bearer ${admin.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ settings: { 'ext.a': 1 } }),
  })
  if (!pushed.ok) throw new Error(await pushed.text())

  const memoryBefore = await memoryOf(service.pid, 'VmRSS')
  let start = performance.now()
  const text = await expectOk(send(service.url, 'GET', '/api/me/export', gone.token))
  say(
    `export: ${JSON.parse(text).activity.length} rows, ${(text.length / 2 ** 20).toFixed(0)} MiB in ${((performance.now() - start) / 1_000).toFixed(1)} s; memory of the service ${memoryBefore.toFixed(0)} MiB before, ${(await memoryOf(service.pid, 'VmHWM')).toFixed(0)} MiB at most`,
  )

  const day = await readToday(database)
  const entry = { repo: 'team-1/api', day, minutes: 0 }
  const works = {
    pull: () => send(service.url, 'GET', '/api/settings/team-1/api', admin.token),
    flush: () => send(service.url, 'POST', '/api/team/active-minutes', admin.token, { entries: [entry] }),
    counts: () =>
      send(service.url, 'POST', '/api/team/commits', admin.token, {
        workspace: team,
        day,
        members: [{ login: 'admin', repos: [{ repo: entry.repo, count: Math.ceil(Math.random() * 1_000) }] }],
      }),
    'dashboard of 30 days': () =>
      send(service.url, 'GET', `/api/team/dashboard?workspace=${team}`, admin.token),
    'dashboard of a year': () =>
      send(
        service.url,
        'GET',
        `/api/team/dashboard?workspace=${team}&to=${day}&from=${Number(day.slice(0, 4)) - 1}${day.slice(4)}`,
        admin.token,
      ),
  }
  /** Sends one request of each kind at a time, until `isOver`. */
  const load = async (title: string, isOver: () => Promise<boolean>) => {
    let over = false
    const loops = Object.entries(works).map(async ([name, work]) => {
      const times: number[] = []
      while (!over) {
        const begun = performance.now()
        await expectOk(work())
        times.push(performance.now() - begun)
      }
      times.sort((a, b) => a - b)
      const at = (share: number) => (times[Math.floor(share * times.length)] ?? Number.NaN).toFixed(0)
      say(
        `${title}: ${name}: ${times.length} requests, median ${at(0.5)}, 99th ${at(0.99)}, longest ${at(1 - 1e-9)} ms`,
      )
    })
    while (!(await isOver())) await new Promise((resolve) => setTimeout(resolve, 100))
    over = true
    await Promise.all(loops)
  }
  start = performance.now()
  await load('before', async () => performance.now() - start > BEFORE_MS)

  start = performance.now()
  await expectOk(send(service.url, 'DELETE', '/api/me', gone.token, { confirm: 'gone' }))
  say(`the request took ${(performance.now() - start).toFixed(0)} ms`)
  await load('meanwhile', async () => {
    const left = await database.read.statement(
      'select from activity_people where user_id = $1::uuid limit 1',
      [gone.id],
    )
    return left.length === 0
  })
  say(`all was handed over after ${((performance.now() - start) / 1_000).toFixed(0)} s`)
})
