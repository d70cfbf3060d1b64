/**
 * Measures what large requests need, and what happens in a small container: the service starts in a cgroup of `--mib
 * 256`, and gets the largest requests of many callers at once. Prints the responses by status, the peak of its memory, its
 * CPU time, and whether it lives.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { deliveryShapes } from '../demo/host-deliveries.js'
import { limits } from '../schemas/limits.js'
import { groupBy } from '../src/platform/process/maps.js'
import { launchIn } from './confine.js'
import {
  benchmark,
  cpuTime,
  createWorkspace,
  memoryOf,
  numbersAsked,
  openSession,
  post,
  prepare,
  say,
  send,
  startDatabase,
} from './harness.js'

const MIB = 2 ** 20
const CALLERS = 8

const uploadOf = (workspace: string, bytes: number, day: number) => {
  const repos = Array.from({ length: limits.counts_repos_per_member }, (_, n) => ({
    repo: `acme/a-repository-with-a-name-that-is-longer-than-most-are-${n}`,
    count: 1,
  }))
  const members = Math.floor(bytes / JSON.stringify({ login: 'person-00', repos }).length)
  const text = JSON.stringify({
    workspace,
    day: new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10),
    members: Array.from({ length: Math.min(members, limits.counts_members) }, (_, n) => ({
      login: `person-${n}`,
      repos,
    })),
  })
  return text.padEnd(bytes)
}

let made = 0

const configurationOf = (bytes: number) => {
  const size = limits.settings_bytes
  return JSON.stringify({
    projects: Object.fromEntries(
      Array.from({ length: Math.floor(bytes / size) }, (_, n) => [
        `acme/repo-${n}`,
        { settings: { 'ext.a': `${made++}`.padEnd(size - 12, 'x') } },
      ]),
    ),
  })
}

/** As many values as a body may have, under the longest name. */
const valuesOf = (mark: string) => {
  const settings = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, n) => [`ext.${n.toString(36)}`, mark]),
  )
  const name = `acme/${'r'.repeat(limits.repo_length)}`
  const projects = Array.from(
    { length: 31 },
    (_, n) => [`${name.slice(0, -2)}${n + 10}`, { settings }] as const,
  )
  return { projects: Object.fromEntries(projects) }
}

const IMPORTED_DAYS = 1_000
const HEARTBEATS_PER_PROJECT = 2
const IMPORT_MS = 10_000

/** As many projects and days as a file may have. */
const importedFile = (): string => {
  const midnight = Math.floor(Date.now() / 86_400_000) * 86_400
  const heartbeats = Array.from({ length: IMPORTED_DAYS }, (_, day) =>
    Array.from({ length: limits.import_projects_per_day * HEARTBEATS_PER_PROJECT }, (_, n) => ({
      time: midnight - (day + 1) * 86_400 + n * 600,
      project: `acme/a-project-with-a-long-name-${n % limits.import_projects_per_day}`,
      entity: `/home/person/a-folder/${'x'.repeat(100)}.ts`,
      type: 'file',
    })),
  )
  return JSON.stringify({ days: heartbeats.map((ofDay) => ({ heartbeats: ofDay })) })
}

const FIRST_DAY = Date.UTC(2000, 0, 1) / 1_000
const DAY_SECONDS = 86_400

/** Heartbeats in so many minutes of every day since 2000, in CSV, packed. */
const longHistory = (minutesPerDay: number, categories = ['coding']): Buffer => {
  const days = Math.floor(Date.now() / 1_000 / DAY_SECONDS) - FIRST_DAY / DAY_SECONDS
  const lines = (day: number) =>
    Array.from({ length: minutesPerDay }, (_, n) => {
      const time = FIRST_DAY + day * DAY_SECONDS + Math.floor((n * 1_440) / minutesPerDay) * 60
      return categories.map((category) => `${time},a,${category}\n`).join('')
    }).join('')
  const parts = Array.from({ length: days }, (_, day) => gzipSync(lines(day)))
  return Buffer.concat([gzipSync('time,project,category\n'), ...parts])
}

const EXPORTED_ROWS = 20_000

/** Deliveries of so many bytes, which a form costs no more to read than JSON. */
const deliveriesOf = (bytes: number): Record<string, { body: string; type: string }> => {
  const json = 'application/json'
  const form = 'application/x-www-form-urlencoded'
  const { payload } = deliveryShapes.github.push('acme/api', [
    { id: 'a'.repeat(40), timestamp: new Date().toISOString(), login: 'caller-0' },
  ])
  const withNote = (note: string) => JSON.stringify({ ...payload, note })
  const long = withNote('"'.repeat(bytes / 2 - 1_000))
  const encoded = (length: number) => `payload=${encodeURIComponent(withNote('ä'.repeat(length)))}`
  return {
    'JSON with a long text': { body: long, type: json },
    'JSON of commas': { body: '{,'.repeat(bytes / 2), type: json },
    'a form, encoded': { body: encoded(bytes / 6 - 1_000), type: form },
    'a form, encoded after many fields': {
      body: 'a&'.repeat(bytes / 4) + encoded(bytes / 12 - 1_000),
      type: form,
    },
    'a form of `a&`': { body: 'a&'.repeat(bytes / 2), type: form },
    'a form of `payload=%41`': { body: `payload=${'%41'.repeat(bytes / 3 - 10)}`, type: form },
  }
}

