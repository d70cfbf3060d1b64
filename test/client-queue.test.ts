import { randomUUID } from 'node:crypto'
import { readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import fakeIndexedDb from 'fake-indexeddb'
import t from 'tap'
import {
  createClient,
  createFlushQueue,
  type FlushQueueOptions,
  type FlushStorage,
  type Leases,
  memoryStorage,
  type QueueState,
} from '../client/src/index.js'
import { folderStorage } from '../client/src/node.js'
import { bundle, load } from './bundle.js'
import { hasProperties } from './has-properties.js'
import { temporaryFolder } from './process.js'
import { playQueue } from './queue-faults.js'
import { until } from './until.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NINE = Date.UTC(2026, 10, 20, 9)

interface Entry {
  repo: string
  day: string
  minutes: number
  hours: Record<string, number>
}
type Note = { index: number; status: string; code: string }

const reply = (status: number, body: object, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers })
const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  reply(status, { status, code, detail: 'What to do.' }, headers)
const counted = (notes: Note[] = []) =>
  reply(200, { accepted: 1, capped: 0, ignored: 0, duplicate: false, notes })
const ALWAYS = { paused: false, repos_off: [] as string[], hours: null as object | null }

/** A queue whose service gives these responses in turn, and then accepts every flush. */
const start = (
  t: { teardown(work: () => unknown): void },
  flushes: (Response | Error)[] = [],
  options: Partial<FlushQueueOptions> = {},
) => {
  const sent: string[] = []
  const states: QueueState[] = []
  const world = {
    now: NINE + 5 * MINUTE,
    asked: 0,
    recording: ALWAYS as object | undefined,
    me: {} as object | undefined,
  }
  let wakes: { at: number; work: () => void }[] = []
  const client = createClient({
    baseUrl: 'https://settings.example.com',
    token: 'first',
    fetch: async (input, init) => {
      if (String(input).endsWith('/api/me/recording')) {
        world.asked++
        return world.recording === undefined ? problem(404, 'route_not_found') : reply(200, world.recording)
      }
      if (String(input).endsWith('/api/me'))
        return world.me === undefined ? problem(403, 'scope_missing') : reply(200, world.me)
      sent.push(String(init?.body))
      const response = flushes.shift() ?? counted()
      if (response instanceof Error) throw response
      return response
    },
  })
  const storage = options.storage ?? memoryStorage()
  const queue = createFlushQueue({
    client,
    storage,
    timezone: 'UTC',
    onState: (state) => states.push(state),
    clock: {
      now: () => world.now,
      after(ms, work) {
        const wake = { at: world.now + ms, work }
        wakes.push(wake)
        return () => {
          wakes = wakes.filter((other) => other !== wake)
        }
      },
    },
    ...options,
  })
  t.teardown(() => queue.dispose())
  /** Lets time pass until the queue is done. */
  const pass = async (ms: number) => {
    for (const end = world.now + ms; ; ) {
      while (wakes.length === 0) await immediate()
      const [wake] = wakes
      if (wake === undefined || wake.at > end) {
        world.now = end
        return
      }
      world.now = wake.at
      wakes = []
      wake.work()
    }
  }
  const entries = (index = sent.length - 1): Entry[] => JSON.parse(sent[index] ?? '{}').entries
  const reports = () => states.flatMap(({ report }) => report ?? [])
  return { queue, client, storage, sent, states, world, pass, entries, reports }
}

const LOST = new TypeError('fetch failed')

