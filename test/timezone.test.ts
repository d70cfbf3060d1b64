import t from 'tap'
import { nextTimezone as clientNextTimezone } from '../client/src/timezone.js'
import { nextTimezone } from '../src/features/accounts/index.js'
import { eraseAccounts } from '../src/features/personal-data/delete-account.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays } from '../src/platform/time/days.js'
import { dayAt, isTimezone } from '../src/platform/time/zones.js'
import { type Caller, startService } from './service.js'

const FLUSH = '/api/team/active-minutes'
const ZONE = '/api/me/timezone'
const BEATS = '/api/wakatime/v1/users/current/heartbeats.bulk'

const service = await startService(t)
const beside = await startService(t, { beside: service })
const today = await readToday(service.database)
const yesterday = addDays(today, -1)

let people = 0
const newcomer = async () => {
  const caller = await service.signIn(`ada-${people++}`)
  const { id } = await service.workspace(caller)
  return { caller, id }
}

const zoneOf = async (caller: Caller) => {
  const { timezone, timezone_chosen } = (await caller.get('/api/me')).body
  return [timezone, timezone_chosen]
}

const choose = async (caller: Caller, timezone: string | null) => {
  const { status, body } = await caller.put(ZONE, { timezone })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}

/** What a client sends, with the time zone that it names. */
const clients: Record<string, (caller: Caller, timezone?: string) => Promise<void>> = {
  'a flush': async (caller, timezone) => {
    const entries = [{ repo: 'acme/api', day: yesterday, minutes: 1, hours: { 9: 1 } }]
    const { status, text } = await caller.post(FLUSH, { entries, ...(timezone && { timezone }) })
    if (status !== 200) throw new Error(text)
  },
  'a heartbeat': async (caller, timezone) => {
    const body = [{ time: Date.parse(`${yesterday}T09:00:00Z`) / 1_000, project: 'acme/api' }]
    const headers: Record<string, string> = timezone === undefined ? {} : { Timezone: timezone }
    const { status, text } = await caller.request('POST', BEATS, { body, headers })
    if (status !== 202) throw new Error(text)
  },
}

/** The local hours in which minutes were recorded. */
const hoursOf = async (caller: Caller, workspace: string): Promise<number[]> => {
  const query = `workspace=${workspace}&from=${addDays(yesterday, -1)}&to=${today}`
  const { body } = await caller.get(`/api/team/dashboard/mine?${query}`)
  return body.heatmap
    .filter(({ minutes }: { minutes: number }) => minutes > 0)
    .map(({ hour }: { hour: number }) => hour)
}

/** The tz database's names for UTC and GMT, and fixed offsets. */
const UTC_NAMES = [
  ...['UTC', 'utc', 'UCT', 'Universal', 'Zulu', 'GMT', 'GMT0', 'GMT+0', 'GMT-0', 'Greenwich'],
  ...['Etc/UTC', 'etc/utc', 'Etc/UCT', 'Etc/Universal', 'Etc/Zulu', 'Etc/GMT', 'Etc/GMT0', 'Etc/GMT+0'],
  ...['Etc/GMT-0', 'Etc/Greenwich', 'Etc/GMT+5', 'Etc/GMT-14'],
]

t.test('without a client, no time zone is known', async (t) => {
  const { caller } = await newcomer()
  t.strictSame(await zoneOf(caller), [null, false])
  t.strictSame(await choose(caller, null), { timezone: null, timezone_chosen: false })
  t.strictSame(await zoneOf(caller), [null, false])
})