await benchmark(async (cleanUp) => {
  const { mib } = numbersAsked({ mib: 256 })
  const launch = await launchIn(mib, cleanUp)
  const setting = await prepare(cleanUp, { WEBHOOK_KEYS: 'x'.repeat(48) }, startDatabase, launch)
  let { service } = setting
  const callers = await Promise.all(Array.from({ length: CALLERS }, (_, n) => setting.signIn(`caller-${n}`)))
  const workspaces = await Promise.all(callers.map((caller) => createWorkspace(service.url, [caller])))
  let day = 0
  say(`The service has ${mib} MiB. At rest it uses ${(await memoryOf(service.pid, 'VmRSS')).toFixed(0)} MiB.`)
  say('| at once | answers | peak | CPU | alive |')
  say('|---|---|---|---|---|')

  const together = async (
    name: string,
    callerCount: number,
    request: (index: number) => Promise<{ status: number }>,
  ) => {
    const before = await cpuTime(service.pid)
    const replies = await Promise.all(
      callers.slice(0, callerCount).map((_, index) => request(index).catch(() => ({ status: 0 }))),
    )
    const counted = groupBy(replies, ({ status }) => status)
    const peak = await memoryOf(service.pid, 'VmHWM')
    const alive = Number.isFinite(peak)
    const cpu = alive ? `${(((await cpuTime(service.pid)) - before) / 1_000).toFixed(0)} ms` : '–'
    const responses = [...counted].map(([status, all]) => `${all.length} × ${status || 'lost'}`).join(', ')
    say(`| ${name} | ${responses} | ${peak.toFixed(0)} MiB | ${cpu} | ${alive ? 'yes' : '**no**'} |`)
    service = await setting.restart()
  }
  const deliver = async (mebibytes: number) => {
    const response = await send(
      service.url,
      'POST',
      `/api/team/workspaces/${workspaces[0]}/webhook`,
      callers[0]?.token,
    )
    const { url, secret } = JSON.parse(response.text)
    for (const [name, { body, type }] of Object.entries(deliveriesOf(mebibytes * MIB - 100)))
      await together(`a delivery of ${mebibytes} MiB: ${name}`, 1, () =>
        post(service.url + new URL(url).pathname, {
          body,
          headers: { 'Content-Type': type, ...deliveryShapes.github.headers('push', body, secret, name) },
        }),
      )
  }
  for (const mebibytes of [8, 16, 24]) await deliver(mebibytes)
  const upload = (bytes: number) => (index: number) =>
    send(
      service.url,
      'POST',
      '/api/team/commits',
      callers[index]?.token,
      uploadOf(workspaces[index] ?? '', bytes, day++),
    )
  const configure = (bytes: number) => {
    const body = configurationOf(bytes)
    return (index: number) =>
      send(
        service.url,
        'PUT',
        `/api/team/workspaces/${workspaces[index]}/configuration`,
        callers[index]?.token,
        body,
      )
  }
  const most = limits.counts_body_bytes
  await together('1 upload of 11 MiB', 1, upload(11 * MIB))
  await together(`${CALLERS} uploads of 11 MiB`, CALLERS, upload(11 * MIB))
  await together('1 upload of 24 MiB', 1, upload(most))
  await together(`${CALLERS} uploads of 24 MiB`, CALLERS, upload(most))
  await together('1 configuration of 4 MiB', 1, configure(4 * MIB))
  await together(`${CALLERS} configurations of 4 MiB`, CALLERS, configure(4 * MIB))
  const mark = (name: string) => (index: number) =>
    send(
      service.url,
      'PUT',
      `/api/team/workspaces/${workspaces[index]}/configuration`,
      callers[index]?.token,
      valuesOf(name),
    )
  await together('1 configuration of 310,000 values', 1, mark('a'))
  await together(`${CALLERS} of them, in place of others`, CALLERS, mark('b'))
  await together('1 configuration of 16 MiB', 1, configure(16 * MIB))
  await together(`${CALLERS} configurations of 16 MiB`, CALLERS, configure(16 * MIB))
  await together('1 configuration of 16 MiB', 1, configure(limits.workspace_bytes - MIB))
  await together('1 configuration of 16 MiB, in place of another', 1, configure(limits.workspace_bytes - MIB))
  await together(`${CALLERS} configurations of 16 MiB`, CALLERS, configure(limits.workspace_bytes - MIB))
  await together(`${CALLERS} configurations of 16 MiB, removed`, CALLERS, (index) =>
    send(
      service.url,
      'PUT',
      `/api/team/workspaces/${workspaces[index]}/configuration`,
      callers[index]?.token,
      {
        projects: {},
      },
    ),
  )
  const file = importedFile()
  const own = '/api/wakatime/v1/users/current/import'
  const importAll = async (name: string, file: string | Buffer) => {
    await together(`${CALLERS} imports of ${name}`, CALLERS, async (index) => {
      const headers = { Authorization: `Bearer ${callers[index]?.token}` }
      const started = await post(service.url + own, { body: file, headers })
      // Imports are counted in the background. Part of that is enough.
      await sleep(IMPORT_MS)
      return started
    })
    for (const { token } of callers) await send(service.url, 'DELETE', own, token)
  }
  await importAll(`${(file.length / MIB).toFixed(0)} MiB`, file)
  await importAll('5 minutes of every day since 2000', longHistory(5))
  await importAll(
    '130 minutes of everyone and their agent on every day since 2000',
    longHistory(130, ['coding', 'ai coding']),
  )
  const { sql } = await openSession(setting, cleanUp)
  await sql`
    insert into daily_activity (workspace_id, user_id, day, repo_key, minutes)
    select m.workspace_id, m.user_id, '2000-01-01'::date + n / 10, 'acme/exported-' || n % 10, 1
    from members m, generate_series(1, ${EXPORTED_ROWS}::int) n where m.workspace_id in ${sql(workspaces)}`
  await together(`${CALLERS} exports of ${EXPORTED_ROWS} rows`, CALLERS, (index) =>
    send(service.url, 'GET', '/api/me/export', callers[index]?.token),
  )
})
