import fc from 'fast-check'
import t from 'tap'
import { recordedHoursOf, recordedPart } from '../src/features/recording/recorded-hours.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays, weekdayOf } from '../src/platform/time/days.js'
import { hasProperties } from './has-properties.js'
import { type Caller, startService } from './service.js'

const RECORDING = '/api/me/recording'
const MINUTES = '/api/team/active-minutes'
const everything = { paused: false, repos_off: [], hours: null }
const allWeek = [1, 2, 3, 4, 5, 6, 7]

const service = await startService(t)
const beside = await startService(t, { beside: service })
const today = await readToday(service.database)

let people = 0
/** A person with a workspace for `acme/*`. */
const newcomer = async () => {
  const ada = await service.signIn(`ada-${people++}`)
  const { id } = await service.workspace(ada)
  return { ada, id }
}

const choose = async (caller: Caller, choice: object) => {
  const reply = await caller.put(RECORDING, { ...everything, ...choice })
  if (reply.status !== 200) throw new Error(reply.text)
}

const minutesOf = async (caller: Caller, day = today) =>
  (await caller.get(`${MINUTES}?day=${day}`)).body.workspaces[0].minutes

t.test('without preferences, everything is recorded', async (t) => {
  const { ada } = await newcomer()
  hasProperties(t, await ada.get(RECORDING), { status: 200, body: everything })
})

t.test('preferences are stored unchanged, for one person only', async (t) => {
  const [{ ada }, { ada: bob }] = [await newcomer(), await newcomer()]
  const choice = {
    paused: true,
    repos_off: ['Acme/Secret', 'acme/x_*', 'acme/*'],
    hours: { from: 22, to: 6, weekdays: [5, 1] },
  }
  hasProperties(t, await ada.put(RECORDING, choice), { status: 200, body: choice })
  t.strictSame((await ada.get(RECORDING)).body, choice)
  t.strictSame((await bob.get(RECORDING)).body, everything)
  await choose(ada, {})
  t.strictSame((await ada.get(RECORDING)).body, everything)
})

t.test('invalid preferences are rejected, and the previous ones stay', async (t) => {
  const { ada } = await newcomer()
  await choose(ada, { paused: true })
  const hours = { from: 8, to: 19, weekdays: [1, 2] }
  for (const wrong of [
    { paused: 'yes' },
    { paused: undefined },
    { repos_off: null },
    { repos_off: ['acme'] },
    { repos_off: ['*/api'] },
    { repos_off: ['acme/api', 'Acme/API'] },
    { repos_off: Array.from({ length: 201 }, (_, n) => `acme/r${n}`) },
    { repos_off: [`acme/*${'x'.repeat(195)}`] },
    { hours: {} },
    { hours: { ...hours, from: -1 } },
    { hours: { ...hours, from: 24 } },
    { hours: { ...hours, to: 25 } },
    { hours: { ...hours, to: 8 } },
    { hours: { ...hours, to: 8.5 } },
    { hours: { ...hours, weekdays: [] } },
    { hours: { ...hours, weekdays: [0] } },
    { hours: { ...hours, weekdays: [8] } },
    { hours: { ...hours, weekdays: [1, 1] } },
    { days: [] },
  ]) {
    const reply = await ada.put(RECORDING, { ...everything, ...wrong })
    t.hasStrict(reply, { status: 400, body: { code: 'validation_failed' } }, JSON.stringify(wrong))
  }
  t.strictSame((await ada.get(RECORDING)).body, { ...everything, paused: true })
})

