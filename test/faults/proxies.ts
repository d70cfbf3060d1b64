/**
 * The proxies of `ops/` in front of two instances, with TLS: people sign in, upload, stream, ask for a year, are
 * counted by their addresses, and the instances are restarted under load. A proxy that isn't installed is left out, and
 * named.
 */
import { spawn } from 'node:child_process'
import { Agent, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { OAUTH_APP, type RepohostStandIn, startRepohost } from '../../demo/repohost.js'
import { seedTeam } from '../../demo/team.js'
import { insertMember } from '../../src/features/workspaces/queries/members.js'
import { addDays } from '../../src/platform/time/days.js'
import { createTestDatabase, openDatabase } from '../database.js'
import { freePort, launch, onDatabase, ready, type ServiceProcess, temporaryFolder } from '../process.js'
import { examples, isInstalled, makeCertificate, NAME } from '../proxy-examples.js'
import { until } from '../until.js'
import type { Fault, Scope } from './fault.js'

const RESTARTS = 6
const CALLERS = 12
/** Longer than the proxies take to ask. */
const SHUTDOWN_DELAY_MS = '2500'
const UPLOAD_BYTES = 24 * 1_048_576

const today = new Date().toISOString().slice(0, 10)

/** Shared by all proxies. */
interface Surroundings {
  scope: Scope
  databaseUrl: string
  repohost: RepohostStandIn
}

/** The results of one proxy. */
class Findings {
  requests = 0
  failed = 0
  longestMs = 0
  readonly details: string[] = []
  readonly broken: string[] = []

  constructor(readonly name: string) {}

  expect(what: string, is: boolean, found: unknown = '') {
    const line = `${this.name}: ${what}`
    if (is) this.details.push(line)
    else this.broken.push(`${line}: ${JSON.stringify(found)}`)
  }
}

interface Sent {
  method?: string
  body?: string | object
  headers?: Record<string, string>
  /** Whence. */
  from?: string
  agent?: Agent
}

/** A browser that checks no certificate. */
const browse = (scope: Scope, port: number) => {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, servername: NAME })
  scope.teardown(() => agent.destroy())
  return (path: string, { method = 'GET', body, headers = {}, from, agent: own = agent }: Sent = {}) =>
    new Promise<{ status: number; headers: Record<string, string | string[] | undefined>; text: string }>(
      (resolve, reject) => {
        const payload = typeof body === 'object' ? JSON.stringify(body) : body
        const sent = request(
          {
            host: '127.0.0.1',
            port,
            path,
            method,
            agent: own,
            ...(from && { localAddress: from }),
            headers: {
              Host: `${NAME}:${port}`,
              ...(payload !== undefined && {
                'Content-Type': 'application/json',
                'Content-Length': Buffer.byteLength(payload),
              }),
              ...headers,
            },
          },
          (response) => {
            let text = ''
            response.on('data', (chunk) => {
              text += chunk
            })
            response.on('end', () =>
              resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
            )
            response.on('error', reject)
          },
        )
        sent.on('error', reject)
        sent.end(payload)
      },
    )
}

/** Restarts one instance after the other while people are at work. */
const restartUnderLoad = async (
  findings: Findings,
  repohost: RepohostStandIn,
  ask: ReturnType<typeof browse>,
  instances: ServiceProcess[],
  start: (port: number) => Promise<ServiceProcess>,
  { restarts, mayFail }: { restarts: number; mayFail: number },
) => {
  let isOver = false
  const failures: string[] = []
  const work = async (n: number) => {
    const login = `caller-${n}`
    const from = `127.0.1.${n + 1}`
    const send = async (path: string, token: string, body?: object) => {
      findings.requests++
      const began = performance.now()
      const sent = { from, headers: { ...(token && { Authorization: `Bearer ${token}` }) } }
      const reply = await ask(path, { ...sent, ...(body && { method: 'POST', body }) }).catch((error) => ({
        status: 0,
        text: String(error),
      }))
      findings.longestMs = Math.max(findings.longestMs, performance.now() - began)
      if (reply.status !== 200 && reply.status !== 201)
        failures.push(`${path}: ${reply.status} ${reply.text}`)
      return reply.text
    }
    const { token: repohost_token } = repohost.addUser(login)
    const { token } = JSON.parse(await send('/api/auth/verify', '', { repohost_token }))
    await send('/api/team/workspaces/create', token, { name: login, patterns: [`${login}/*`] })
    while (!isOver) {
      const entries = [{ repo: `${login}/repo`, day: today, minutes: 1 }]
      await send('/api/team/active-minutes', token, { entries })
      await send(`/api/team/effective-config?repo=${login}/repo`, token)
      // No caller comes near 600 requests a minute.
      await sleep(200)
    }
  }
  const working = Promise.all(Array.from({ length: CALLERS }, (_, n) => work(n)))
  for (let restart = 0; restart < restarts; restart++) {
    const place = restart % instances.length
    const former = instances[place]
    former?.child.kill('SIGTERM')
    const code = await former?.ended
    if (code !== 0) failures.push(`an instance ended with ${code}`)
    instances[place] = await start(Number(new URL(former?.url ?? '').port))
    // Until the proxy has seen that it is ready.
    await sleep(2_500)
  }
  isOver = true
  await working
  findings.failed = failures.length
  findings.expect(
    `${restarts} restarts, ${findings.requests} requests, ${failures.length} failed`,
    failures.length <= mayFail,
    failures.slice(0, 5),
  )
}

