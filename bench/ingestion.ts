/**
 * Flushes of 3 and of 200 entries through HTTP, against pgbench with the same statements.
 * Options: `--teams 31` (others).
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { READ_FLUSH } from '../src/features/minutes/queries/flush-target.js'
import {
  ADD_MINUTES,
  LOCK_ACTIVITY,
  MARK_DAYS,
  NAME_REPOS,
  READ_DAYS,
  REMEMBER_FLUSH,
} from '../src/features/minutes/queries/minutes.js'
import type { Statement } from '../src/platform/database/statement.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays, HOURS } from '../src/platform/time/days.js'
import {
  addOthers,
  benchmark,
  createWorkspace,
  median,
  numbersAsked,
  OTHER_TEAMS,
  pgbench,
  prepare,
  type SignedIn,
  say,
  wrk,
} from './harness.js'

const CLIENTS = 8
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
  const kinds = [days.map((day) => entriesOf([day], repos.slice(0, 3))), [entriesOf(days, repos)]]
  for (const flushes of kinds) {
    await writeFile(requests, luaOf(users, flushes))
    const entries = flushes[0] ?? []
    const script = scriptOf(workspace, entries)
    const ratios: number[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const http = await wrk(flush, {}, { seconds: SECONDS, connections: CLIENTS, script: requests })
      const limit = await pgbench(databaseUrl, script, CLIENTS, SECONDS)
      // The first round warms up.
      if (round === 0) continue
      if (limit !== undefined) ratios.push(http.perSecond / limit)
      say(
        [
          `${http.perSecond.toFixed(0)} flushes/s of ${entries.length} entries through HTTP (p99 ${http.p99.toFixed(0)} ms,`,
          `${(http.cpu / 1_000).toFixed(1)} ms of CPU), ${limit?.toFixed(0) ?? 'no pgbench, no'} by pgbench`,
        ].join(' '),
      )
    }
    if (ratios.length > 0) say(`${median(ratios).toFixed(2)} of pgbench`)
  }
})

/** For wrk: each user sends one after the other. */
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

/** For pgbench: what the service sends, and sent together what it sends together. */
function scriptOf(workspace: string, entries: Entry[]): string {
  const user = '(select id from bench_users where n = :user)'
  const repos = [...new Set(entries.map(({ repo }) => repo))]
  const characters = repos.join('').length
  // As parameters: PostgreSQL would read constants only once.
  const parameters: Record<string, string> = {
    workspace: `'${workspace}'`,
    owners: arrayOf(repos.map((repo) => repo.split('/')[0])),
    names: arrayOf(repos.map((repo) => repo.split('/')[1])),
    repos: arrayOf(repos),
    days: arrayOf([...new Set(entries.map(({ day }) => day))]),
    row_days: arrayOf(entries.map(({ day }) => day)),
    row_repos: arrayOf(entries.map(({ repo }) => repo)),
    minutes: arrayOf(entries.map(({ minutes }) => minutes)),
    hours: arrayOf(
      entries.map(({ hours }) => `{${Array.from({ length: HOURS }, (_, hour) => hours[hour] ?? 0)}}`),
    ),
  }
  return [
    '\\if :ready = 0',
    `select ${Object.entries(parameters).map(([name, value]) => `${value}::text as ${name}`)} \\gset`,
    '\\set ready 1',
    '\\endif',
    `\\set user random(1, ${USERS})`,
    '\\set turn random(1, 9000000000000000)',
    fill(READ_FLUSH, [
      user,
      ':turn::text',
      ':owners',
      ':names',
      "'{acme}'",
      `'{${characters}}'`,
      `${characters}`,
      '1e9',
    ]),
    'begin;',
    '\\startpipeline',
    fill(LOCK_ACTIVITY, [':workspace', user]),
    fill(READ_DAYS, [':workspace', user, ':days']),
    '\\endpipeline',
    '\\startpipeline',
    fill(REMEMBER_FLUSH, [user, ':turn::text', "'x'", "'{}'"]),
    fill(NAME_REPOS, [':workspace', ':repos', ':repos']),
    fill(MARK_DAYS, [':workspace', ':days']),
    fill(ADD_MINUTES, [':workspace', user, ':row_days', ':row_repos', ':minutes', ':hours']),
    'commit;',
    '\\endpipeline',
  ].join('\n')
}
