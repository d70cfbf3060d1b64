/**
 * 500 × 200 counts in one request, against the same statements alone: time, pauses of the event loop, and memory.
 * Options: `--teams 31` (others).
 */
import { v7 as uuidv7 } from 'uuid'
import { insertTeam } from '../demo/team.js'
import { findMembers, insertMatchingRepos, writeCounts } from '../src/features/counts/queries/counts.js'
import { sortCounts } from '../src/features/counts/sorted-counts.js'
import { markDays, registerPeople } from '../src/features/minutes/queries/minutes.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays } from '../src/platform/time/days.js'
import {
  addOthers,
  benchmark,
  expectOk,
  longestStall,
  METRICS_PORT,
  makeAdmin,
  median,
  memoryOf,
  numbersAsked,
  OTHER_TEAMS,
  prepare,
  say,
  send,
} from './harness.js'

const MEMBERS = 500
const REPOS = 200
const ROUNDS = 9

await benchmark(async (cleanUp) => {
  const setting = await prepare(cleanUp, { METRICS_PORT: String(METRICS_PORT) })
  const { database, service, signIn } = setting
  const { url, pid } = service
  await addOthers(setting, numbersAsked({ teams: OTHER_TEAMS }).teams)

  const workspace = uuidv7()
  const team = {
    workspaceId: workspace,
    name: 'bench',
    owner: 'bench',
    firstRepohostId: 2_000_000_000,
    members: MEMBERS,
  }
  await database.transaction((tx) => insertTeam(tx, team))
  const { id, token } = await signIn('boss')
  await makeAdmin(setting, workspace, id)
  const today = await readToday(database)
  const bodyOf = (day: string, count: number) => ({
    workspace,
    day,
    members: Array.from({ length: MEMBERS }, (_, member) => ({
      login: `bench-${member + 1}`,
      repos: Array.from({ length: REPOS }, (_, repo) => ({
        repo: `bench/a-repository-with-a-name-that-is-longer-than-most-are-${repo}`,
        count,
      })),
    })),
  })

  const httpTimes: number[] = []
  const sqlTimes: number[] = []
  const stalls: number[] = []
  const idleStalls: number[] = []
  const idle = await memoryOf(pid, 'VmRSS')
  for (let round = 0; round <= ROUNDS; round++) {
    const text = JSON.stringify(bodyOf(addDays(today, -round), 7))
    if (round === 0) say(`${(text.length / 2 ** 20).toFixed(1)} MiB, ${MEMBERS * REPOS} counts`)
    await longestStall()
    let start = performance.now()
    await expectOk(send(url, 'POST', '/api/team/commits', token, text))
    const http = performance.now() - start
    const stall = await longestStall()
    const before = addDays(today, -round - 100)
    const { members } = bodyOf(before, 7)
    const { repos, batches } = await sortCounts(members)
    const logins = members.map(({ login }) => login)
    start = performance.now()
    await database.transaction(async (tx) => {
      const userIds = await findMembers(tx, workspace, logins)
      const target = { workspaceId: workspace, day: before, userIds, logins, hasReports: false }
      await registerPeople(
        tx,
        workspace,
        userIds.filter((userId) => userId !== null),
      )
      for (const part of repos) await insertMatchingRepos(tx, workspace, part)
      for (const batch of batches) await writeCounts(tx, 'commits', target, batch)
      await markDays(tx, workspace, [before])
    })
    if (round === 0) continue
    httpTimes.push(http)
    sqlTimes.push(performance.now() - start)
    stalls.push(stall)
    idleStalls.push(await longestStall())
  }
  const [http, sql] = [median(httpTimes), median(sqlTimes)]
  say(
    `${http.toFixed(0)} ms through HTTP, ${sql.toFixed(0)} ms for the statements alone: ${(sql / http).toFixed(2)}`,
  )
  const longest = (values: number[]) =>
    `${Math.max(...values).toFixed(0)} ms (median of the longest: ${median(values).toFixed(0)})`
  say(
    `The event loop stood still for at most ${longest(stalls)}, and for ${longest(idleStalls)} while only the database was at work`,
  )
  say(
    `Memory: ${idle.toFixed(0)} MiB idle, ${(await memoryOf(pid, 'VmHWM')).toFixed(0)} MiB at most (of the service alone)`,
  )
})