t.test('minutes are merged by repository, UTC day and hour', async (t) => {
  const { queue, entries, sent } = start(t)
  for (const [repo, at, minutes] of [
    ['acme/api', NINE, 1],
    ['Acme/API', NINE + 59 * MINUTE, 2],
    ['acme/api', NINE + HOUR, 4],
    ['acme/web', new Date(NINE), 8],
    ['acme/api', NINE + 24 * HOUR, 16],
    ['acme/web', NINE, 60],
  ] as const) {
    await queue.add(repo, at, minutes)
  }
  t.match(await queue.pending(), { minutes: 1 + 2 + 4 + 60 + 16, batches: 0, refused: 0 })
  await queue.flush()
  t.same(entries(), [
    { repo: 'acme/api', day: '2026-11-20', minutes: 7, hours: { 9: 3, 10: 4 } },
    { repo: 'acme/web', day: '2026-11-20', minutes: 60, hours: { 9: 60 } },
    { repo: 'acme/api', day: '2026-11-21', minutes: 16, hours: { 9: 16 } },
  ])
  hasProperties(t, JSON.parse(sent[0] ?? ''), { timezone: 'UTC', flush_id: /^[\w-]{1,64}$/ })
  t.same(await queue.pending(), { minutes: 0, batches: 0, refused: 0 })
})

t.test('minutes are sent with the time zone in which they were added', async (t) => {
  const { storage, queue } = start(t, [LOST], { timezone: undefined })
  const { resolvedOptions } = Intl.DateTimeFormat.prototype
  t.teardown(() => {
    Intl.DateTimeFormat.prototype.resolvedOptions = resolvedOptions
  })
  const travelTo = (timeZone: string) => {
    Intl.DateTimeFormat.prototype.resolvedOptions = function () {
      return { ...resolvedOptions.call(this), timeZone }
    }
  }
  travelTo('Europe/Kyiv')
  await queue.add('acme/api', NINE, 1)
  await queue.add('acme/api', NINE, 2)
  travelTo('Asia/Tokyo')
  await queue.add('acme/api', NINE, 4)
  await queue.flush()
  await queue.add('acme/api', NINE, 8)
  travelTo('America/New_York')
  await queue.dispose()

  const next = start(t, [], { storage })
  await next.queue.flush()
  const sent = next.sent.map((body) => JSON.parse(body))
  t.strictSame(
    sent.map(({ timezone, entries }) => [timezone, entries.map(({ minutes }: Entry) => minutes)]),
    [
      ['Europe/Kyiv', [3]],
      ['Asia/Tokyo', [4]],
      ['Asia/Tokyo', [8]],
    ],
  )
})

t.test('entries that no flush can contain are rejected when they’re added', async (t) => {
  const { queue } = start(t)
  for (const repo of [
    'acme',
    'acme/',
    '/api',
    'acme/..',
    './api',
    'acme//api',
    'acme/ä',
    `acme/${'x'.repeat(101)}`,
  ]) {
    await t.rejects(queue.add(repo, NINE, 1), TypeError, repo)
  }
  for (const minutes of [0, -1, 1.5, 61, Number.NaN])
    await t.rejects(queue.add('acme/api', NINE, minutes), RangeError)
  for (const at of [Number.NaN, -1, 1e15]) await t.rejects(queue.add('acme/api', at, 1), RangeError)
  t.match(await queue.pending(), { minutes: 0 })
})

t.test('a batch has at most 200 entries and is sent ten minutes after its first entry', async (t) => {
  const { queue, pass, sent, entries } = start(t)
  for (let index = 0; index < 201; index++) await queue.add(`acme/repo-${index}`, NINE, 1)
  await pass(9 * MINUTE)
  t.equal(sent.length, 1, 'the full one does not wait')
  await pass(3 * MINUTE)
  t.same([entries(0).length, entries(1).length], [200, 1])
})

t.test('a retry sends the same bytes, whatever was added in the meantime', async (t) => {
  const { queue, sent } = start(t, [
    LOST,
    problem(500, 'internal_error'),
    reply(200, { welcome: 'to this network' }),
  ])
  await queue.add('acme/api', NINE, 1)
  for (let attempt = 0; attempt < 3; attempt++) {
    await queue.flush()
    t.match(await queue.pending(), { batches: 1 }, 'kept until the service itself has taken it')
  }
  await queue.add('acme/api', NINE, 1)
  await queue.flush()
  t.equal(sent.length, 5)
  t.equal(new Set(sent.slice(0, 4)).size, 1)
  t.not(JSON.parse(sent[4] ?? '').flush_id, JSON.parse(sent[0] ?? '').flush_id)
})