const tryOut = async (
  name: string,
  { scope, databaseUrl, repohost }: Surroundings,
  restarts: number,
): Promise<Findings> => {
  const findings = new Findings(name)
  const folder = await temporaryFolder(scope)
  const [front = 0, plain = 0, ...ports] = await Promise.all(Array.from({ length: 4 }, freePort))
  const origin = `https://${NAME}:${front}`
  const start = (port: number) =>
    ready(
      launch(scope, port, {
        ...onDatabase(databaseUrl),
        REPOHOST_URL: repohost.url,
        REPOHOST_API_URL: repohost.url,
        REPOHOST_CLIENT_ID: OAUTH_APP.id,
        REPOHOST_CLIENT_SECRET: OAUTH_APP.secret,
        BASE_URL: origin,
        TRUST_PROXY: '127.0.0.1',
        RATE_LIMITS: 'on',
        SHUTDOWN_DELAY_MS,
        LOG_LEVEL: 'error',
      }),
    )
  const instances: ServiceProcess[] = []
  for (const port of ports) instances.push(await start(port))
  const prepare = examples[name]
  if (!prepare) throw new Error(`There is no example of ${name}`)
  const certificate = await makeCertificate(folder)
  const { program, start: args, asks } = await prepare({ folder, front, plain, ports }, certificate)
  const proxy = spawn(program, args, { stdio: 'ignore', env: { PATH: process.env.PATH, HOME: folder } })
  const gone = new Promise((resolve) => proxy.once('exit', resolve))
  scope.teardown(async () => {
    proxy.kill('SIGTERM')
    await gone
  })
  const ask = browse(scope, front)
  await until(
    async () => (await ask('/api/ready').catch(() => undefined))?.status === 200,
    'the proxy serves',
  )

  const page = await ask('/')
  findings.expect(
    'the page comes over https and says that it stays so',
    /max-age/.test(String(page.headers['strict-transport-security'])),
    page.headers,
  )

  const ada = repohost.addUser(`ada-${name}`)
  repohost.browserUser = ada.id
  const begun = await ask('/api/auth/repohost')
  const cookies = (reply: typeof begun) => [reply.headers['set-cookie'] ?? []].flat()
  findings.expect(
    'a login begins with cookies of this host alone',
    cookies(begun).every((cookie) => /^__Host-.*; Secure/.test(cookie)) && cookies(begun).length === 2,
    cookies(begun),
  )
  const consent = await fetch(String(begun.headers.location), { redirect: 'manual' })
  const back = new URL(consent.headers.get('location') ?? '')
  findings.expect('the host sends back to the proxy', back.origin === origin, back.origin)
  const jar = cookies(begun).map((cookie) => cookie.split(';')[0])
  const done = await ask(back.pathname + back.search, { headers: { Cookie: jar.join('; ') } })
  const session = cookies(done).find((cookie) => cookie.startsWith('svc_token=')) ?? ''
  findings.expect('and the login ends with a session', done.status === 302 && /; Secure/.test(session), done)
  const cookie = { Cookie: session.split(';')[0] ?? '' }
  const create = (Origin: string) =>
    ask('/api/team/workspaces/create', {
      method: 'POST',
      headers: { ...cookie, Origin },
      body: { name, patterns: [`${name}/*`] },
    })
  const made = await create(origin)
  findings.expect('with the cookie one makes a workspace', made.status === 201, made)
  const other = await create('https://evil.example.com')
  findings.expect('and a page of another origin does not', other.status === 403, other)

  const { workspace } = JSON.parse(made.text)
  const counts = JSON.stringify({ workspace: workspace.id, day: today, members: [] })
  const upload = (bytes: number) =>
    ask('/api/team/commits', {
      method: 'POST',
      headers: { ...cookie, Origin: origin },
      body: counts.padEnd(bytes),
    })
  const uploaded = await upload(UPLOAD_BYTES)
  findings.expect('24 MiB are taken', uploaded.status === 200, uploaded)
  const tooMuch = await upload(UPLOAD_BYTES + 1)
  findings.expect(
    `a byte more is rejected${/payload_too_large/.test(tooMuch.text) ? ', in the words of the service' : ''}`,
    tooMuch.status === 413,
    tooMuch,
  )

  const store = openDatabase(databaseUrl)
  const seeded = await seedTeam(store, {
    name: `many-${name}`,
    owner: `many-${name}`,
    firstRepohostId: 1_000_000 * (1 + Object.keys(examples).indexOf(name)),
    members: 100,
    from: addDays(today, -364),
    to: today,
  })
  const { id } = JSON.parse((await ask('/api/me', { headers: cookie })).text)
  await insertMember(store.write, seeded.workspaceId, id, 'admin')
  await store.close()
  const board = `/api/team/dashboard?workspace=${seeded.workspaceId}&from=${addDays(today, -364)}&to=${today}`
  const year = await ask(board, { headers: cookie })
  findings.expect(
    'a year of a hundred people',
    year.status === 200 && JSON.parse(year.text).daily.length === 365,
    year.status,
  )
  const file = await ask(`${board}&format=csv`, { headers: cookie })
  findings.expect(
    `and as a stream, ${file.text.length} bytes, whole`,
    file.headers['transfer-encoding'] === 'chunked' && file.text.length > 500_000 && file.text.endsWith('\n'),
    file.headers,
  )

  let attempt = 0
  const guess = (from: string) =>
    ask('/api/auth/verify', {
      method: 'POST',
      from,
      agent: new Agent({ rejectUnauthorized: false, servername: NAME }),
      headers: { 'X-Forwarded-For': `203.0.113.${attempt++ % 200}` },
      body: { repohost_token: 'wrong' },
    })
  let rejected = 0
  for (let n = 0; n < 70; n++) if ((await guess('127.0.0.2')).status === 429) rejected++
  findings.expect('a caller who guesses is rejected, whatever address they claim', rejected >= 10, rejected)
  const stranger = await guess('127.0.0.3')
  findings.expect('and no one else is', stranger.status === 401, stranger)

  // Without asking, at most one for each.
  const mayFail = asks ? 0 : restarts
  await restartUnderLoad(findings, repohost, ask, instances, start, { restarts, mayFail })
  for (const { child, ended } of instances) {
    child.kill('SIGTERM')
    await ended
  }
  return findings
}

export const proxies: Fault = {
  name: 'proxies',
  needs: ['openssl'],
  play: async (scope, { rounds = RESTARTS }) => {
    const { url: databaseUrl, drop } = await createTestDatabase()
    scope.teardown(drop)
    const repohost = await startRepohost()
    scope.teardown(() => repohost.close())
    const found: Findings[] = []
    const details: string[] = []
    for (const name of Object.keys(examples)) {
      if (await isInstalled(name)) found.push(await tryOut(name, { scope, databaseUrl, repohost }, rounds))
      else details.push(`${name}: skipped, it is not installed`)
    }
    const sum = (of: 'requests' | 'failed') => found.reduce((total, findings) => total + findings[of], 0)
    return {
      did: `${rounds} restarts of 2 instances behind each of ${found.map(({ name }) => name).join(', ') || 'none'}`,
      requests: sum('requests'),
      failed: sum('failed'),
      longestMs: Math.max(0, ...found.map(({ longestMs }) => longestMs)),
      details: [...details, ...found.flatMap(({ details }) => details)],
      broken: found.flatMap(({ broken }) => broken),
    }
  },
}
