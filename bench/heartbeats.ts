/**
 * The cost of 1,000 people whose editors send a heartbeat every two minutes, against the same minutes by flushes; and pauses of
 * the event loop with hostile bodies. Options: `--people 1000`, `--beats 12` (of each person; a day has 240). With `--agents 240`
 * it compares so many heartbeats of each person with as many of which agents send some, in turns, and measures nothing else.
 */
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
  numbersAsked,
  openSession,
  prepare,
  type SignedIn,
  say,
  send,
  waitForRollups,
} from './harness.js'

const { people: PEOPLE, beats: BEATS, agents: AGENTS } = numbersAsked({ people: 1_000, beats: 12, agents: 0 })
const TEAM = 50
const AT_ONCE = 8
/** Eight hours of work. */
const BEATS_OF_DAY = 240
const FIRST_HOUR = 9
/** Rounds of each hostile body. The shortest pause shows the cost of the body alone. */
const HOSTILE_ROUNDS = 5
const BULK = '/api/wakatime/v1/users/current/heartbeats.bulk'

await benchmark(async (cleanUp) => {
  const setting = await prepare(cleanUp, { METRICS_PORT: String(METRICS_PORT) })
  const { service, signIn, database } = setting
  const { sql, backend } = await openSession(setting, cleanUp)
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
  const today = await readToday(database)
  // Each has its own day, so that they write different rows.
  const [day, dayOfFlushes] = [addDays(today, -1), addDays(today, -2)]
  const start = Date.parse(day) / 1_000

  const post = async (path: string, token: string, body: unknown) => {
    const reply = await send(service.url, 'POST', path, token, body)
    if (reply.status >= 500) throw new Error(reply.text)
    return reply
  }
  /** All rows, and what they take on disk with their indexes once no dead row is left. */
  const stored = async () => {
    await waitForRollups(database)
    await sql`vacuum full`
    const tables =
      await sql`select oid::regclass::text as name, pg_total_relation_size(oid)::float8 as bytes from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace`
    let [rows, bytes] = [0, 0]
    for (const table of tables) {
      const [row] = await sql`select count(*)::int as rows from ${sql(table.name)}`
      rows += row?.rows
      bytes += table.bytes
    }
    return { rows, bytes }
  }
  const beatAt = (beat: number, repo: string, category = 'coding') => [
    {
      time: start + FIRST_HOUR * 3_600 + beat * 120,
      project: repo,
      entity: '/home/ada/app.ts',
      type: 'file',
      category,
    },
  ]
  const read = async () => {
    const [row] = await sql`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal`
    return [await cpuTime(service.pid), await cpuTimeOfServer(backend), Number(row?.wal)]
  }
  const forEachAtOnce = async <T>(all: readonly T[], work: (one: T) => Promise<unknown>) => {
    let next = 0
    const some = async () => {
      for (let one = all[next++]; one; one = all[next++]) await work(one)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, some))
  }
  /**
   * The same number of heartbeats by three thirds of the people, in turns, so that a busy machine affects all three.
   */
  const compareAgents = async () => {
    const kinds = [
      { name: 'people alone', isOfAgent: () => false, used: [0, 0, 0] },
      { name: 'every second of an agent', isOfAgent: (beat: number) => beat % 2 !== 0, used: [0, 0, 0] },
      { name: 'agents alone', isOfAgent: () => true, used: [0, 0, 0] },
    ]
    const size = Math.floor(PEOPLE / kinds.length)
    for (let beat = -1; beat < AGENTS; beat++) {
      for (let turn = 0; turn < kinds.length; turn++) {
        const index = (beat + 1 + turn) % kinds.length
        const { isOfAgent, used } = kinds[index] as (typeof kinds)[number]
        const before = await read()
        await forEachAtOnce(people.slice(index * size, (index + 1) * size), ({ token, repo }) =>
          post(BULK, token, beatAt(beat, repo, isOfAgent(beat) ? 'ai coding' : 'coding')),
        )
        const after = await read()
        // The first round warms up.
        if (beat >= 0)
          after.forEach((value, at) => {
            used[at] = (used[at] ?? 0) + value - (before[at] ?? 0)
          })
      }
    }
    const count = size * AGENTS
    say(
      '| of each heartbeat | service, ms of CPU | PostgreSQL, ms of CPU | WAL, bytes | CPU, ratio | WAL, ratio |',
    )
    say('|---|---|---|---|---|---|')
    const cpuOf = ([service = 0, server = 0]: number[]) => service + server
    const base = kinds[0]?.used ?? []
    for (const { name, used } of kinds) {
      const [service = 0, server = 0, wal = 0] = used
      const ratios = [cpuOf(used) / cpuOf(base), wal / (base[2] ?? 0)].map((ratio) => ratio.toFixed(2))
      const cells = [service / count / 1_000, server / count / 1_000].map((ms) => ms.toFixed(2))
      say(`| ${[name, ...cells, (wal / count).toFixed(0), ...ratios].join(' | ')} |`)
    }
  }
  /** One heartbeat per person and round, this many at once. */
  const measure = async (
    name: string,
    work: (person: SignedIn & { repo: string }, beat: number) => Promise<unknown>,
  ) => {
    const empty = await stored()
    // A warm-up, which isn't measured.
    for (const person of people) await work(person, -1)
    const before = await read()
    for (let beat = 0; beat < BEATS; beat++) await forEachAtOnce(people, (person) => work(person, beat))
    const after = await read()
    const count = PEOPLE * BEATS
    const each = (index: number) =>
      ((((after[index] ?? 0) - (before[index] ?? 0)) / count / 1_000) * BEATS_OF_DAY).toFixed(0)
    const full = await stored()
    const [rows, bytes] = [full.rows - empty.rows, full.bytes - empty.bytes].map((value) => value / PEOPLE)
    say(`| ${[name, each(0), each(1), each(2), rows?.toFixed(1), bytes?.toFixed(0)].join(' | ')} |`)
  }
  if (AGENTS > 0) return compareAgents()
  say(
    `| a person and day, every two minutes | service, ms of CPU | PostgreSQL, ms of CPU | WAL, KB | rows of ${BEATS} | bytes |`,
  )
  say('|---|---|---|---|---|---|')
  await measure('heartbeats', ({ token, repo }, beat) => post(BULK, token, beatAt(beat, repo)))
  await measure('the same minutes by flush', ({ token, repo }, beat) =>
    post('/api/team/active-minutes', token, {
      flush_id: `beat-${beat}`,
      entries: [{ repo, day: dayOfFlushes, minutes: 2, hours: { [FIRST_HOUR + Math.floor(beat / 30)]: 2 } }],
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
  say('\n| body | status | longest pause, ms: least | most |\n|---|---|---|---|')
  for (const [name, body] of Object.entries(hostile)) {
    const pauses: number[] = []
    let status = 0
    for (let round = 0; round < HOSTILE_ROUNDS; round++) {
      await longestStall()
      status = (await post(BULK, token, body)).status
      pauses.push(await longestStall())
    }
    say(`| ${name} | ${status} | ${Math.min(...pauses).toFixed(0)} | ${Math.max(...pauses).toFixed(0)} |`)
  }
})
