/**
 * Flushes of 3 and of 200 entries through HTTP, against pgbench with the same statements: small flushes in sets of 16 people
 * on two connections, large ones alone.
 * Options: `--teams 31` (others).
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  INSERT_FLUSHES,
  MARK_DAYS,
  READ_DAYS,
  READ_FLUSH_RESPONSES,
  UPSERT_DAYS,
} from '../src/features/minutes/queries/minutes.js'
import { READ_OWN_DAYS, UPSERT_OWN_DAYS } from '../src/features/own-time/queries/own-activity.js'
import { READ_TARGETS } from '../src/features/recording/queries/flush-target.js'
import type { Statement } from '../src/platform/database/statement.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays, HOURS } from '../src/platform/time/days.js'
import {
  addOthers,
  benchmark,
  cpuTimeOfServer,
  createWorkspace,
  median,
  numbersAsked,
  OTHER_TEAMS,
  openSession,
  pgbench,
  prepare,
  type SignedIn,
  say,
  wrk,
} from './harness.js'

const CLIENTS = 64
const SECONDS = 8
const ROUNDS = 5
/** Enough people that no one's hours fill up. */
const USERS = 600
const REPOS = 20
const DAYS = 10

/** `$1` … of a statement as SQL expressions. */
const fill = ({ text }: Statement<unknown>, values: string[]) =>
  `${text.replace(/\$([0-9]+)/g, (_, number) => values[Number(number) - 1] ?? 'null').replaceAll(/\s+/g, ' ')};`
const arrayOf = (values: unknown[]) => `'{${values.map((value) => `"${value}"`).join()}}'`

interface Entry {
  repo: string
  day: string
  minutes: number
  hours: Record<string, number>
}

await benchmark(async (cleanUp) => {
  const setting = await prepare(cleanUp)
  const { databaseUrl, database, service, signIn } = setting
  const { backend } = await openSession(setting, cleanUp)
  await addOthers(setting, numbersAsked({ teams: OTHER_TEAMS }).teams)

  const users: SignedIn[] = []
  for (let index = 0; index < USERS; index++) users.push(await signIn(`bench-${index}`))
  const workspace = await createWorkspace(service.url, users)

  await database.read.statement('create table bench_users (n int primary key, id uuid not null)', [])
  await database.read.statement(
    `insert into bench_users select n, id::uuid from unnest($1::text[]) with ordinality as u (id, n)`,
    [users.map(({ id }) => id)],
  )
  const today = await readToday(database)
  const days = Array.from({ length: DAYS }, (_, index) => addDays(today, -index))
  const repos = Array.from({ length: REPOS }, (_, index) => `repo-${index}`)
  const entriesOf = (someDays: string[], some: string[]): Entry[] =>
    someDays.flatMap((day) =>
      some.map((repo, index) => ({ repo: `acme/${repo}`, day, minutes: 1, hours: { [index]: 1 } })),
    )

  const folder = await mkdtemp(join(tmpdir(), 'bench-ingestion-'))
  cleanUp(() => rm(folder, { recursive: true }))
  const requests = join(folder, 'flush.lua')
  const flush = { pid: service.pid, url: `${service.url}/api/team/active-minutes` }
  const kinds = [
    { flushes: days.map((day) => entriesOf([day], repos.slice(0, 3))), people: 16, connections: 2 },
    { flushes: [entriesOf(days, repos)], people: 1, connections: 8 },
  ]
  for (const { flushes, people, connections } of kinds) {
    await writeFile(requests, luaOf(users, flushes))
    const entries = flushes[0] ?? []
    const script = scriptOf(workspace, entries, people)
    const ratios: number[] = []
    const shares: number[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const start = await cpuTimeOfServer(backend)
      const http = await wrk(flush, {}, { seconds: SECONDS, connections: CLIENTS, script: requests })
      const middle = await cpuTimeOfServer(backend)
      const sets = await pgbench(databaseUrl, script, connections, SECONDS)
      const end = await cpuTimeOfServer(backend)
      // The first round warms up.
      if (round === 0) continue
      const ofFlush = (middle - start) / http.requests / 1_000
      say(
        [
          `${http.perSecond.toFixed(0)} flushes/s of ${entries.length} entries through HTTP (p99 ${http.p99.toFixed(0)} ms,`,
          `CPU: ${(http.cpu / 1_000).toFixed(2)} ms of the service, ${ofFlush.toFixed(2)} ms of PostgreSQL),`,
          sets === undefined ? 'no pgbench' : `${(sets * people).toFixed(0)} by pgbench`,
        ].join(' '),
      )
      if (sets === undefined) continue
      const ofPgbench = (end - middle) / (sets * people * SECONDS) / 1_000
      ratios.push(http.perSecond / (sets * people))
      shares.push(ofPgbench / ofFlush)
      say(`  of pgbench ${ofPgbench.toFixed(2)} ms of PostgreSQL`)
    }
    if (ratios.length > 0)
      say(`${median(ratios).toFixed(2)} of pgbench, ${median(shares).toFixed(2)} by the CPU of PostgreSQL`)
  }
})

