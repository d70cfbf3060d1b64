/** Large requests in a service that has little memory. */

import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import { deliveryShapes } from '../demo/host-deliveries.js'
import { limits } from '../schemas/limits.js'
import { readToday } from '../src/platform/time/clock.js'
import { freePort, launch, onDatabase, ready } from './process.js'
import { type Caller, type Service, startService, WEBHOOK_KEY } from './service.js'
import { createWebhook, type Webhook } from './webhooks.js'

const MEBIBYTE = 1_048_576

/** A second instance, with this much heap. V8 adds about 48 MB, and requests get 1.2 times the sum. */
const startSmall = async (test: Parameters<typeof launch>[0], service: Service, heapMebibytes: number) => {
  const small = await ready(
    launch(test, await freePort(), {
      ...onDatabase(service.databaseUrl),
      REPOHOST_URL: service.repohost.url,
      REPOHOST_API_URL: service.repohost.url,
      LOG_LEVEL: 'error',
      WEBHOOK_KEYS: WEBHOOK_KEY,
      NODE_OPTIONS: `--max-old-space-size=${heapMebibytes}`,
    }),
  )
  const send = async (caller: Caller, method: string, path: string, body?: string) => {
    const reply = await fetch(`${small.url}/api/team${path}`, {
      method,
      headers: { Authorization: `Bearer ${caller.token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body }),
    })
    return { status: reply.status, body: (await reply.json()) as { projects?: object } }
  }
  return { ...small, send }
}

/** Announces an upload of this many bytes, sends a part of it and then nothing. */
const begin = (url: string, { token }: Caller, declared: number, sent: number) => {
  const sending = request(`${url}/api/team/commits`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': declared,
      Authorization: `Bearer ${token}`,
    },
  })
  const status = new Promise<number>((resolve) => {
    sending.once('response', (response) => resolve(response.resume().statusCode ?? 0))
    sending.once('error', () => resolve(0))
  })
  sending.write(Buffer.alloc(sent, ' '))
  return { sending, status }
}

const peopleOf = async (service: Service, count: number) => {
  const people = await Promise.all(Array.from({ length: count }, (_, n) => service.signIn(`person-${n}`)))
  const teams = await Promise.all(people.map((person) => service.workspace(person)))
  return people.map((person, index) => ({ person, id: teams[index]?.id as string }))
}

const uploadOf = (workspace: string, day: string, bytes: number) =>
  JSON.stringify({
    workspace,
    day,
    members: [{ login: 'ada', repos: [{ repo: 'acme/web', count: 1 }] }],
  }).padEnd(bytes)

const overridesOf = (count: number, mark: string) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [
      `acme/repo-${n}`,
      { settings: { 'ext.a': mark.repeat(limits.settings_bytes - '{"ext.a":""}'.length) } },
    ]),
  )

const service = await startService(t)
const today = await readToday(service.database)
const small = await startSmall(t, service, 64)

t.test('announced body sizes don’t count, and slow senders don’t keep anyone from sending', async (t) => {
  const people = await peopleOf(service, 6)
  const slow = people.slice(0, 4).map(({ person }) => begin(small.url, person, 14 * MEBIBYTE, 300_000))
  for (const { person, id } of people.slice(4)) {
    const reply = await small.send(person, 'POST', '/commits', uploadOf(id, today, limits.counts_body_bytes))
    t.equal(reply.status, 200)
  }
  for (const { sending } of slow) sending.destroy()
})

t.test('who sends slowly gives way when others wait', async (t) => {
  const impatient = await startService(t, { beside: service, timeouts: { patience: 200 } })
  const people = await peopleOf(impatient, 4)
  const slow = people
    .slice(0, 3)
    .map(({ person }) => begin(impatient.url, person, 14 * MEBIBYTE, 2 * MEBIBYTE))
  const { person, id } = people[3] as (typeof people)[number]
  const reply = await person.post('/api/team/commits', JSON.parse(uploadOf(id, today, 0)))
  t.equal(reply.status, 200, 'a small one doesn’t wait')
  const send = () =>
    fetch(`${impatient.url}/api/team/commits`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${person.token}` },
      body: uploadOf(id, today, 2 * MEBIBYTE),
    })
  t.equal((await send()).status, 200)
  t.equal(await Promise.race(slow.map(({ status }) => status)), 408)
  for (const { sending } of slow) sending.destroy()
})

/** A signed delivery to the small instance. */
const deliver = async ({ path, secret }: Webhook, body: string, type: string) => {
  const headers = { 'Content-Type': type, ...deliveryShapes.github.headers('push', body, secret, 'x') }
  const reply = await fetch(small.url + path, { method: 'POST', body, headers })
  return { status: reply.status, code: ((await reply.json()) as { code: string }).code }
}

