/**
 * What 1,000 people cost on a day whose editors send a heartbeat every two minutes, beside the same minutes by flushes; and
 * hostile bodies, with the pauses of the event loop. Options: `--people 1000`, `--beats 12` (of each, the cost of a day follows
 * from it).
 */
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { readToday } from '../src/platform/time/clock.js'
import { addDays } from '../src/platform/time/days.js'
import {
  addOthers,
  addTeam,
  benchmark,
  cpuTime,
  cpuTimeOfServer,
  longestStall,
  METRICS_PORT,
  prepare,
  type SignedIn,
  say,
  send,
} from './harness.js'

const { values } = parseArgs({
  options: { people: { type: 'string', default: '1000' }, beats: { type: 'string', default: '12' } },
})
const PEOPLE = Number(values.people)
const BEATS = Number(values.beats)
const TEAM = 50
const AT_ONCE = 8
/** Eight hours of work. */
const BEATS_OF_DAY = 240
const BULK = '/api/wakatime/v1/users/current/heartbeats.bulk'

await benchmark(async (cleanUp) => {
  const setting = await prepare(cleanUp, { METRICS_PORT: String(METRICS_PORT) })
  const { service, signIn, databaseUrl, database } = setting
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  cleanUp(() => sql.end())
  const [backend] = await sql`select pg_backend_pid() as pid`
  const teams: string[] = []
  const people: (SignedIn & { repo: string })[] = []
  for (let index = 0; index < PEOPLE; index++) {
    const team = Math.floor(index / TEAM) + 1
    const made = index % TEAM === 0 ? await addTeam(setting, team, { days: 1, members: 1 }) : undefined
    if (made) teams.push(made.workspaceId)
    const person = await signIn(`beats-${index}`)
    people.push({ ...person, repo: `team-${team}/web` })
    await sql`insert into members (workspace_id, user_id, role) values (${teams.at(-1) ?? ''}, ${person.id}, 'member')`
  }
  await addOthers(setting, 0)
  const day = addDays(await readToday(database), -1)
  const start = Date.parse(day) / 1_000

  const post = async (path: string, token: string, body: unknown) => {
    const reply = await send(service.url, 'POST', path, token, body)
    if (reply.status >= 500) throw new Error(reply.text)
    return reply
  }
  /** A turn of everybody for each beat, so many at once. */
  const measure = async (
    name: string,
    work: (person: SignedIn & { repo: string }, beat: number) => Promise<unknown>,
  ) => {
    // Not measured, because the first ones compile and prepare.
    for (const person of people) await work(person, -1)
    const [before] = await sql`select pg_current_wal_lsn() as lsn`
    const [cpu, own] = [await cpuTimeOfServer(backend?.pid), await cpuTime(service.pid)]
    for (let beat = 0; beat < BEATS; beat++) {
      let next = 0
      const one = async () => {
        for (let person = people[next++]; person; person = people[next++]) await work(person, beat)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, one))
    }
    const [row] = await sql`select pg_wal_lsn_diff(pg_current_wal_lsn(), ${before?.lsn})::float8 as wal`
    const count = PEOPLE * BEATS
    const each = (value: number) => (value / count / 1_000) * BEATS_OF_DAY
    say(
      `| ${name} | ${each((await cpuTime(service.pid)) - own).toFixed(0)} | ${each((await cpuTimeOfServer(backend?.pid)) - cpu).toFixed(0)} | ${each(Number(row?.wal)).toFixed(0)} |`,
    )
  }
  say(`| a person and day, every two minutes | service, ms of CPU | PostgreSQL, ms of CPU | WAL, KB |`)
  say('|---|---|---|---|')
  await measure('heartbeats', ({ token, repo }, beat) =>
    post(BULK, token, [
      { time: start + 9 * 3_600 + beat * 120, project: repo, entity: '/home/ada/app.ts', type: 'file' },
    ]),
  )
  await measure('the same minutes by flush', ({ token, repo }, beat) =>
    post('/api/team/active-minutes', token, {
      flush_id: `beat-${beat}`,
      entries: [{ repo, day, minutes: 2, hours: { '12': 2 } }],
    }),
  )

  const [{ token = '' } = {}] = people
  const hostile = {
    '200,000 heartbeats': JSON.stringify(Array.from({ length: 200_000 }, () => ({ time: 1e300 }))),
    'names of 1 MB': JSON.stringify(
      Array.from({ length: 8 }, () => ({ time: start, project: 'x'.repeat(1_000_000) })),
    ),
    'deep nesting': '['.repeat(8_000_000),
    'deep objects': '{"a":'.repeat(1_600_000),
    'members without end': `[{${'"a":1,'.repeat(1_100_000)}"time":1}]`,
    'a string of escapes': JSON.stringify(JSON.stringify(['\u0000'.repeat(600_000)])),
    '500 days': JSON.stringify(
      Array.from({ length: 500 }, (_, n) => ({
        time: start - (n % 29) * 86_400 - n * 170,
        project: `team-1/x${n}`,
      })),
    ),
  }
  say('\n| body | status | longest pause, ms |\n|---|---|---|')
  for (const [name, body] of Object.entries(hostile)) {
    await longestStall()
    const { status } = await post(BULK, token, body)
    say(`| ${name} | ${status} | ${(await longestStall()).toFixed(0)} |`)
  }
})
