/** Callers who act like people, and know what data must result. */
import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import type { RepohostStandIn } from '../../demo/repohost.js'
import { addDays } from '../../src/platform/time/days.js'
import type { Figures } from './fault.js'

export interface CrowdOptions {
  /** Where the next request goes. */
  url(): string
  repohost: RepohostStandIn
  /** Bypasses the service, to read what is really stored. */
  admin: postgres.Sql
  callers?: number
  /** The pause between two requests of a caller. */
  pauseMs?: number
  /** The statuses that a fault excuses. 0 means no response, because the service itself ends. By default 503. */
  excused?: number[]
}

interface Reply {
  /** 0: there was no response. */
  status: number
  /** The parsed body; what came, and not what a type promises. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any
}

interface Person {
  token: string
  work(): Promise<void>
  verify(): Promise<void>
}

/** A wait longer than this counts as endless. */
const HUNG_MS = 90_000
/** So long that the response arrives in many pieces, and a connection can break between two of them. */
const FILLING = 'x'.repeat(60_000)
/** Minutes are spread over this many days, so that no day fills up. */
const DAYS = 28

const range = (day: string) => `from=${addDays(day, -29)}&to=${addDays(day, 1)}`

/** Callers at work from now on. */
export const startCrowd = async (options: CrowdOptions) => {
  const { url, repohost, admin, callers = 12, pauseMs = 20, excused = [503] } = options
  const figures: Figures = {
    requests: 0,
    acknowledged: 0,
    lost: 0,
    doubled: 0,
    wrong: 0,
    failed: 0,
    longestMs: 0,
    recoveryMs: 0,
  }
  const statuses = new Map<number, number>()
  const complaints: string[] = []
  let slowest = ''
  const complain = (kind: 'lost' | 'doubled' | 'wrong' | 'failed', what: string, count = 1) => {
    if (count <= 0) return
    figures[kind] += count
    complaints.push(`${kind}: ${what}`)
  }
  const expect = (holds: boolean, what: string) => complain('wrong', what, holds ? 0 : 1)
  const today = new Date().toISOString().slice(0, 10)

  const send = async (
    token: string,
    method: string,
    path: string,
    body?: unknown,
    host?: string,
  ): Promise<Reply> => {
    const began = performance.now()
    figures.requests++
    const request = {
      method,
      signal: AbortSignal.timeout(HUNG_MS),
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(host !== undefined && { 'X-Repohost-Token': host }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }
    const reply: Reply = await fetch(url() + path, request)
      .then(async (response) => ({ status: response.status, body: await response.json() }))
      .catch((error) => ({ status: 0, body: error }))
    const { status } = reply
    const ms = performance.now() - began
    if (ms > figures.longestMs) slowest = `${method} ${path.replace(/\?.*/, '')}: ${status}`
    figures.longestMs = Math.max(figures.longestMs, ms)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const isExcused = excused.includes(status) || (status > 0 && status < 500)
    if (!isExcused) {
      const said = status === 0 ? String(reply.body.cause ?? reply.body) : JSON.stringify(reply.body)
      complain('failed', `${method} ${path}: ${said}`)
    }
    if (status < 300 && status > 0 && method !== 'GET') figures.acknowledged++
    return reply
  }

  /** Sends until it is answered, and not with a failure, as a correct client does. */
  const insist = async (...call: Parameters<typeof send>): Promise<Reply> => {
    for (;;) {
      const reply = await send(...call)
      if (reply.status > 0 && reply.status < 500) return reply
      await sleep(50)
    }
  }

  const settle = async (n: number): Promise<Person> => {
    const name = `caller-${n}`
    const { token: host } = repohost.addUser(name)
    const { token } = (await insist('', 'POST', '/api/auth/verify', { repohost_token: host })).body
    const created = await insist(token, 'POST', '/api/team/workspaces/create', {
      name,
      patterns: [`${name}/*`],
    })
    const id: string = created.body.workspace.id
    const team = `/api/team/workspaces/${id}`
    const settings = `/api/settings/${name}/repo`
    const minutes = { acknowledged: 0 }
    const events = { acknowledged: 0, tried: 0 }
    const pushes = { acknowledged: 0, tried: 0, last: 0 }
    const commits = { acknowledged: 0, tried: 0 }
    const patched = new Set<string>()
    const overrides = new Set<string>()
    const workspaces = { acknowledged: new Set<string>([name]), tried: 1 }
    let writes = 0

    const deeds: (() => Promise<void>)[] = [
      async () => {
        const day = addDays(today, -(writes % DAYS))
        const flush = { flush_id: `${name}-${writes}`, entries: [{ repo: `${name}/repo`, day, minutes: 1 }] }
        const { status, body } = await insist(token, 'POST', '/api/team/active-minutes', flush)
        expect(status === 200 && body.accepted === 1, `a flush of ${name}: ${status}`)
        if (status === 200) minutes.acknowledged++
      },
      async () => {
        pushes.tried++
        const n = pushes.tried
        const content = { 'ext.who': name, 'ext.n': n, 'ext.filling': FILLING }
        const { status } = await send(token, 'PUT', settings, { settings: content }, host)
        if (status !== 200) return
        pushes.acknowledged++
        pushes.last = n
      },
      async () => {
        const { status, body } = await send(token, 'GET', settings)
        if (status === 404)
          return complain('lost', `the settings of ${name} are gone`, pushes.acknowledged > 0 ? 1 : 0)
        if (status !== 200) return
        expect(body.settings['ext.who'] === name, `${name} has the settings of ${body.settings['ext.who']}`)
        complain('lost', `${name} sees an older push`, pushes.last - body.settings['ext.n'])
        expect(body.settings['ext.n'] <= pushes.tried, `${name} sees what was never pushed`)
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
        const gone = [...patched].filter((key) => !(key in body.settings))
        complain('lost', `${name} misses the patches ${gone}`, gone.length)
        const keys = Object.keys(body.settings)
        const own = keys.every((key) => key.startsWith(`ext.${name}-`))
        expect(own, `${name} sees settings of someone else`)
      },
      async () => {
        if (overrides.size > 12) return
        const repo = `repo-${writes}`
        const path = `${team}/project-settings/${name}/${repo}`
        const content = { 'ext.who': name, 'ext.filling': FILLING }
        const { status } = await send(token, 'PUT', path, { settings: content })
        if (status === 200) overrides.add(repo)
      },
      async () => {
        const { status, body } = await send(token, 'GET', `${team}/project-settings?limit=500`)
        if (status !== 200) return
        const seen = new Set(body.overrides.map(({ repo }: { repo: string }) => repo))
        const gone = [...overrides].filter((repo) => !seen.has(repo))
        if (body.next_cursor === null) complain('lost', `${name} misses the overrides ${gone}`, gone.length)
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
        const gone = [...workspaces.acknowledged].filter((known) => !seen.includes(known))
        complain('lost', `${name} misses the workspaces ${gone}`, gone.length)
        const inOrder = seen.filter((known: string) => workspaces.acknowledged.has(known))
        expect(inOrder.join() === [...workspaces.acknowledged].join(), `${name} sees workspaces out of order`)
      },
      async () => {
        if (workspaces.tried > 18) return
        workspaces.tried++
        const wanted = `${name}-${writes}`
        const body = { name: wanted, patterns: [`${wanted}/*`] }
        const { status } = await send(token, 'POST', '/api/team/workspaces/create', body)
        if (status === 201) workspaces.acknowledged.add(wanted)
      },
      async () => {
        events.tried++
        const { status } = await send(token, 'POST', '/api/events', { event: `seen_${n}`, source: 'test' })
        if (status === 202) events.acknowledged++
      },
      async () => {
        if (commits.tried === 10_000) return
        const count = ++commits.tried
        const members = [{ login: name, repos: [{ repo: `${name}/repo`, count }] }]
        const { status } = await send(token, 'POST', '/api/team/commits', {
          workspace: id,
          day: today,
          members,
        })
        if (status === 200) commits.acknowledged = count
      },
      async () => {
        const { status, body } = await send(
          token,
          'GET',
          `/api/team/dashboard?workspace=${id}&${range(today)}`,
        )
        if (status !== 200) return
        const { active_minutes: seen, commits: counted } = body.totals
        complain('lost', `the dashboard of ${name} misses minutes`, minutes.acknowledged - seen)
        complain('doubled', `the dashboard of ${name} has too many minutes`, seen - minutes.acknowledged)
        complain('lost', `the dashboard of ${name} has older commits`, commits.acknowledged - counted)
        expect(counted <= commits.tried, `the dashboard of ${name} has commits that no one sent`)
        for (const rows of [body.daily, body.members, body.repos]) {
          const sum = rows.reduce(
            (total: number, row: { active_minutes: number }) => total + row.active_minutes,
            0,
          )
          expect(sum === seen, `the dashboard of ${name} does not add up`)
        }
      },
    ]

    const verify = async () => {
      for (const deed of deeds) {
        writes++
        await deed()
      }
      const { body: counted } = await insist(token, 'GET', `/api/team/active-minutes?${range(today)}`)
      let total = 0
      for (const day of counted.days) {
        for (const workspace of day.workspaces) total += workspace.minutes
      }
      complain('lost', `minutes of ${name}`, minutes.acknowledged - total)
      complain('doubled', `minutes of ${name}`, total - minutes.acknowledged)
      const [seen] = await admin<{ events: number }[]>`
        select coalesce(sum(events), 0)::int as events from funnel_users where event = ${`seen_${n}`}`
      complain('lost', `events of ${name}`, events.acknowledged - (seen?.events ?? 0))
      complain('doubled', `events of ${name}`, (seen?.events ?? 0) - events.tried)
      const { body } = await insist(token, 'GET', '/api/team/me')
      complain('doubled', `workspaces of ${name}`, body.workspaces.length - workspaces.tried)
      for (const { name: made, id: its, patterns } of body.workspaces) {
        expect(patterns.length === 1 && patterns[0] === `${made}/*`, `the workspace ${made} is half made`)
        const { body: trail } = await insist(token, 'GET', `/api/team/workspaces/${its}/audit?limit=500`)
        const births = trail.entries.filter(
          ({ action }: { action: string }) => action === 'workspace.created',
        ).length
        expect(births === 1 || trail.next_cursor !== null, `the workspace ${made} has ${births} beginnings`)
        const { body: invites } = await insist(token, 'GET', `/api/team/workspaces/${its}/invites`)
        expect(invites.invites.length === 1, `the workspace ${made} has ${invites.invites.length} invites`)
      }
      const { body: versions } = await insist(token, 'GET', `${settings}/versions`)
      const numbers: number[] = (versions.versions ?? []).map(({ version }: { version: number }) => version)
      const newest = numbers[0] ?? 0
      complain('lost', `versions of ${name}`, pushes.acknowledged - newest)
      complain('doubled', `versions of ${name}`, newest - pushes.tried)
      const isGapless = numbers.every((version, index) => version === newest - index)
      expect(isGapless, `the versions of ${name} have gaps: ${numbers}`)
    }

    const work = async () => {
      writes++
      await deeds[Math.floor(Math.random() * deeds.length)]?.()
    }
    return { token, work, verify }
  }

  const people = await Promise.all(Array.from({ length: callers }, (_, n) => settle(n)))
  let isOver = false
  const days = people.map(async (person) => {
    while (!isOver) {
      await person.work()
      await sleep(pauseMs * 2 * Math.random())
    }
  })

  /** Waits until a caller is served again, and keeps the longest time that this took. */
  const recovered = async (since = performance.now()): Promise<number> => {
    const token = people[0]?.token ?? ''
    for (;;) {
      const signal = AbortSignal.timeout(2_000)
      const headers = { Authorization: `Bearer ${token}` }
      const reply = await fetch(`${url()}/api/me`, { headers, signal }).catch(() => undefined)
      await reply?.arrayBuffer().catch(() => {})
      const ms = performance.now() - since
      if (reply?.ok) {
        figures.recoveryMs = Math.max(figures.recoveryMs, ms)
        return ms
      }
      if (ms > HUNG_MS) throw new Error('The service does not recover')
      await sleep(20)
    }
  }

  /** Ends the work, and compares the stored data with the responses. */
  const finish = async () => {
    isOver = true
    await Promise.all(days)
    for (const [n, person] of people.entries())
      await person.verify().catch((error) => complain('wrong', `caller-${n}: ${error.stack}`))
    const responses = [...statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, count]) => `${count} × ${status || 'none'}`)
    return { ...figures, answers: `answers: ${responses.join(', ')}; the slowest was ${slowest}`, complaints }
  }

  return { figures, statuses, people, recovered, finish }
}

export type Crowd = Awaited<ReturnType<typeof startCrowd>>
