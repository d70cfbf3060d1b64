/**
 * Flushes of 200 entries through HTTP, beside pgbench (Debian: postgresql-contrib) running the same statements; the few
 * of its flushes that meet another of the same user write nothing. Options: `--teams 31` (others).
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addDays } from '../src/domain/days.js'
import { READ_FLUSH, readToday, WRITE_FLUSH } from '../src/queries/activity.js'
import {
  addOthers,
  benchmark,
  expectOk,
  median,
  pgbench,
  prepare,
  type SignedIn,
  say,
  send,
  teamsAsked,
  wrk,
} from './harness.js'

const CLIENTS = 8
const SECONDS = 8
const ROUNDS = 5
/** So many that nobody's hours fill up. */
const USERS = 600
const REPOS = 20
const DAYS = 10

/** `$1` … of a statement as SQL expressions. */
const fill = (text: string, values: string[]) =>
  `${text.replace(/\$([0-9]+)/g, (_, number) => values[Number(number) - 1] ?? 'null').replaceAll(/\s+/g, ' ')};`
const textArray = (values: unknown[]) => `'{${values.map((value) => `"${value}"`).join()}}'`

await benchmark(async (cleanUp) => {
  const setting = await prepare(cleanUp)
  const { databaseUrl, database, service, signIn } = setting
  await addOthers(setting, teamsAsked())

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
  const entries = days.flatMap((day) =>
    repos.map((repo, index) => ({ repo: `acme/${repo}`, day, minutes: 1, hours: { [index]: 1 } })),
  )

  const folder = await mkdtemp(join(tmpdir(), 'bench-ingestion-'))
  cleanUp(() => rm(folder, { recursive: true }))
  const requests = join(folder, 'flush.lua')
  await writeFile(
    requests,
    [
      `local tokens = { ${users.map(({ token }) => `"${token}"`).join(', ')} }`,
      `local entries = [==[${JSON.stringify(entries)}]==]`,
      'math.randomseed(os.time())',
      'local run, turn = math.random(1000000000), 0',
      'request = function()',
      '  turn = turn + 1',
      '  local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. tokens[turn % #tokens + 1] }',
      `  local body = '{"flush_id":"' .. run .. '-' .. turn .. '","entries":' .. entries .. '}'`,
      '  return wrk.format("POST", wrk.path, headers, body)',
      'end',
    ].join('\n'),
  )

  // As parameters: PostgreSQL would read constants only once.
  const parameters: Record<string, string> = {
    owners: textArray(repos.map(() => 'acme')),
    names: textArray(repos),
    workspace: textArray([workspace]),
    workspaces: textArray(days.map(() => workspace)),
    days: textArray(days),
    entry_days: textArray(entries.map(({ day }) => day)),
    entry_repos: textArray(entries.map(({ repo }) => repo)),
    repos: textArray(days.map(() => repos.map((repo) => `acme/${repo}`).join())),
    minutes: textArray(days.map(() => repos.map(() => 3).join())),
    hours: textArray(days.map(() => `01${'00'.repeat(23)}`.repeat(REPOS))),
  }
  const user = '(select id from bench_users where n = :user)'
  const script = [
    '\\if :ready = 0',
    `select ${Object.entries(parameters).map(([name, value]) => `${value}::text as ${name}`)} \\gset`,
    '\\set ready 1',
    '\\endif',
    `\\set user random(1, ${USERS})`,
    '\\set turn random(1, 9000000000000000)',
    fill(READ_FLUSH, [
      user,
      ':owners',
      ':names',
      ':days',
      ':turn::text',
      ':entry_days',
      ':entry_repos',
    ]).replace(/;$/, ' \\aset before_'),
    fill(WRITE_FLUSH, [
      user,
      ':workspace',
      'array[:before_version]',
      ...['workspaces', 'days', 'repos', 'minutes', 'hours'].map((name) => `:${name}`),
      ':turn::text',
      "'x'",
      "'{}'",
    ]),
  ].join('\n')

  const flush = { pid: service.pid, url: `${service.url}/api/team/active-minutes` }
  const ratios: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const http = await wrk(flush, {}, { seconds: SECONDS, connections: CLIENTS, script: requests })
    const limit = await pgbench(databaseUrl, script, CLIENTS, SECONDS)
    // The first round warms up.
    if (round === 0) continue
    if (limit !== undefined) ratios.push(http.perSecond / limit)
    say(
      [
        `${http.perSecond.toFixed(0)} flushes/s through HTTP (${(http.perSecond * entries.length).toFixed(0)} entries/s,`,
        `p99 ${http.p99.toFixed(0)} ms, ${(http.cpu / 1_000).toFixed(1)} ms of CPU),`,
        `${limit?.toFixed(0) ?? 'no pgbench, no'} by pgbench`,
      ].join(' '),
    )
  }
  if (ratios.length > 0) say(`${median(ratios).toFixed(2)} of pgbench  (target 0.75)`)
})

/** Of all users. @returns its id */
async function createWorkspace(url: string, [admin, ...others]: SignedIn[]): Promise<string> {
  const body = { name: 'Bench', patterns: ['acme/*'] }
  const { status, text } = await send(url, 'POST', '/api/team/workspaces/create', admin?.token, body)
  if (status !== 201) throw new Error(text)
  const { workspace, invite } = JSON.parse(text)
  for (const { token } of others) {
    await expectOk(send(url, 'POST', '/api/team/workspaces/join', token, { code: invite.code }))
  }
  return workspace.id
}