for (const [name, send] of Object.entries(clients)) {
  t.test(`the last zone that ${name} names is the person’s, from that request on`, async (t) => {
    const { caller, id } = await newcomer()
    await send(caller, 'Asia/Kolkata')
    t.strictSame(await zoneOf(caller), ['Asia/Kolkata', false])
    t.strictSame(await hoursOf(caller, id), [14])
    await send(caller)
    t.strictSame(await zoneOf(caller), ['Asia/Kolkata', false])
    await send(caller, 'Europe/Kyiv')
    t.strictSame(await zoneOf(caller), ['Europe/Kyiv', false])
  })

  t.test(`${name} that names UTC sets the zone only if none is known`, async (t) => {
    const { caller, id } = await newcomer()
    await send(caller, 'Etc/UTC')
    t.strictSame(await zoneOf(caller), ['Etc/UTC', false])
    await send(caller, 'Australia/Brisbane')
    for (const utc of UTC_NAMES) {
      await send(caller, utc)
      t.strictSame(await zoneOf(caller), ['Australia/Brisbane', false], utc)
    }
    const { caller: other, id: workspace } = await newcomer()
    await choose(other, 'Australia/Brisbane')
    await choose(other, null)
    await send(other, 'UTC')
    t.strictSame(await hoursOf(other, workspace), [19], 'minutes are recorded in the person’s zone')
    t.ok((await hoursOf(caller, id)).length > 0)
  })

  t.test(`a chosen zone holds whatever ${name} names, until it’s given back`, async (t) => {
    const { caller, id } = await newcomer()
    t.strictSame(await choose(caller, 'Asia/Tokyo'), { timezone: 'Asia/Tokyo', timezone_chosen: true })
    for (const named of ['America/New_York', 'UTC', undefined]) {
      await send(caller, named)
      t.strictSame(await zoneOf(caller), ['Asia/Tokyo', true])
    }
    t.strictSame(await hoursOf(caller, id), [18])
    t.strictSame(await choose(caller, null), { timezone: 'Asia/Tokyo', timezone_chosen: false })
    await send(caller, 'UTC')
    t.strictSame(await zoneOf(caller), ['Asia/Tokyo', false])
    await send(caller, 'America/New_York')
    t.strictSame(await zoneOf(caller), ['America/New_York', false])
  })

  t.test(`recording hours are in the chosen zone, whatever ${name} names`, async (t) => {
    const { caller, id } = await newcomer()
    await choose(caller, 'Australia/Brisbane')
    const hours = { from: 19, to: 20, weekdays: [1, 2, 3, 4, 5, 6, 7] }
    await caller.put('/api/me/recording', { paused: false, repos_off: [], hours })
    await send(caller, 'UTC')
    t.strictSame(await hoursOf(caller, id), [19], '9:00 UTC is recorded')
    await caller.put('/api/me/recording', {
      paused: false,
      repos_off: [],
      hours: { ...hours, from: 9, to: 10 },
    })
    const { caller: other, id: workspace } = await newcomer()
    await choose(other, 'Australia/Brisbane')
    await other.put('/api/me/recording', {
      paused: false,
      repos_off: [],
      hours: { ...hours, from: 9, to: 10 },
    })
    await send(other, 'UTC')
    t.strictSame(await hoursOf(other, workspace), [], '9:00 in Brisbane is another hour')
  })
}

t.test('UTC can be chosen', async (t) => {
  const { caller } = await newcomer()
  await clients['a flush']?.(caller, 'Asia/Tokyo')
  for (const name of UTC_NAMES)
    t.strictSame(await choose(caller, name), { timezone: name, timezone_chosen: true })
})

t.test('an unknown time zone isn’t stored', async (t) => {
  const { caller } = await newcomer()
  await choose(caller, 'Asia/Tokyo')
  for (const timezone of ['Mars/Olympus', '', '+05:30', 'Etc/', '__proto__', 'constructor', 'a'.repeat(100)])
    t.hasStrict(
      await caller.put(ZONE, { timezone }),
      { status: 400, body: { code: 'invalid_timezone' } },
      timezone,
    )
  for (const body of [{}, { timezone: 5 }, { timezone: ['UTC'] }, { timezone: 'a'.repeat(101) }, [], null])
    t.hasStrict(await caller.put(ZONE, body), { status: 400, body: { code: 'validation_failed' } })
  t.strictSame(await zoneOf(caller), ['Asia/Tokyo', true])
})

t.test('another instance sees the choice at once', async (t) => {
  const { caller } = await newcomer()
  const there = await beside.request('PUT', ZONE, {
    body: { timezone: 'Asia/Tokyo' },
    headers: { Authorization: `Bearer ${caller.token}` },
  })
  t.equal(there.status, 200)
  await clients['a flush']?.(caller, 'Europe/Berlin')
  t.strictSame(await zoneOf(caller), ['Asia/Tokyo', true])
})

t.test('an editor’s access key chooses the zone, and one that only reads can’t', async (t) => {
  const { caller } = await newcomer()
  const put = async (scope: string) => {
    const { body } = await caller.post('/api/me/keys', { name: 'editor', scopes: [scope] })
    const headers = { Authorization: `Bearer ${body.secret}` }
    return service.request('PUT', ZONE, { body: { timezone: 'Asia/Tokyo' }, headers })
  }
  t.hasStrict(await put('activity:read'), { status: 403, body: { code: 'scope_missing' } })
  t.strictSame(await zoneOf(caller), [null, false])
  t.equal((await put('activity:write')).status, 200)
  t.strictSame(await zoneOf(caller), ['Asia/Tokyo', true])
})