t.test('batches that the service never accepts are set aside, and sending continues', async (t) => {
  const { queue, reports, sent } = start(t, [
    LOST,
    LOST,
    problem(400, 'validation_failed'),
    problem(409, 'flush_id_reused'),
    problem(413, 'payload_too_large'),
  ])
  for (const repo of ['acme/a', 'acme/b', 'acme/c', 'acme/d']) {
    await queue.add(repo, NINE, 1)
    await queue.flush()
  }
  t.same(await queue.pending(), { minutes: 0, batches: 0, refused: 3 })
  t.equal(sent.length, 6)
  hasProperties(t, reports(), [
    { kind: 'refused', code: 'validation_failed', entries: [{ repo: 'acme/a' }] },
    { kind: 'refused', code: 'flush_id_reused', entries: [{ repo: 'acme/b' }] },
    { kind: 'refused', code: 'payload_too_large', entries: [{ repo: 'acme/c' }] },
  ])
  const proxy = start(t, [new Response('<html>', { status: 400 })])
  await proxy.queue.add('acme/a', NINE, 1)
  await proxy.queue.flush()
  t.match(await proxy.queue.pending(), { batches: 1, refused: 0 }, 'unless another server has answered')
})

t.test('after a 401, the queue waits for another token', async (t) => {
  const { queue, client, pass, sent, states } = start(t, [problem(401, 'token_expired')])
  await queue.add('acme/api', NINE, 1)
  await queue.flush()
  await pass(2 * HOUR)
  t.equal(sent.length, 1)
  t.equal(states.at(-1)?.status, 'signed_out')
  client.setToken('second')
  await pass(2 * MINUTE)
  t.equal(sent.length, 2)
  t.equal(states.at(-1)?.status, 'ready')
})

t.test('Retry-After is respected, even by an explicit flush', async (t) => {
  for (const status of [429, 503]) {
    const { queue, pass, sent, states } = start(t, [problem(status, 'later', { 'Retry-After': '1800' })])
    await queue.add('acme/api', NINE, 1)
    await queue.flush()
    t.equal(states.at(-1)?.status, 'waiting')
    await queue.flush()
    await pass(29 * MINUTE)
    t.equal(sent.length, 1)
    await pass(2 * MINUTE)
    t.equal(sent.length, 2)
  }
})

t.test('any other failure is retried with growing delays of at most 15 minutes', async (t) => {
  const { queue, pass, sent } = start(
    t,
    Array.from({ length: 1_000 }, () => LOST),
  )
  await queue.add('acme/api', NINE, 1)
  await queue.flush()
  await pass(MINUTE)
  t.ok(sent.length >= 4 && sent.length <= 8, `${sent.length} in the first minute`)
  await pass(2 * HOUR)
  const before = sent.length
  await pass(4 * HOUR)
  t.ok(sent.length - before >= 16 && sent.length - before <= 34, `${sent.length - before} in four hours`)
})

t.test('a clock that is set back doesn’t stop the queue', async (t) => {
  const { queue, world, pass, sent } = start(t, [problem(503, 'unavailable', { 'Retry-After': '600' })])
  await queue.add('acme/api', NINE, 1)
  await queue.flush()
  world.now -= 24 * HOUR
  await queue.flush()
  t.equal(sent.length, 2)
  await queue.add('acme/api', NINE, 1)
  world.now += 48 * HOUR
  await pass(0)
  t.equal(sent.length, 3)
})

t.test('entries that didn’t count in full are reported', async (t) => {
  const note = { index: 1, status: 'ignored', code: 'day_out_of_window' }
  const { queue, reports } = start(t, [counted([note])])
  await queue.add('acme/api', NINE, 1)
  await queue.add('acme/api', NINE - 40 * 24 * HOUR, 2)
  await queue.flush()
  hasProperties(t, reports(), [
    {
      kind: 'not_counted',
      entries: [{ repo: 'acme/api', day: '2026-10-11', minutes: 2, code: 'day_out_of_window' }],
    },
  ])
})

