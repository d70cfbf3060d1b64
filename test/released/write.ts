/**
 * Keeps what a release leaves behind, for `test/upgrades.test.ts`: a database that the build in SERVICE_ROOT has filled
 * through its API, and what it then answered.
 *   DATABASE_URL=… SERVICE_ROOT=… node build/test/released/write.js
 * takes an empty database, and writes it to `test/released/` under the name of its newest migration. Needs the server's
 * own `pg_dump`.
 */
import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import postgres from 'postgres'
import { BILLING, startBillingProvider } from '../../demo/billing-provider.js'
import { OAUTH_APP, startRepohost } from '../../demo/repohost.js'
import { projectRoot } from '../../src/platform/process/root.js'
import { addDays } from '../../src/platform/time/days.js'
import { freePort, launch, launchProgram, onDatabase, ready } from '../process.js'
import { WEBHOOK_KEY } from '../service.js'
import { until } from '../until.js'
import { ADMIN_KEY, ask, type Person, type ReleaseRecord, readStable, type StoredResponse } from './record.js'

const { DATABASE_URL: url = '', SERVICE_ROOT: root = projectRoot } = process.env
const ends: (() => unknown)[] = []
const scope = { teardown: (end: () => unknown) => ends.unshift(end) }

const [repohost, billing] = await Promise.all([startRepohost(), startBillingProvider()])
scope.teardown(() => Promise.all([repohost.close(), billing.close()]))
const env = {
  ...onDatabase(url),
  REPOHOST_URL: repohost.url,
  REPOHOST_API_URL: repohost.url,
  REPOHOST_CLIENT_ID: OAUTH_APP.id,
  REPOHOST_CLIENT_SECRET: OAUTH_APP.secret,
  ADMIN_KEYS: ADMIN_KEY,
  WEBHOOK_KEYS: WEBHOOK_KEY,
  BILLING_SECRET_KEY: BILLING.secretKey,
  BILLING_WEBHOOK_SECRET: BILLING.webhookSecret,
  BILLING_API_URL: billing.url,
  BILLING_PRICE_MONTH: BILLING.priceMonth,
  BILLING_PRICE_YEAR: BILLING.priceYear,
}
const started = launch(scope, await freePort(), env)
process.on('exit', () => started.child.kill())
const service = await ready(started)
billing.webhookUrl = `${service.url}/api/billing-provider/webhook`