t.test('a pause applies from the next flush in every process, until it ends', async (t) => {
  const { ada, id } = await newcomer()
  const entries = [{ repo: 'acme/api', day: today, minutes: 10, hours: { 0: 10 } }]
  const flush = (flush_id: string, process = service) =>
    process.request('POST', MINUTES, {
      body: { entries, flush_id },
      headers: { Authorization: `Bearer ${ada.token}` },
    })
  const counted = await flush('first')
  t.match(counted.body, { accepted: 1 })
  await choose(ada, { paused: true })
  for (const process of [service, beside]) {
    const { body } = await flush(`while paused by ${process.url}`, process)
    t.strictSame(body, {
      accepted: 0,
      capped: 0,
      ignored: 1,
      duplicate: false,
      notes: [{ index: 0, status: 'ignored', code: 'recording_off' }],
    })
  }
  t.strictSame((await flush('first')).body, { ...counted.body, duplicate: true }, 'a retry is one')
  t.equal(await minutesOf(ada), 10)

  const counts = {
    workspace: id,
    day: today,
    members: [{ login: ada.login, repos: [{ repo: 'acme/api', count: 3 }] }],
  }
  t.match((await ada.post('/api/team/commits', counts)).body, { upserted: 1 })
  const { totals, heatmap } = (await ada.get(`/api/team/dashboard/mine?workspace=${id}`)).body
  t.match(totals, { active_minutes: 10, commits: 3 }, 'what an admin uploads is not touched')
  t.equal(
    heatmap.reduce((sum: number, { minutes }: { minutes: number }) => sum + minutes, 0),
    10,
  )

  await choose(ada, {})
  t.match((await flush(`while paused by ${service.url}`)).body, { ignored: 1, duplicate: true })
  t.match((await flush('after')).body, { accepted: 1 })
  t.equal(await minutesOf(ada), 20)
})

t.test('nothing is recorded in excluded repositories, however they’re spelled', async (t) => {
  const { ada } = await newcomer()
  await choose(ada, { repos_off: ['Acme/Secret', 'acme/x_*-DOCS'] })
  const repos = ['acme/SECRET', 'acme/secrets', 'ACME/x_-docs', 'acme/x_1-docs', 'acme/xy-docs', 'else/api']
  const { body } = await ada.post(MINUTES, {
    entries: [
      ...repos.map((repo) => ({ repo, day: today, minutes: 1 })),
      { repo: 'acme/secret', day: addDays(today, -31), minutes: 1 },
    ],
  })
  const ignored = (index: number, code: string) => ({ index, status: 'ignored', code })
  t.strictSame(body.notes, [
    ignored(0, 'recording_off'),
    ignored(2, 'recording_off'),
    ignored(3, 'recording_off'),
    ignored(5, 'repo_not_matched'),
    ignored(6, 'day_out_of_window'),
  ])
  const [{ repos: counted }] = (await ada.get(MINUTES)).body.workspaces
  t.strictSame(
    counted.map(({ repo }: { repo: string }) => repo),
    ['acme/secrets', 'acme/xy-docs'],
  )
})

t.test('minutes outside the chosen hours are cut from the hour, the day and the repository', async (t) => {
  const { ada, id } = await newcomer()
  await choose(ada, { hours: { from: 9, to: 17, weekdays: allWeek } })
  const day = addDays(today, -1)
  // Half past eight, nine, four and five in Kolkata, where the clocks never change.
  const hours = { 3: 5, 4: 6, 11: 7, 12: 8 }
  const { body } = await ada.post(MINUTES, {
    timezone: 'Asia/Kolkata',
    entries: [
      { repo: 'acme/part', day, minutes: 30, hours },
      { repo: 'acme/inside', day, minutes: 6, hours: { 4: 6 } },
      { repo: 'acme/outside', day, minutes: 5, hours: { 3: 5 } },
      { repo: 'acme/unplaced', day, minutes: 9 },
      { repo: 'acme/full', day, minutes: 61, hours: { 4: 60, 12: 1 } },
    ],
  })
  t.strictSame(body, {
    accepted: 2,
    capped: 2,
    ignored: 1,
    duplicate: false,
    notes: [
      { index: 0, status: 'capped', code: 'recording_off' },
      { index: 2, status: 'ignored', code: 'recording_off' },
      { index: 4, status: 'capped', code: 'recording_off' },
    ],
  })
  const dashboard = (await ada.get(`/api/team/dashboard/mine?workspace=${id}`)).body
  t.strictSame(
    dashboard.repos.map(({ repo, active_minutes }: Record<string, unknown>) => [repo, active_minutes]),
    [
      ['acme/full', 48],
      ['acme/part', 17],
      ['acme/unplaced', 9],
      ['acme/inside', 6],
    ],
  )
  t.equal(dashboard.totals.active_minutes, 80)
  const cells = dashboard.heatmap.filter(({ minutes }: { minutes: number }) => minutes > 0)
  const weekday = weekdayOf(day)
  t.strictSame(cells, [
    { weekday, hour: 9, minutes: 60 },
    { weekday, hour: 16, minutes: 7 },
  ])

  // Without a zone of its own, a flush is judged in the one that is known.
  const later = await ada.post(MINUTES, {
    entries: [{ repo: 'acme/part', day: addDays(today, -2), minutes: 2, hours: { 3: 1, 4: 1 } }],
  })
  hasProperties(t, later.body, { capped: 1, notes: [{ code: 'recording_off' }] })
  t.equal(await minutesOf(ada, addDays(today, -2)), 1)
})