t.test('a time zone that the service doesn’t know loses no minutes', async (t) => {
  const { queue, sent } = start(t, [problem(400, 'invalid_timezone')], { timezone: 'Mars/Olympus' })
  await queue.add('acme/api', NINE, 1)
  await queue.flush()
  t.same(
    sent.map((body) => JSON.parse(body).timezone),
    ['Mars/Olympus', undefined],
  )
  t.same(await queue.pending(), { minutes: 0, batches: 0, refused: 0 })
})

t.test('minutes that a person has turned off aren’t stored', async (t) => {
  const storage = memoryStorage()
  const { queue, world, pass, sent, entries, states } = start(t, [], { storage, timezone: 'Europe/Berlin' })
  await pass(0)
  t.equal(world.asked, 1)
  world.recording = { ...ALWAYS, paused: true }
  await queue.add('acme/api', NINE, 1)
  await pass(59 * MINUTE)
  t.equal(world.asked, 1)
  await queue.add('acme/api', NINE, 1)
  await pass(2 * MINUTE)
  t.equal(world.asked, 2, 'it asks once an hour')
  t.equal(states.at(-1)?.status, 'recording_off')
  const before = sent.length
  await queue.add('acme/api', NINE, 1)
  await queue.flush()
  t.equal(sent.length, before)
  t.equal((await storage.list()).filter(({ state }) => state === 'open').length, 0)

  world.recording = {
    paused: false,
    repos_off: ['acme/secret-*', 'acme/*-x-*y', 'Own/Diary'],
    hours: { from: 10, to: 12, weekdays: [5] },
  }
  await pass(61 * MINUTE)
  const again = sent.length
  for (const repo of ['acme/secret-1', 'ACME/Secret-', 'acme/a-x-b-y', 'own/diary'])
    await queue.add(repo, NINE, 1)
  for (const repo of ['acme/secret', 'acme/a-x-b', 'own/diary2']) await queue.add(repo, NINE, 1)
  // A Friday. 9:00 UTC is 10:00 in Berlin.
  for (const hours of [-1, 2, 24]) await queue.add('acme/late', NINE + hours * HOUR, 1)
  await queue.add('acme/late', NINE + HOUR, 1)
  await queue.flush()
  t.equal(sent.length, again + 1)
  t.same(
    entries().map(({ repo }) => repo),
    ['acme/secret', 'acme/a-x-b', 'own/diary2', 'acme/late'],
  )
})

t.test('recording hours that run past midnight belong to the weekday on which they began', async (t) => {
  const { queue, world, entries } = start(t)
  world.recording = { ...ALWAYS, hours: { from: 22, to: 2, weekdays: [5] } }
  await queue.flush()
  // From Thursday's midnight: Friday at 1, 21, 22 and 23, Saturday at 1, 2 and 22.
  for (const hour of [1, 21, 22, 23, 25, 26, 46]) await queue.add('acme/api', NINE + (hour - 9) * HOUR, 1)
  await queue.flush()
  hasProperties(t, entries(), [
    { day: '2026-11-20', hours: { 22: 1, 23: 1 } },
    { day: '2026-11-21', hours: { 1: 1 }, minutes: 1 },
  ])
})

t.test('recording hours are in the person’s time zone, not in that of a container', async (t) => {
  const hours = { from: 9, to: 17, weekdays: [1, 2, 3, 4, 5] }
  for (const [timezone_chosen, machine, kept] of [
    [false, 'UTC', [8]],
    [true, 'America/New_York', [8]],
    // The last one that a client named.
    [false, 'America/New_York', [16]],
  ] as const) {
    const { queue, world, entries } = start(t, [], { timezone: machine })
    world.recording = { ...ALWAYS, hours }
    world.me = { timezone: 'Australia/Perth', timezone_chosen }
    await queue.flush()
    // A Friday, in Perth at 16, 17 and 0, in New York at 3, 4 and 11.
    for (const hour of [8, 9, 16]) await queue.add('acme/api', NINE + (hour - 9) * HOUR, 1)
    await queue.flush()
    t.same(
      entries().flatMap(({ hours }) => Object.keys(hours).map(Number)),
      kept,
      `${machine}, chosen: ${timezone_chosen}`,
    )
  }
})