/** For wrk: each user sends one request after the other. */
function luaOf(users: SignedIn[], flushes: Entry[][]): string {
  return [
    `local tokens = { ${users.map(({ token }) => `"${token}"`).join(', ')} }`,
    `local flushes = { ${flushes.map((entries) => `[==[${JSON.stringify(entries)}]==]`).join(', ')} }`,
    'math.randomseed(os.time())',
    'local run, turn = math.random(1000000000), math.random(1000000)',
    'request = function()',
    '  turn = turn + 1',
    '  local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. tokens[turn % #tokens + 1] }',
    '  local entries = flushes[math.floor(turn / #tokens) % #flushes + 1]',
    `  local body = '{"flush_id":"' .. run .. '-' .. turn .. '","entries":' .. entries .. '}'`,
    '  return wrk.format("POST", wrk.path, headers, body)',
    'end',
  ].join('\n')
}

/** For pgbench: the statements that the service sends for a set of people, in the same batches. */
function scriptOf(workspace: string, entries: Entry[], people: number): string {
  const repos = [...new Set(entries.map(({ repo }) => repo))]
  const days = [...new Set(entries.map(({ day }) => day))]
  const users =
    '(select array_agg(id) from bench_users where n between :user::int and :user::int + :people::int - 1)'
  /** A value of each item, for each person. */
  const each = (items: number) =>
    `(select array_agg(id) from bench_users, generate_series(1, ${items}) where n between :user::int and :user::int + :people::int - 1)`
  const forEach = (value: string) => `(select array_agg(${value}) from generate_series(1, ${people}))`
  const forAll = <T>(items: T[]) => arrayOf(Array.from({ length: people }, () => items).flat())
  // Parameters, because PostgreSQL would parse constants only once.
  const parameters: Record<string, string> = {
    people: String(people),
    workspace: `'${workspace}'`,
    places: arrayOf(Array.from({ length: people }, (_, n) => repos.map(() => n + 1)).flat()),
    owners: forAll(repos.map((repo) => repo.split('/')[0])),
    names: forAll(repos.map((repo) => repo.split('/')[1])),
    days: arrayOf(days),
    days_of_all: forAll(days),
    row_days: forAll(entries.map(({ day }) => day)),
    row_repos: forAll(entries.map(({ repo }) => repo)),
    zones: forAll(entries.map(() => 'UTC')),
    minutes: forAll(entries.map(({ minutes }) => minutes)),
    hours: forAll(
      entries.map(({ hours }) => `{${Array.from({ length: HOURS }, (_, hour) => hours[hour] ?? 0)}}`),
    ),
  }
  return [
    '\\if :ready = 0',
    `select ${Object.entries(parameters).map(([name, value]) => `${value}::text as ${name}`)} \\gset`,
    '\\set ready 1',
    '\\endif',
    `\\set user random(1, ${USERS - people + 1})`,
    '\\set turn random(1, 9000000000000000)',
    'begin;',
    '\\startpipeline',
    fill(READ_TARGETS, [users, ':places', ':owners', ':names', '1e6', forEach("'workspaces'")]),
    fill(READ_FLUSH_RESPONSES, [users, forEach(':turn::text')]),
    '\\endpipeline',
    '\\startpipeline',
    fill(READ_OWN_DAYS, [each(days.length), ':days_of_all']),
    fill(READ_DAYS, [':workspace', each(days.length), ':days_of_all']),
    '\\endpipeline',
    '\\startpipeline',
    fill(INSERT_FLUSHES, [users, ...[':turn::text', "'x'::text", "'{}'::text"].map(forEach)]),
    fill(MARK_DAYS, [':workspace', ':days']),
    fill(UPSERT_DAYS, [
      ':workspace',
      each(entries.length),
      ':row_days',
      ':row_repos',
      ':minutes',
      ':hours',
      ':zones',
    ]),
    fill(UPSERT_OWN_DAYS, [
      each(entries.length),
      ':row_days',
      ':row_repos',
      ':row_repos',
      ':minutes',
      ':hours',
      ':zones',
      ':minutes',
    ]),
    'commit;',
    '\\endpipeline',
  ].join('\n')
}