t.test('weekdays are local, and a night belongs to the day on which it began', async (t) => {
  const { ada } = await newcomer()
  const yesterday = addDays(today, -1)
  // In Kiritimati, tomorrow begins 14 hours before UTC's midnight.
  const flush = async (hours: object) => {
    const entries = [{ repo: 'acme/api', day: yesterday, minutes: 3, hours }]
    const { body } = await ada.post(MINUTES, { timezone: 'Pacific/Kiritimati', entries })
    return body.notes[0]?.code
  }
  await choose(ada, { hours: { from: 0, to: 24, weekdays: [weekdayOf(yesterday)] } })
  t.equal(await flush({ 9: 3 }), undefined, '23:00 on the same day')
  t.equal(await flush({ 10: 3 }), 'recording_off', 'midnight')
  await choose(ada, { hours: { from: 23, to: 2, weekdays: [weekdayOf(yesterday)] } })
  t.equal(await flush({ 8: 3 }), 'recording_off', '22:00')
  t.equal(await flush({ 9: 3 }), undefined, '23:00')
  t.equal(await flush({ 11: 3 }), undefined, '1:00 of the night that began the day before')
  t.equal(await flush({ 12: 3 }), 'recording_off', '2:00')
})

const zones = [
  'UTC',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'America/New_York',
  'America/St_Johns',
  'Europe/Berlin',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
]
/** Clocks change on these, in one zone or another, or the year does. */
const days = [
  '2026-03-08',
  '2026-03-29',
  '2026-04-04',
  '2026-10-03',
  '2026-10-25',
  '2026-11-01',
  '2026-12-31',
  '2026-06-15',
]
const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

const clocks = new Map(
  zones.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('en-US', { timeZone, weekday: 'short', hour: 'numeric', hourCycle: 'h23' }),
  ]),
)

/** An hour by what a clock on the wall shows when it starts. */
const isRecorded = (
  { from, to, weekdays: chosen }: { from: number; to: number; weekdays: number[] },
  timeZone: string,
  moment: Date,
) => {
  const parts = clocks.get(timeZone)?.formatToParts(moment)
  const part = (type: string) => parts?.find((one) => one.type === type)?.value ?? ''
  const hour = Number(part('hour'))
  const day = weekdays.indexOf(part('weekday'))
  const [on, onDayBefore] = [day, (day + 6) % 7].map((index) => chosen.includes(index + 1))
  if (from < to) return on === true && hour >= from && hour < to
  return (on === true && hour >= from) || (onDayBefore === true && hour < to)
}

t.test('hours are local hours in every time zone, even when clocks change', async () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.constantFrom(...days),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 24 }),
      fc.uniqueArray(fc.constantFrom(...allWeek), { minLength: 1 }),
      (zone, day, from, to, chosen) => {
        fc.pre(from !== to)
        const hours = { from, to, weekdays: chosen }
        return recordedHoursOf(hours, zone, day).every(
          (recorded, hour) =>
            recorded === isRecorded(hours, zone, new Date(Date.parse(day) + hour * 3_600_000)),
        )
      },
    ),
    { numRuns: 150 },
  )
})

t.test('the cut and kept parts add up to the entry', async () => {
  const hours = fc.dictionary(fc.integer({ min: 0, max: 23 }).map(String), fc.integer({ min: 0, max: 60 }))
  fc.assert(
    fc.property(
      hours,
      fc.nat(300),
      fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }),
      (hours, rest, recorded) => {
        const sum = (some: Record<string, number>) =>
          Object.values(some).reduce((total, one) => total + one, 0)
        const kept = recordedPart(sum(hours) + rest, hours, recorded)
        return (
          kept.minutes === sum(kept.hours) + rest &&
          Object.keys(hours).every(
            (hour) => kept.hours[hour] === (recorded[Number(hour)] ? hours[hour] : undefined),
          )
        )
      },
    ),
  )
})