t.test('a key that may not read the time zone leaves recording hours to the service', async (t) => {
  const { queue, world, entries } = start(t)
  world.recording = { ...ALWAYS, repos_off: ['acme/secret'], hours: { from: 9, to: 10, weekdays: [1] } }
  world.me = undefined
  await queue.flush()
  for (const repo of ['acme/api', 'acme/secret']) await queue.add(repo, NINE, 1)
  await queue.flush()
  t.same(
    entries().map(({ repo }) => repo),
    ['acme/api'],
  )
})

t.test('minutes wait until the preferences are known, and are dropped if turned off', async (t) => {
  const { queue, world, sent, entries } = start(t)
  world.recording = { ...ALWAYS, repos_off: ['acme/secret'] }
  await Promise.all([queue.add('acme/secret', NINE, 1), queue.add('acme/api', NINE, 1)])
  await queue.flush()
  t.same(
    entries().map(({ repo }) => repo),
    ['acme/api'],
  )
  const older = start(t)
  older.world.recording = undefined
  await older.queue.add('acme/api', NINE, 1)
  await older.queue.flush()
  t.equal(older.sent.length, 1, 'a service that knows nothing of this is no reason to wait')
  t.equal(sent.length, 1)
})

t.test('a pause adds and sends nothing, and keeps stored minutes', async (t) => {
  const { queue, pass, sent, entries, states } = start(t)
  await queue.add('acme/api', NINE, 1)
  queue.pause()
  t.equal(states.at(-1)?.status, 'paused')
  await queue.add('acme/api', NINE, 2)
  await queue.flush()
  await pass(HOUR)
  t.equal(sent.length, 0)
  queue.resume()
  await queue.flush()
  hasProperties(t, entries(), [{ minutes: 1 }])
})

t.test('the next queue sends batches that the previous one stored', async (t) => {
  const storage = folderStorage(await temporaryFolder(t))
  const first = start(t, [], { storage })
  await first.queue.add('acme/api', NINE, 3)
  // An editor that closes waits for the end of the queue, and for no minute before it.
  const last = first.queue.add('acme/api', NINE, 1)
  await first.queue.dispose()
  await last
  await first.queue.add('acme/api', NINE, 5)
  const second = start(t, [], { storage })
  await second.queue.flush()
  hasProperties(t, second.entries(), [{ repo: 'acme/api', minutes: 4 }])
})

t.test('a flush also sends batches stored by other windows, open or closed', async (t) => {
  const folder = await temporaryFolder(t)
  const other = start(t, [], { storage: folderStorage(folder) })
  await other.queue.add('acme/api', NINE, 3)
  const here = start(t, [], { storage: folderStorage(folder) })
  await here.queue.flush()
  t.equal(here.sent.length, 1)
  hasProperties(t, here.entries(), [{ repo: 'acme/api', minutes: 3 }])
  t.hasStrict(await other.queue.pending(), { batches: 0, refused: 0 })

  await other.queue.add('acme/api', NINE, 1)
  t.same(await other.queue.pending(), { minutes: 1, batches: 0, refused: 0 })
  await other.queue.flush()
  t.equal(other.sent.length, 1)
  hasProperties(t, other.entries(), [{ repo: 'acme/api', minutes: 1 }])
  await here.queue.flush()
  t.equal(here.sent.length, 1)
})

const { indexedDbStorage } = await load(t, await bundle('client/src/browser.ts'))
/** A storage and another view of the same batches, as a second window has it. */
const storages: Record<
  string,
  (t: Parameters<typeof temporaryFolder>[0]) => Promise<(leases?: Leases) => FlushStorage>
> = {
  'a folder': async (t) => {
    const folder = await temporaryFolder(t)
    return (leases) => folderStorage(folder, leases)
  },
  IndexedDB: async () => {
    const name = randomUUID()
    return (leases) => indexedDbStorage(name, leases, fakeIndexedDb)
  },
}

