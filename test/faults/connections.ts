/**
 * Cuts, cancels and kills while many callers are at work, holds every answer against what it must be, and prints what
 * came of it. Exits with 1 if an acknowledged write is lost, anything is there twice or half, or an answer is wrong.
 *   node build/test/faults/connections.js [--resets 1000] [--cancels 200] [--restarts 50] [--callers 12]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { startRepohost } from '../../demo/repohost.js'
import { startEmbedded } from '../../src/db/embedded/index.js'
import { freePort, launch, onDatabase, ready, temporaryFolder } from '../process.js'
import { startTcpProxy } from '../tcp-proxy.js'

const { values } = parseArgs({
  options: {
    resets: { type: 'string', default: '1000' },
    cancels: { type: 'string', default: '200' },
    restarts: { type: 'string', default: '50' },
    callers: { type: 'string', default: '12' },
  },
})
const say = (line: string) => process.stdout.write(`${line}\n`)
const ends: (() => unknown)[] = []
const scope = { teardown: (end: () => unknown) => ends.unshift(end) }

const quiet = { info: () => {}, warn: () => {}, error: () => {} }
const embedded = await startEmbedded({
  dataDir: await temporaryFolder(scope),
  maxConnections: 60,
  log: quiet,
})
scope.teardown(() => embedded.stop())
const admin = postgres(embedded.url, { max: 2, onnotice: () => {}, connect_timeout: 2 })
scope.teardown(() => admin.end({ timeout: 1 }))
const proxy = await startTcpProxy(scope, embedded.url)
const repohost = await startRepohost()
scope.teardown(() => repohost.close())
const service = await ready(
  launch(scope, await freePort(), {
    ...onDatabase(proxy.url),
    REPOHOST_URL: repohost.url,
    REPOHOST_API_URL: repohost.url,
    LOG_LEVEL: 'error',
  }),
)

const wrongs: string[] = []
const statuses = new Map<number, number>()
let longest = 0

interface Reply {
  status: number
  /** The parsed body; what came, and not what a type promises. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any
}

/** One request. Whatever else happens, the service answers, and with nothing but an answer or 503. */
const send = async (
  token: string,
  method: string,
  path: string,
  body?: unknown,
  host?: string,
): Promise<Reply> => {
  const began = performance.now()
  const response = await fetch(service.url + path, {
    method,
    headers: {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(host !== undefined && { 'X-Repohost-Token': host }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  longest = Math.max(longest, performance.now() - began)
  statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
  if (response.status >= 500 && response.status !== 503) wrongs.push(`${method} ${path}: ${text}`)
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

/** Sends until there is an answer other than 503, as a correct client does. */
const insist = async (...call: Parameters<typeof send>): Promise<Reply> => {
  for (;;) {
    const reply = await send(...call)
    if (reply.status !== 503) return reply
    await sleep(50)
  }
}

const expect = (holds: boolean, what: string) => {
  if (!holds) wrongs.push(what)
}

const today = new Date().toISOString().slice(0, 10)
/** So long that its answer comes in many pieces, and a cancel may fall between two of them. */
const FILLING = 'x'.repeat(60_000)

interface Person {
  name: string
  /** Does one thing after the other until told to stop. */
  work(stop: AbortSignal): Promise<void>
  verify(): Promise<void>
}

/** One person who does what people do, and knows what must have come of it. */
const settle = async (n: number): Promise<Person> => {
  const name = `caller-${n}`
  const { token: host } = repohost.addUser(name)
  const { token } = (await send('', 'POST', '/api/auth/verify', { repohost_token: host })).body
  const created = await send(token, 'POST', '/api/team/workspaces/create', {
    name,
    patterns: [`${name}/*`],
  })
  const id: string = created.body.workspace.id
  const team = `/api/team/workspaces/${id}`
  const settings = `/api/settings/${name}/repo`
  let minutes = 0
  let events = 0
  let eventsAtMost = 0
  let pushed = { acknowledged: 0, tried: 0 }
  const patched = new Set<string>()
  const overrides = new Set<string>()
  const workspaces = { acknowledged: new Set<string>([name]), tried: 1 }
  let writes = 0

  const deeds: (() => Promise<void>)[] = [
    async () => {
      const flush = {
        flush_id: `${name}-${writes}`,
        entries: [{ repo: `${name}/repo`, day: today, minutes: 1 }],
      }
      const { status, body } = await insist(token, 'POST', '/api/team/active-minutes', flush)
      expect(status === 200, `a flush of ${name} was answered ${status}`)
      if (body.accepted === 1) minutes++
    },
    async () => {
      pushed = { ...pushed, tried: pushed.tried + 1 }
      const { status } = await send(
        token,
        'PUT',
        settings,
        { settings: { 'ext.who': name, 'ext.n': pushed.tried, 'ext.filling': FILLING } },
        host,
      )
      if (status === 200) pushed = { ...pushed, acknowledged: pushed.tried }
    },
    async () => {
      const { status, body } = await send(token, 'GET', settings)
      if (status === 404) return expect(pushed.acknowledged === 0, `the settings of ${name} are gone`)
      if (status !== 200) return
      expect(body.settings['ext.who'] === name, `${name} has the settings of ${body.settings['ext.who']}`)
      const seen: number = body.settings['ext.n']
      expect(seen >= pushed.acknowledged && seen <= pushed.tried, `${name} sees an older push`)
      expect(body.settings['ext.filling'] === FILLING, `the settings of ${name} are not whole`)
    },
    async () => {
      const key = `ext.${name}-${writes}`
      const { status } = await send(token, 'PATCH', `${team}/settings`, { settings: { [key]: 1 } })
      if (status === 200) patched.add(key)
    },
    async () => {
      const { status, body } = await send(token, 'GET', `${team}/settings`)
      if (status !== 200) return
      const missing = [...patched].filter((key) => !(key in body.settings))
      expect(missing.length === 0, `${name} misses the patches ${missing}`)
      expect(
        Object.keys(body.settings).every((key) => key.startsWith(`ext.${name}-`)),
        `${name} sees settings of somebody else`,
      )
    },
    async () => {
      if (overrides.size > 12) return
      const repo = `repo-${writes}`
      const { status } = await send(token, 'PUT', `${team}/project-settings/${name}/${repo}`, {
        settings: { 'ext.who': name, 'ext.filling': FILLING },
      })
      if (status === 200) overrides.add(repo)
    },
    async () => {
      const { status, body } = await send(token, 'GET', `${team}/project-settings?limit=500`)
      if (status !== 200) return
      const seen = new Set(body.overrides.map(({ repo }: { repo: string }) => repo))
      const all = body.next_cursor !== null || [...overrides].every((repo) => seen.has(repo))
      expect(all, `${name} misses overrides`)
      for (const { owner, settings: own } of body.overrides) {
        expect(owner === name && own['ext.who'] === name, `${name} sees an override of ${owner}`)
        expect(own['ext.filling'] === FILLING, `an override of ${name} is not whole`)
      }
    },
    async () => {
      const { status, body } = await send(token, 'GET', '/api/team/me')
      if (status !== 200) return
      expect(body.login === name, `${name} is taken for ${body.login}`)
      const seen = body.workspaces.map((workspace: { name: string }) => workspace.name)
      const missing = [...workspaces.acknowledged].filter((known) => !seen.includes(known))
      expect(missing.length === 0, `${name} misses the workspaces ${missing}`)
    },
    async () => {
      if (workspaces.tried > 60) return
      workspaces.tried++
      const wanted = `${name}-${writes}`
      const { status } = await send(token, 'POST', '/api/team/workspaces/create', {
        name: wanted,
        patterns: [`${wanted}/*`],
      })
      if (status === 201) workspaces.acknowledged.add(wanted)
    },
    async () => {
      eventsAtMost++
      const { status } = await send(token, 'POST', '/api/events', { event: `seen_${n}`, source: 'test' })
      if (status === 202) events++
    },
    async () => {
      const { status, body } = await send(token, 'GET', `/api/team/dashboard?workspace=${id}`)
      if (status !== 200) return
      const { active_minutes } = body.totals
      expect(
        active_minutes === minutes,
        `the dashboard of ${name} has ${active_minutes} minutes for ${minutes}`,
      )
      const sums = [body.daily, body.members, body.repos].map((rows) =>
        rows.reduce((sum: number, row: { active_minutes: number }) => sum + row.active_minutes, 0),
      )
      expect(
        sums.every((sum) => sum === active_minutes),
        `the dashboard of ${name} does not add up`,
      )
    },
  ]

  return {
    name,
    work: async (stop) => {
      while (!stop.aborted) {
        writes++
        await deeds[Math.floor(Math.random() * deeds.length)]?.()
      }
    },
    verify: async () => {
      for (const deed of deeds) {
        writes++
        await deed()
      }
      const counted = await insist(token, 'GET', '/api/team/active-minutes')
      const total = counted.body.workspaces.reduce(
        (sum: number, workspace: { minutes: number }) => sum + workspace.minutes,
        0,
      )
      expect(total === minutes, `${name} has ${total} minutes for ${minutes} that were accepted`)
      const [seen] = await admin<{ events: number }[]>`
        select coalesce(sum(events), 0)::int as events from funnel_users where event = ${`seen_${n}`}`
      expect(
        seen !== undefined && seen.events >= events && seen.events <= eventsAtMost,
        `${seen?.events} events of ${name} for ${events} to ${eventsAtMost}`,
      )
      const { body } = await insist(token, 'GET', '/api/team/me')
      expect(body.workspaces.length <= workspaces.tried, `${name} has more workspaces than asked for`)
      for (const workspace of body.workspaces) {
        const { name: made, id: its, patterns } = workspace
        expect(patterns.length === 1 && patterns[0] === `${made}/*`, `the workspace ${made} is half made`)
        const { body: trail } = await insist(token, 'GET', `/api/team/workspaces/${its}/audit?limit=500`)
        const made1 = trail.entries.filter(({ action }: { action: string }) => action === 'workspace.created')
        expect(made1.length === 1 || trail.next_cursor !== null, `the workspace ${made} has no beginning`)
        const { body: invites } = await insist(token, 'GET', `/api/team/workspaces/${its}/invites`)
        expect(invites.invites.length === 1, `the workspace ${made} has ${invites.invites.length} invites`)
      }
      const { body: versions } = await insist(token, 'GET', `${settings}/versions`)
      const numbers: number[] = (versions.versions ?? []).map(({ version }: { version: number }) => version)
      expect(
        numbers.every((version, index) => index === 0 || version === (numbers[index - 1] ?? 0) - 1),
        `the versions of ${name} have gaps: ${numbers}`,
      )
    },
  }
}

const over = new AbortController()
const people = await Promise.all(Array.from({ length: Number(values.callers) }, (_, n) => settle(n)))
const days = people.map((person) => person.work(over.signal))

/** Cuts one connection amid whatever it carries. */
const cutSome = () => {
  let left = 1 + Math.floor(Math.random() * 6)
  proxy.cut = () => {
    if (left-- > 0) return false
    proxy.cut = undefined
    return true
  }
}
const resets = async () => {
  for (let done = 0; done < Number(values.resets); done++) {
    if (done % 10 === 0) proxy.reset()
    else cutSome()
    await sleep(20 + Math.random() * 180)
  }
  proxy.cut = undefined
}
const cancels = async () => {
  let done = 0
  for (let asked = 0; done < Number(values.cancels) && asked < 40 * Number(values.cancels); asked++) {
    const rows = await admin<{ done: boolean }[]>`
      select pg_cancel_backend(pid) as done from pg_stat_activity
      where datname = current_database() and state = 'active' and pid <> pg_backend_pid()
      order by random() limit 1`.catch(() => [])
    done += rows.length
    await sleep(Math.random() * 40)
  }
  return done
}
const restarts = async () => {
  for (let done = 0; done < Number(values.restarts); done++) {
    await sleep(1_000 + Math.random() * 2_000)
    const [row] = await admin<{ pid: number }[]>`
      select pid from pg_stat_activity where backend_type = 'checkpointer'`.catch(() => [])
    // The end of the checkpointer is a crash of the whole server: every session is lost, and it recovers.
    if (row) process.kill(row.pid, 'SIGKILL')
  }
}

const began = Date.now()
const [, cancelled] = await Promise.all([resets(), cancels(), restarts()])
over.abort()
await Promise.all(days)
for (const person of people) {
  await person.verify().catch((error) => wrongs.push(`${person.name}: ${error.stack}`))
}
const lived = service.child.exitCode === null && service.child.signalCode === null
expect(lived, 'the service has ended')

const requests = [...statuses.values()].reduce((sum, count) => sum + count, 0)
say(`${Math.round((Date.now() - began) / 1_000)} s, ${requests} requests of ${people.length} callers`)
say(`${values.resets} resets, ${cancelled} cancels, ${values.restarts} restarts`)
say(
  `answers: ${[...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')}`,
)
say(`longest wait: ${Math.round(longest)} ms; the service ${lived ? 'lived' : 'ended'}`)
say(`wrong: ${wrongs.length}`)
for (const wrong of wrongs.slice(0, 20)) say(`  ${wrong}`)
for (const end of ends) await end()
process.exit(wrongs.length > 0 ? 1 : 0)