t.test('a choice wins against flushes and heartbeats that arrive at the same time', async (t) => {
  const zones = ['Asia/Tokyo', 'Europe/Berlin', 'America/New_York', 'UTC']
  for (let round = 0; round < 5; round++) {
    const { caller } = await newcomer()
    await Promise.all([
      ...zones.flatMap((zone) => Object.values(clients).map((send) => send(caller, zone))),
      choose(caller, 'Asia/Kolkata'),
      ...zones.flatMap((zone) => Object.values(clients).map((send) => send(caller, zone))),
    ])
    t.strictSame(await zoneOf(caller), ['Asia/Kolkata', true])
  }
})

t.test('a container’s UTC never replaces a zone that is named at the same time', async (t) => {
  for (let round = 0; round < 5; round++) {
    const { caller } = await newcomer()
    const sends = Object.values(clients)
    await Promise.all(
      ['UTC', 'Asia/Tokyo', 'Etc/UTC'].flatMap((zone) => sends.map((send) => send(caller, zone))),
    )
    t.strictSame(await zoneOf(caller), ['Asia/Tokyo', false])
  }
})

t.test('the caller’s own dashboard ends on today in the chosen zone', async (t) => {
  const { caller, id } = await newcomer()
  for (const zone of ['Pacific/Kiritimati', 'Pacific/Niue']) {
    await choose(caller, zone)
    const before = dayAt(zone, Date.now())
    const { body } = await caller.get(`/api/team/dashboard/mine?workspace=${id}`)
    t.ok([before, dayAt(zone, Date.now())].includes(body.range.to), zone)
  }
})

t.test('a request that names another zone for reading changes nothing', async (t) => {
  const { caller } = await newcomer()
  await choose(caller, 'Asia/Tokyo')
  await choose(caller, null)
  await caller.get('/api/wakatime/v1/users/current/statusbar/today?timezone=Europe/Berlin')
  await caller.get('/api/wakatime/v1/users/current/statusbar/today', { Timezone: 'Europe/Berlin' })
  t.strictSame(await zoneOf(caller), ['Asia/Tokyo', false])
})

t.test('a flush without entries names a zone, and isn’t a person’s first activity', async (t) => {
  const { caller } = await newcomer()
  t.equal((await caller.post(FLUSH, { entries: [], timezone: 'Asia/Tokyo' })).status, 200)
  t.strictSame(await zoneOf(caller), ['Asia/Tokyo', false])
  const events = async () =>
    (await caller.get('/api/me/export')).body.funnel.map(({ event }: { event: string }) => event)
  t.notOk((await events()).includes('activity_flushed'))
})

t.test('the export says whether the zone was chosen, and an erasure removes it', async (t) => {
  const { caller } = await newcomer()
  await choose(caller, 'Asia/Tokyo')
  t.hasStrict((await caller.get('/api/me/export')).body.profile, {
    timezone: 'Asia/Tokyo',
    timezone_chosen: true,
  })
  const { id } = (await caller.get('/api/me')).body
  await caller.request('DELETE', '/api/me', { body: { confirm: caller.login } })
  await eraseAccounts(service.app.database)
  const [row] = await service.database.write.statement(
    'select timezone, timezone_chosen from users where id = $1',
    [id],
  )
  t.strictSame(row, { timezone: null, timezone_chosen: false })
  t.equal((await caller.put(ZONE, { timezone: 'Asia/Tokyo' })).status, 401)
})

t.test(
  'for service and client, every zone of the runtime replaces another, except for aliases of UTC',
  (t) => {
    const person = { timezone: 'Asia/Tokyo', timezoneChosen: false }
    for (const next of [nextTimezone, clientNextTimezone]) {
      for (const zone of Intl.supportedValuesOf('timeZone'))
        t.equal(next(person, zone), /^(Etc\/|UTC$)/.test(zone) ? 'Asia/Tokyo' : zone)
      for (const name of UTC_NAMES) {
        t.ok(isTimezone(name), name)
        t.equal(next(person, name), 'Asia/Tokyo')
        t.equal(next({ timezone: null, timezoneChosen: false }, name), name)
        t.equal(next({ timezone: 'Asia/Tokyo', timezoneChosen: true }, 'Europe/Rome'), 'Asia/Tokyo')
      }
    }
    t.end()
  },
)