for (const [name, prepare] of Object.entries(storages)) {
  t.test(`${name}: a sealed batch never changes, and a client that was overtaken notices`, async (t) => {
    const open = await prepare(t)
    const [one, two] = [open(), open()]
    await one.create('1', 'a')
    t.equal(await one.update('1', 'b'), true)
    t.equal(await two.claim(), undefined, 'an open batch belongs to its owner')
    await one.seal('1')
    t.equal(await one.update('1', 'c'), false)
    t.hasStrict(await two.claim(), { id: '1', body: 'b' })
    t.equal(await one.claim(), undefined, 'a claimed batch can’t be claimed again')
    t.equal(await one.update('1', 'c'), false)
    await one.seal('1')
    t.same(await one.list(), [{ id: '1', state: 'claimed' }])
  })

  t.test(`${name}: the oldest batch comes first, and a released batch can be claimed again`, async (t) => {
    const storage = (await prepare(t))()
    for (const id of ['2', '1', '3']) {
      await storage.create(id, id)
      await storage.seal(id)
    }
    const first = await storage.claim()
    t.equal(first?.id, '1')
    const second = await storage.claim()
    if (first === undefined || second === undefined) throw new Error('There are two.')
    await storage.release(first)
    await storage.remove(second)
    t.equal((await storage.claim())?.id, '1')
    t.same(
      (await storage.list()).map(({ id, state }) => `${id} ${state}`),
      ['1 claimed', '3 sealed'],
    )
  })

  t.test(`${name}: a dead or sleeping queue’s batches are taken over, and it can’t interfere`, async (t) => {
    const open = await prepare(t)
    const [sleeper, other] = [open(), open({ open: -1, claim: -1 })]
    await sleeper.create('1', 'a')
    const taken = await other.claim()
    t.hasStrict(taken, { id: '1', body: 'a' })
    t.equal(await sleeper.update('1', 'a and more'), false)
    await sleeper.seal('1')
    await until(async () => Date.now() > (taken?.claimedAt ?? 0), 'another millisecond')
    const again = await other.claim()
    t.hasStrict(again, { id: '1', body: 'a' }, 'an old claim passes on')
    if (taken === undefined || again === undefined) throw new Error('Both were there.')
    for (const end of [sleeper.release, sleeper.refuse, sleeper.remove]) await end(taken)
    t.same(await other.list(), [{ id: '1', state: 'claimed' }])
    await other.remove(again)
    t.same(await other.list(), [])
    t.equal(await sleeper.update('1', 'b'), false, 'and no batch comes back')
    t.same(await other.list(), [])
  })

  t.test(`${name}: the last hundred rejected batches are kept`, async (t) => {
    const storage = (await prepare(t))()
    for (let id = 100; id < 203; id++) {
      await storage.create(`${id}`, 'x')
      await storage.seal(`${id}`)
      const batch = await storage.claim()
      if (batch !== undefined) await storage.refuse(batch)
    }
    const kept = await storage.list()
    t.equal(kept.length, 100)
    t.hasStrict(kept[0], { id: '103', state: 'refused' })
  })
}

t.test('a process’s unfinished files are deleted after a day', async (t) => {
  const folder = await temporaryFolder(t)
  const storage = folderStorage(folder)
  await storage.create('1', 'a')
  await storage.seal('1')
  const batch = await storage.claim()
  if (batch !== undefined) await storage.release(batch)
  await folderStorage(join(folder, '2~')).create('x', 'x')
  await storage.claim()
  await storage.claim()
  t.ok((await readdir(folder)).includes('2~'), 'the batch may still be incomplete')
  const yesterday = new Date(Date.now() - 25 * HOUR)
  await utimes(join(folder, '2~'), yesterday, yesterday)
  await storage.claim()
  t.notOk((await readdir(folder)).includes('2~'))
})

t.test('minutes count exactly once with three unreliable windows on an unreliable network', async (t) => {
  const { wrong, reports, figures } = await playQueue(t, {
    windows: 3,
    minutes: 60,
    restMs: 700,
    killsPerWindow: 2,
  })
  t.same(wrong, [])
  t.same(reports, [])
  t.ok(figures.kept > 30 && figures.counted >= figures.kept, JSON.stringify(figures))
  t.ok(figures.request + figures.connection + figures.answer > 0)
})