t.test('a delivery with any number of parts ends neither the process nor other requests', async (t) => {
  const [{ person, id }] = (await peopleOf(service, 1)) as [{ person: Caller; id: string }]
  const webhook = await createWebhook(service, person, id)
  const most = limits.webhook_body_bytes
  const form = 'application/x-www-form-urlencoded'
  const unreadable = { status: 400, code: 'invalid_json' }
  // The largest bodies have the most parts; a twentieth is enough for how each kind is read.
  for (const part of ['a&', '&'])
    t.same(await deliver(webhook, part.repeat(most / part.length), form), unreadable, part)
  for (const part of ['%&', 'p=&', 'payload%&', '=&'])
    t.same(await deliver(webhook, part.repeat(most / 20 / part.length), form), unreadable, part)
  t.same(await deliver(webhook, `payload=${'%41'.repeat(most / 3 - 8)}`, form), unreadable, '%41')
  for (const part of ['+', '%', '%4'])
    t.same(
      await deliver(webhook, `payload=${part.repeat(most / 20 / part.length - 8)}`, form),
      unreadable,
      part,
    )
  const json = '{"note":"x"}'
  const late = `${'a&'.repeat((most - 100) / 2)}payload=${encodeURIComponent(json)}`
  t.equal((await deliver(webhook, late, form)).status, 200, 'after many fields')
  t.equal((await fetch(`${small.url}/api/health`)).status, 200)
  t.equal(small.child.exitCode, null)
})

t.test('a response that its client doesn’t read doesn’t keep anyone from sending', async (t) => {
  const [eve, ada] = (await peopleOf(service, 2)) as [
    { person: Caller; id: string },
    { person: Caller; id: string },
  ]
  const body = JSON.stringify({ projects: overridesOf(48, 'x') })
  const sockets = Array.from({ length: 3 }, () => {
    const socket = connect(Number(new URL(small.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `PUT /api/team/workspaces/${eve.id}/configuration?dry_run=true HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${eve.person.token}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
    )
    socket.write(body)
    return socket
  })
  await Promise.race(
    sockets.map((socket) => new Promise((resolve) => socket.once('readable', () => resolve(socket.read(1))))),
  )
  for (let time = 0; time < 2; time++) {
    const reply = await small.send(
      ada.person,
      'POST',
      '/commits',
      uploadOf(ada.id, today, limits.counts_body_bytes),
    )
    t.equal(reply.status, 200)
  }
  for (const socket of sockets) socket.destroy()
})

t.test('a full configuration can be read, changed and replaced in a small container’s memory', async (t) => {
  // Node gives half of a container of 512 MiB to the heap.
  const small = await startSmall(t, service, 256)
  const [{ person, id }] = (await peopleOf(service, 1)) as [{ person: Caller; id: string }]
  const path = `/workspaces/${id}/configuration`
  const change = async (body: object) => (await small.send(person, 'PUT', path, JSON.stringify(body))).status
  await service.database.write.statement(
    `insert into overrides (owner_key, repo_key, workspace_id, revision, owner, repo, settings, updated_by)
     select 'acme', 'repo-' || n, $1::uuid, gen_random_uuid(), 'acme', 'repo-' || n,
       '{"ext.a":"' || repeat('c', 250000) || '"}', (select id from users limit 1) from generate_series(1, 80) n`,
    [id],
  )
  t.equal(Object.keys((await small.send(person, 'GET', path)).body.projects ?? {}).length, 80)
  t.equal(await change({ idle_window_minutes: 8 }), 200, '20 MB from before its limit can be changed')
  t.equal(await change({ projects: overridesOf(64, 'd') }), 200, 'and replaced by less')
  const [, peak] =
    (await readFile(`/proc/${small.child.pid}/status`, 'utf8')).match(/VmHWM:\s+([0-9]+)/) ?? []
  if (process.platform === 'linux') t.ok(Number(peak) / 1_024 < 480, `${Number(peak) / 1_024} MiB`)
})

t.test('a large body that arrives too slowly is cut off, and an ordinary one may take longer', async (t) => {
  const shortTimeouts = await startService(t, {
    beside: service,
    timeouts: { slow: 100, request: 60_000, check: 20, uploadRate: 1_000_000_000, linger: 100 },
  })
  const person = await shortTimeouts.signIn('ada')
  // Bodies of people who can't upload anywhere aren't read.
  await shortTimeouts.workspace(person)
  const large = begin(shortTimeouts.url, person, 14 * MEBIBYTE, 300_000)
  const ordinary = begin(shortTimeouts.url, person, 1_000, 10)
  t.equal(await large.status, 408)
  ordinary.sending.end(Buffer.alloc(990, ' '))
  t.equal(await ordinary.status, 400)
})
