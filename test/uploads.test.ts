/** Hostile uploads of counts beside those of others. */
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import t from 'tap'
import { readToday } from '../src/platform/time/clock.js'
import { freePort, launch, onDatabase, ready } from './process.js'
import { type Service, type ServiceOptions, startService } from './service.js'
import { until } from './until.js'

const COMMITS = '/api/team/commits'
const BYTES = 24 * 1_048_576 - 1_000

const start = async (test: Parameters<typeof startService>[0], options: ServiceOptions = {}) => {
  const service = await startService(test, options)
  const [ada, eve] = await service.signInAll('ada', 'eve')
  const { id } = await service.workspace(ada)
  // Eve may upload, too, or no body of hers would be read.
  const { id: ofEve } = await service.workspace(eve)
  const today = await readToday(service.database)
  return { service, ada, eve, id, ofEve, today }
}

/** Counts of members who don't exist, 100 repositories each. */
const upload = (workspace: string, day: string, members: number) => ({
  workspace,
  day,
  members: Array.from({ length: members }, (_, member) => ({
    login: `stranger-${member}`,
    repos: Array.from({ length: 100 }, (_, repo) => ({ repo: `acme/repo-${repo}`, count: 1 })),
  })),
})
/** Larger than 1 MiB. */
const LARGE = 400

const fill = (item: string, bytes = BYTES) => item.repeat(Math.floor(bytes / item.length))
const hostile: Record<string, (workspace: string) => string> = {
  'empty objects': () => `{"members":[${fill('{},')}{}]}`,
  'numbers with exponents': () => `{"members":[${fill('1e5,')}1]}`,
  '900,000 keys': () => `{${Array.from({ length: 900_000 }, (_, n) => `"key-${n}":1`).join()}}`,
  '270,000 keys': () => `{${Array.from({ length: 270_000 }, (_, n) => `"key-${n}":1`).join()}}`,
  'deep nesting': () => fill('['),
  'one long number': () => `{"members":${fill('7')}}`,
  'one long string': () => `{"members":"${fill('a')}"}`,
  'one long key': (workspace) =>
    `{"workspace":"${workspace}","day":"2026-01-01","members":[],"${fill('k')}":1}`,
}

/** The highest memory of a process in MiB. Undefined if the system doesn't report it. */
const peakMemory = async (pid: number | undefined): Promise<number | undefined> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const [, kibibytes] = status.match(/VmHWM:\s+([0-9]+)/) ?? []
  return kibibytes === undefined ? undefined : Number(kibibytes) / 1_024
}

/** What Node takes in a container of 512 MiB. With more, garbage may wait while the machine is busy. */
const HEAP = '--max-old-space-size=256'

t.test('invalid uploads stop nothing, block no one and leave no memory behind', async (t) => {
  const { service, ada, eve, id, ofEve, today } = await start(t)
  const env = {
    ...onDatabase(service.databaseUrl),
    RATE_LIMITS: 'on',
    LOG_LEVEL: 'fatal',
    NODE_OPTIONS: HEAP,
  }
  const { url, child } = await ready(launch(t, await freePort(), env))
  const send = (token: string, body: string | Uint8Array<ArrayBuffer>) =>
    fetch(url + COMMITS, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body,
    })
  const [small, large] = [1, LARGE].map((members) => JSON.stringify(upload(id, today, members))) as [
    string,
    string,
  ]
  await send(ada.token, large)
  for (const [name, body] of Object.entries(hostile)) {
    const text = Buffer.from(body(ofEve))
    const attack = Promise.all([send(eve.token, text), send(eve.token, text)])
    const others = await Promise.all([
      fetch(`${url}/api/health`),
      send(ada.token, small),
      send(ada.token, large),
    ])
    for (const { status } of others) t.equal(status, 200, name)
    for (const reply of await attack) {
      const { code, errors } = (await reply.json()) as { code: string; errors?: { path: string }[] }
      t.match(code, /^(validation_failed|invalid_json|payload_too_large|rate_limited)$/, name)
      t.ok(JSON.stringify(errors ?? '').length < 2_000, 'and says so in few words')
    }
  }
  t.match(child, { exitCode: null, signalCode: null })
  const peak = await peakMemory(child.pid)
  if (process.platform === 'linux') t.ok(peak !== undefined && peak < 450, `${peak} MiB`)
})

t.test('the largest valid body is accepted, whatever its logins are', async (t) => {
  const { service, ada, id, today } = await start(t)
  const body = {
    workspace: id,
    day: today,
    members: Array.from({ length: 500 }, (_, member) => ({
      login: `${member}`.padStart(100, ',:[{'),
      repos: Array.from({ length: 200 }, (_, repo) => ({
        repo: `acme/${`${repo}`.padStart(60, 'x')}`,
        count: 10_000,
      })),
    })),
  }
  const reply = await ada.post(COMMITS, body)
  t.equal(reply.status, 200)
  t.equal(reply.body.skipped.length, 500)
  t.equal(service.logs.filter((line) => line.includes('"level":50')).length, 0)
})

/** Begins an upload and keeps the rest of it back. */
const begin = (service: Service, token: string, text: string) => {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` }
  const sending = request(service.url + COMMITS, { method: 'POST', headers })
  const response = new Promise<number>((resolve, reject) => {
    sending.once('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sending.once('error', reject)
  })
  response.catch(() => {})
  sending.write(text.slice(0, -1))
  return { finish: () => sending.end(text.slice(-1)), hangUp: () => sending.destroy(), answer: response }
}

/** Begins an upload and waits until it has its sender's only slot, so that no later request can take it first. */
const hold = async (service: Service, ...upload: [token: string, text: string]) => {
  const { app } = service
  const { acquirePermit } = app.rateLimits
  const taken = new Promise<void>((resolve) => {
    app.rateLimits.acquirePermit = async (...call) => {
      const release = await acquirePermit(...call)
      if (call[1] === 'large_uploads') resolve()
      return release
    }
  })
  const begun = begin(service, ...upload)
  await taken
  app.rateLimits.acquirePermit = acquirePermit
  return begun
}

t.test('a caller sends one large body at a time without delaying others', async (t) => {
  // The first body stays under way for as long as the test takes.
  const timeouts = { slow: 300_000, upload: 300_000 }
  const { service, ada, eve, id, ofEve, today } = await start(t, { env: { RATE_LIMITS: 'on' }, timeouts })
  const large = upload(id, today, LARGE)
  const slow = await hold(service, ada.token, JSON.stringify(large))
  const second = await ada.post(COMMITS, large)
  const [others, small] = await Promise.all([
    eve.post(COMMITS, upload(ofEve, today, LARGE)),
    ada.post(COMMITS, upload(id, today, 1)),
  ])
  t.equal(second.status, 429)
  t.equal(second.body.code, 'rate_limited')
  t.ok(Number(second.headers.get('retry-after')) > 0)
  t.equal(others.status, 200)
  t.equal(small.status, 200)
  const waiting = ada.post(COMMITS, large)
  slow.finish()
  t.equal(await slow.answer, 200)
  t.equal((await waiting).status, 200)

  const left = await hold(service, ada.token, JSON.stringify(large))
  left.hangUp()
  const isFree = async () => (await ada.post(COMMITS, large)).status === 200
  await until(isFree, 'a caller who hangs up releases the permit')
  t.equal(service.logs.filter((line) => line.includes('"level":50')).length, 0)
})
