/** 500 × 200 counts in one request, beside the same statements alone; how long the event loop stood still meanwhile, and memory. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { v7 as uuidv7 } from 'uuid'
import { toCountBatches } from '../src/domain/count-batches.js'
import { addDays } from '../src/domain/days.js'
import { readToday } from '../src/queries/activity.js'
import { findMembers, nameRepos, upsertCounts } from '../src/queries/counts.js'
import { insertTeam } from '../src/queries/seed.js'
import { expectOk, median, say, send, withService } from './harness.js'

const MEMBERS = 500
const REPOS = 200
const ROUNDS = 5

await withService(async ({ url, database, signIn }) => {
  const workspace = uuidv7()
  const team = {
    workspaceId: workspace,
    name: 'bench',
    owner: 'bench',
    firstRepohostId: 1_000_000_000,
    members: MEMBERS,
  }
  await database.transaction((tx) => insertTeam(tx, team))
  const { token, id } = await signIn('boss')
  await database.query(
    `insert into members (workspace_id, user_id, role) values ($1::uuid, $2::uuid, 'admin')`,
    [workspace, id],
  )
  const today = await readToday(database)
  const bodyOf = (day: string, count: number) => ({
    workspace,
    day,
    members: Array.from({ length: MEMBERS }, (_, member) => ({
      login: `bench-${member + 1}`,
      repos: Array.from({ length: REPOS }, (_, repo) => ({ repo: `bench/repository-${repo}`, count })),
    })),
  })

  const delay = monitorEventLoopDelay({ resolution: 5 })
  const httpTimes: number[] = []
  const sqlTimes: number[] = []
  const stalls: number[] = []
  const idle = process.memoryUsage().rss
  let peak = idle
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
  }, 20)
  for (let round = 0; round <= ROUNDS; round++) {
    const text = JSON.stringify(bodyOf(addDays(today, -round), 7))
    if (round === 0) say(`${(text.length / 2 ** 20).toFixed(1)} MiB, ${MEMBERS * REPOS} counts`)
    delay.reset()
    delay.enable()
    let start = performance.now()
    await expectOk(send(url, 'POST', '/api/team/commits', token, text))
    const http = performance.now() - start
    delay.disable()
    const { logins, batches } = toCountBatches(bodyOf(addDays(today, -round - 100), 7))
    start = performance.now()
    await database.transaction(async (tx) => {
      const userIds = await findMembers(tx, workspace, logins)
      const target = { workspaceId: workspace, day: addDays(today, -round - 100), userIds, logins }
      for (const batch of batches) await nameRepos(tx, target, batch)
      for (const batch of batches) await upsertCounts(tx, 'commits', target, batch)
    })
    if (round === 0) continue
    httpTimes.push(http)
    sqlTimes.push(performance.now() - start)
    stalls.push(delay.max / 1e6)
  }
  clearInterval(watch)
  const [http, sql] = [median(httpTimes), median(sqlTimes)]
  say(
    `${http.toFixed(0)} ms through HTTP, ${sql.toFixed(0)} ms for the statements alone: ${(sql / http).toFixed(2)}`,
  )
  say(
    `The event loop stood still for at most ${Math.max(...stalls).toFixed(0)} ms (median of the longest: ${median(stalls).toFixed(0)})`,
  )
  say(
    `Memory: ${Math.round(idle / 2 ** 20)} MiB idle, ${Math.round(peak / 2 ** 20)} MiB at most, this script's own bodies included`,
  )
})