const people: Record<string, Person & { repohostToken: string }> = {}
const send = async (login: string, method: string, path: string, body?: object, headers?: object) => {
  const response = await ask(service.url, people[login]?.token, method, path, body, headers)
  // Features that this release doesn't have are left out.
  if (response.status >= 400 && (response.body as { code?: string }).code !== 'route_not_found')
    throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`)
  // biome-ignore lint/suspicious/noExplicitAny: as in test/service.ts
  return response.body as any
}
const signIn = async (login: string) => {
  const { id, token: repohostToken } = repohost.addUser(login)
  const { token } = await send('', 'POST', '/auth/verify', { repohost_token: repohostToken })
  people[login] = { id, token, repohostToken }
}

const logins = ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay', 'gus', 'hal']
for (const login of logins) await signIn(login)
const push = (login: string, repo: string, settings: object) =>
  send(login, 'PUT', `/settings/${repo}`, { settings }, { 'X-Repohost-Token': people[login]?.repohostToken })
const workspace = async (admin: string, name: string, patterns: string[], members: string[]) => {
  const made = await send(admin, 'POST', '/team/workspaces/create', { name, patterns })
  for (const login of members) await send(login, 'POST', '/team/workspaces/join', { code: made.invite.code })
  return { id: made.workspace.id as string, code: made.invite.code as string }
}

const acme = await workspace('ada', 'Acmé "1"', ['acme/*', 'Acme-Labs/web-*'], ['bob', 'cyd', 'dan', 'eve'])
const globex = await workspace('eve', 'Globex', ['globex/*'], ['ada', 'bob', 'cyd', 'dan', 'fay', 'hal'])
const gone = await workspace('ada', 'Gone', ['gone/*'], [])
await push('ada', 'gone/repo', { 'ext.a': 1 })
await send('ada', 'DELETE', `/team/workspaces/${gone.id}`)

await push('ada', 'acme/API', { 'ext.theme': 'light', 'ext.text': 'a\\b\n\t"ä"\u2028😀' })
await push('ada', 'acme/api', { 'ext.theme': 'dark', 'ext.deep': [1, 0.1, { x: null, 10: [] }] })
await push('ada', 'ada/dotfiles', { 'ext.own': true })
await push('eve', 'globex/api', {})
await push('ada', 'acme/old', { 'ext.a': 1 })
await send('ada', 'DELETE', '/settings/acme/old')
await send('ada', 'PATCH', `/team/workspaces/${acme.id}/settings`, {
  idle_window_minutes: 8,
  settings: { 'ext.theme': 'dark', 'ext.tabSize': 2 },
})
const overrides = `/team/workspaces/${acme.id}/project-settings`
await send('ada', 'PUT', `${overrides}/acme/api`, { settings: { 'ext.theme': null, 'ext.only': [1] } })
await send('ada', 'PUT', `${overrides}/acme/api`, { settings: { 'ext.theme': null, 'ext.only': [2] } })
await send('ada', 'PUT', `${overrides}/acme/gone`, { settings: {} })
await send('ada', 'DELETE', `${overrides}/acme/gone`)
const invite = await send('ada', 'POST', `/team/workspaces/${acme.id}/invites`, {
  role: 'admin',
  max_uses: 2,
  expires_in_hours: 2160,
})
await send('ada', 'PATCH', `/team/workspaces/${acme.id}/members`, { login: 'dan', role: 'admin' })
await send('ada', 'DELETE', `/team/workspaces/${acme.id}/members?login=eve`)
await send('ada', 'PATCH', `/team/workspaces/${acme.id}`, { name: 'Acmé' })
const keyOf = (path: string) =>
  send('ada', 'POST', path, { name: 'script', scopes: ['settings:read'], expires_in_days: 365 })
await keyOf('/me/keys')
await keyOf(`/team/workspaces/${acme.id}/keys`)
await send('ada', 'POST', `/team/workspaces/${acme.id}/webhook`)
await send('ada', 'POST', '/events', { event: 'panel_opened', source: 'extension' })

// One person pays, one starts to sign in, and one signs out.
const { url: checkout } = await send('bob', 'POST', '/billing/checkout', { interval: 'month' })
await fetch(checkout, { redirect: 'manual' })
await fetch(`${service.url}/api/auth/repohost`, { redirect: 'manual' })
await send('gus', 'POST', '/auth/logout', {})
await signIn('gus')
await send('cyd', 'PUT', '/me/recording', { paused: false, repos_off: ['acme/secret-*'], hours: null })
const hours = { from: 8, to: 18, weekdays: [1, 2, 3, 4, 5] }
await send('gus', 'PUT', '/me/recording', { paused: false, repos_off: [], hours })

const today = new Date().toISOString().slice(0, 10)
const daysAgo = (days: number) => addDays(today, -days)
const timezones = {
  ada: 'Europe/Berlin',
  bob: 'Asia/Kolkata',
  cyd: 'America/New_York',
  dan: 'UTC',
  eve: 'UTC',
}
for (const [n, [login, timezone]] of Object.entries(timezones).entries()) {
  const entries = Array.from({ length: 26 }, (_, day) => ({
    repo: day % 3 === 0 ? 'Acme/api' : n < 4 ? 'acme/web' : 'globex/api',
    day: daysAgo(day + 2),
    minutes: 40 + 10 * n + day,
    hours: { [7 + n]: 30, [(day + 20) % 24]: 5 + n },
  }))
  const shared = entries.map(({ day }) => ({ repo: 'globex/api', day, minutes: 20, hours: { '10': 20 } }))
  await send(login, 'POST', '/team/active-minutes', { timezone, entries: [...entries, ...shared] })
}
const members = logins.slice(0, 4).map((login, n) => ({ login, repos: [{ repo: 'acme/api', count: n + 1 }] }))
for (const day of [daysAgo(3), '2025-02-28', '2024-12-31']) {
  await send('ada', 'POST', '/team/commits', { workspace: acme.id, day, members })
  await send('ada', 'POST', '/team/closed-issues', { workspace: acme.id, day, members: members.slice(1) })
}
const nine = Date.parse(`${daysAgo(1)}T09:00:00Z`) / 1_000
const heartbeats = Array.from({ length: 20 }, (_, n) => ({
  ...{ time: nine + 60 * n, entity: '/src/a.ts', type: 'file' },
  category: n < 16 ? 'coding' : 'ai coding',
  project: n < 12 ? 'api' : n < 14 ? 'private-notes' : 'old',
}))
// One of them has pushed a repository of the last name, which then counts.
for (const login of ['cyd', 'ada'])
  await send(login, 'POST', '/wakatime/v1/users/current/heartbeats.bulk', heartbeats)
// Finished weeks are published at once. Versions without levels reject it.
const level = { activity_privacy: 'team' }
await send('eve', 'PATCH', `/team/workspaces/${globex.id}/settings`, level).catch(() => {})
await send('fay', 'DELETE', '/me', { confirm: 'fay' })
await send('eve', 'DELETE', `/team/workspaces/${globex.id}/members?login=hal`)
await send('hal', 'DELETE', '/me', { confirm: 'hal' })

const rebuilt = launchProgram(scope, 'src/bin/rebuild-rollups', onDatabase(url))
if ((await rebuilt.ended) !== 0) throw new Error(rebuilt.output())
// A day that is rolled up and then changes.
const flush = {
  flush_id: 'the-last-flush',
  entries: [{ repo: 'acme/api', day: daysAgo(2), minutes: 7, hours: { '3': 7 } }],
}
const flushed = await send('bob', 'POST', '/team/active-minutes', flush)

const range = `from=${daysAgo(29)}&to=${daysAgo(1)}`
/** A day of the newest week that can be published, which ended more than three days ago. */
const monday = daysAgo(((new Date().getUTCDay() + 3) % 7) + 10)
const dashboard = `/team/dashboard?workspace=${acme.id}&${range}`
const teamPaths = (id: string) =>
  ['members', 'patterns', 'settings', 'project-settings'].map((what) => `/team/workspaces/${id}/${what}`)
const paths: [login: string, path: string][] = [
  // Before anyone views a dashboard.
  ['bob', '/me/export'],
  ['bob', '/me/views'],
  ['ada', '/me/keys'],
  ['cyd', '/me/editor-projects'],
  ['ada', `/team/workspaces/${acme.id}/keys`],
  ['ada', `/team/workspaces/${acme.id}/settings/versions`],
  ['ada', `${overrides}/acme/api/versions`],
  ...['/me', '/projects', '/team/me', '/me/recording'].flatMap((path) =>
    ['ada', 'bob', 'cyd', 'gus'].map((login): [string, string] => [login, path]),
  ),
  ...['acme/api', 'ada/dotfiles', 'globex/api', 'acme/old'].flatMap((repo): [string, string][] => [
    ['ada', `/settings/${repo}`],
    ['ada', `/settings/${repo}/versions`],
    ['ada', `/settings/${repo}/versions/1`],
  ]),
  ...teamPaths(acme.id).map((path): [string, string] => ['bob', path]),
  ...teamPaths(globex.id).map((path): [string, string] => ['eve', path]),
  ['ada', `/team/workspaces/${acme.id}/audit`],
  ['eve', `/team/workspaces/${globex.id}/audit`],
  ['bob', '/team/effective-config?repo=acme/api'],
  ['ada', '/team/effective-config?repo=ada/dotfiles'],
  ['bob', `/team/active-minutes?day=${daysAgo(4)}`],
  ['cyd', `/team/active-minutes?${range}`],
  ['ada', dashboard],
  ['dan', `${dashboard}&member=dan`],
  ['ada', `${dashboard}&repo=acme/api`],
  ['ada', `${dashboard}&trends=true`],
  ['ada', `${dashboard}&format=csv`],
  ['ada', `/team/dashboard?workspace=${acme.id}&from=2024-12-01&to=2025-11-01`],
  ['bob', `/team/dashboard/mine?${range}`],
  ['eve', `/team/dashboard?workspace=${globex.id}&from=${monday}&to=${addDays(monday, 6)}`],
  ['', '/admin/funnel'],
]
const readAll = async () => {
  const responses: StoredResponse[] = []
  for (const [login, path] of paths) {
    const { status, body } = await readStable(service.url, people[login]?.token, path)
    if ((body as { code?: string }).code !== 'route_not_found') responses.push({ login, path, status, body })
  }
  return responses
}
// The first time some of it is an event, which is counted a little later.
const responses = await until(async () => {
  const [first, second] = [await readAll(), await readAll()]
  const stable = (all: StoredResponse[]) => JSON.stringify(all.at(-1))
  return stable(first) === stable(second) && second
}, 'reading changes nothing')

service.child.kill('SIGTERM')
await service.ended

const sql = postgres(url, { max: 1 })
const tables = await sql<
  { name: string }[]
>`select tablename as name from pg_tables where schemaname = 'public'`
for (const { name } of tables) {
  const [row] = await sql`select 1 from ${sql(name)} limit 1`
  if (!row) process.stdout.write(`${name} is empty\n`)
}
await sql.end()

const journal = JSON.parse(await readFile(join(root, 'drizzle/meta/_journal.json'), 'utf8'))
const name: string = journal.entries.at(-1).tag
const dump = execFileSync('pg_dump', ['--no-owner', '--no-privileges', '--inserts', url], {
  encoding: 'utf8',
})
const kept: ReleaseRecord = {
  people: Object.fromEntries(Object.entries(people).map(([login, { id, token }]) => [login, { id, token }])),
  invite: { workspace: acme.id, code: invite.code },
  flush: { login: 'bob', body: flush, answer: flushed },
  answers: responses,
}
for (const [ending, text] of [
  // Commands of psql, which SQL doesn't have.
  ['sql', dump.replaceAll(/^(\\.*|--.*|)\n/gm, '')],
  ['json', `${JSON.stringify(kept)}\n`],
] as const) {
  const file = join(projectRoot, 'test/released', `${name}.${ending}.gz`)
  const bytes = gzipSync(text, { level: 9 })
  await writeFile(file, bytes)
  process.stdout.write(`${file}: ${bytes.length} bytes\n`)
}
for (const end of ends) await end()
process.exit()
