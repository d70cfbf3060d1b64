import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { chooseDay, chooseDays, rangeNamed, timezoneOf } from '../src/features/editors/choose-days.js'
import { toLocalDays } from '../src/features/minutes/local-days.js'
import { addDays } from '../src/platform/time/days.js'
import { toUtcDays } from '../src/platform/time/local-hours.js'
import { dayAt, endOf, startOf } from '../src/platform/time/zones.js'
import { wallClock } from './local-model.js'

const QUARTER_MS = 900_000
const DAY_MS = 96 * QUARTER_MS

/** Zones, and a day on which their clocks change, or one beside it. */
const changes: [zone: string, day: string, how: string][] = [
  ['UTC', '2026-03-29', 'never'],
  ['Asia/Kathmandu', '2026-03-29', 'never, 5:45 ahead'],
  ['Pacific/Kiritimati', '2026-03-29', 'never, 14:00 ahead'],
  ['Europe/Berlin', '2026-03-29', 'an hour is missing'],
  ['Europe/Berlin', '2026-10-25', 'an hour comes twice'],
  ['America/New_York', '2026-03-08', 'an hour is missing'],
  ['America/New_York', '2026-11-01', 'an hour comes twice'],
  ['Australia/Lord_Howe', '2026-04-05', 'half an hour comes twice'],
  ['Australia/Lord_Howe', '2026-10-04', 'half an hour is missing'],
  ['Atlantic/Azores', '2026-03-29', 'midnight is missing'],
  ['Atlantic/Azores', '2026-10-25', 'midnight comes twice'],
  ['America/Havana', '2025-03-09', 'midnight is missing'],
  ['America/Havana', '2025-11-02', 'midnight comes twice'],
  ['America/Santiago', '2025-09-07', 'midnight is missing'],
  ['Asia/Amman', '2021-10-29', 'midnight comes twice, east of Greenwich'],
  ['Africa/Cairo', '2025-04-25', 'midnight is missing, east of Greenwich'],
  ['Pacific/Apia', '2011-12-30', 'the day is missing'],
]

const formats = new Map<string, Intl.DateTimeFormat>()
/** The date on a local calendar. */
const dateIn = (timeZone: string, moment: number): string => {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-CA', { timeZone })
  formats.set(timeZone, format)
  return format.format(moment)
}

/** The first quarter of an hour that is on the day or after it. */
const findStart = (zone: string, day: string): number => {
  let moment = Date.parse(day) - DAY_MS
  while (dateIn(zone, moment) < day) moment += QUARTER_MS
  return moment
}

for (const [zone, changing, how] of changes)
  t.test(`days in ${zone} begin and end with the local date (${how})`, async (t) => {
    for (const day of [-2, -1, 0, 1, 2].map((days) => addDays(changing, days))) {
      const start = findStart(zone, day)
      t.equal(startOf(zone, day), start, `start of ${day}`)
      t.equal(endOf(zone, day), findStart(zone, addDays(day, 1)) - 1_000, `end of ${day}`)
      for (const moment of [start, start - 1, start + DAY_MS / 2 + 1])
        t.equal(dayAt(zone, moment), dateIn(zone, moment))
    }
  })

t.test('the calendar’s first and last days begin and end in every zone', async (t) => {
  for (const zone of ['UTC', 'Asia/Kathmandu', 'America/New_York', 'Pacific/Kiritimati', 'Pacific/Niue'])
    for (const day of ['0003-01-02', '9999-12-30']) {
      t.equal(dayAt(zone, startOf(zone, day)), day, zone)
      t.equal(dayAt(zone, endOf(zone, day)), day, zone)
    }
})

/** A day's minutes by UTC hour, and some without an hour. */
const utcDay = fc.record({
  change: fc.constantFrom(...changes.filter(([zone]) => zone !== 'Pacific/Apia')),
  hours: fc.array(fc.constantFrom(0, 0, 1, 60), { minLength: 24, maxLength: 24 }),
  rest: fc.nat(3),
})

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)

t.test(
  'an hour’s minutes belong to the local day and hour in which it begins, and one that comes twice is one hour',
  async () => {
    fc.assert(
      fc.property(utcDay, ({ change: [timezone, day], hours, rest }) => {
        const minutes = sumOf(hours) + rest
        const expected = new Map<string, { minutes: number; hours: number[] }>()
        const at = (local: string) => {
          const known = expected.get(local) ?? { minutes: 0, hours: new Array<number>(24).fill(0) }
          expected.set(local, known)
          return known
        }
        for (const [utcHour, inHour] of hours.entries()) {
          if (inHour === 0) continue
          const local = wallClock(timezone, Date.parse(day) + utcHour * 4 * QUARTER_MS)
          at(local.day).minutes += inHour
          at(local.day).hours[local.hour] = (at(local.day).hours[local.hour] ?? 0) + inHour
        }
        if (rest > 0) at(day).minutes += rest
        const byHour = Object.fromEntries(hours.entries())
        deepStrictEqual(toLocalDays(timezone, day, { minutes, hours: byHour }), expected)
      }),
    )
  },
)

t.test('local days lead back to UTC days, exactly where no hour comes twice', async () => {
  fc.assert(
    fc.property(utcDay, ({ change: [timezone, day, how], hours, rest }) => {
      const minutes = sumOf(hours) + rest
      const local = toLocalDays(timezone, day, { minutes, hours: Object.fromEntries(hours.entries()) })
      const utc = new Map<string, number>()
      for (const [localDay, one] of local)
        for (const [utcDay, more] of toUtcDays(timezone, localDay, one))
          utc.set(utcDay, (utc.get(utcDay) ?? 0) + more)
      deepStrictEqual(sumOf([...utc.values()]), minutes)
      if (!how.includes('twice')) deepStrictEqual([...utc], minutes > 0 ? [[day, minutes]] : [])
    }),
  )
})

t.test('a valid zone keeps the name it was given', async (t) => {
  for (const zone of ['Asia/Katmandu', 'Asia/Kathmandu', 'Europe/Kiev', 'Europe/Kyiv', 'UTC', 'Etc/GMT+12'])
    t.equal(timezoneOf(zone), zone)
  for (const none of [undefined, null, 5, '', 'Mars/Olympus', '+02:00', ['Europe/Paris'], 'x'.repeat(10_000)])
    t.equal(timezoneOf(none), undefined)
})

t.test('a named range ends today or earlier', async (t) => {
  // A Saturday.
  const today = '2026-11-21'
  const ranges: Record<string, [from: string, to: string, days: number]> = {
    today: ['2026-11-21', '2026-11-21', 1],
    yesterday: ['2026-11-20', '2026-11-20', 1],
    'Last 7 Days': ['2026-11-15', '2026-11-21', 7],
    'last_7_days_from-yesterday': ['2026-11-14', '2026-11-20', 7],
    ' LAST  14_-days ': ['2026-11-08', '2026-11-21', 14],
    last_30_days: ['2026-10-23', '2026-11-21', 30],
    last_6_months: ['2026-05-22', '2026-11-21', 184],
    last_year: ['2025-11-22', '2026-11-21', 365],
    this_week: ['2026-11-16', '2026-11-21', 6],
    last_week: ['2026-11-09', '2026-11-15', 7],
    this_month: ['2026-11-01', '2026-11-21', 21],
    last_month: ['2026-10-01', '2026-10-31', 31],
  }
  for (const [name, [from, to, days]] of Object.entries(ranges)) {
    t.strictSame(rangeNamed(name, today), { from, to, days }, name)
    t.strictSame(chooseDays({ range: name }, today), { from, to, days }, name)
  }
  t.strictSame(chooseDays({}, today), { from: today, to: today, days: 1 })
  for (const name of ['', 'constructor', 'last_8_days', 'last7days'])
    t.equal(rangeNamed(name, today), undefined)
  t.throws(() => chooseDays({ range: 'ever' }, today), {
    code: 'validation_failed',
    extras: {
      errors: [
        { path: '/query/range', message: `must be one of ${Object.keys(ranges).map(nameOf).join(', ')}` },
      ],
    },
  })
})

const nameOf = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replaceAll(/[ _-]+/g, '_')

t.test('ranges at month and week boundaries have whole months and at least one day', async (t) => {
  t.strictSame(rangeNamed('last_6_months', '2026-08-31'), { from: '2026-03-04', to: '2026-08-31', days: 181 })
  t.strictSame(rangeNamed('last_month', '2026-03-31'), { from: '2026-02-01', to: '2026-02-28', days: 28 })
  t.strictSame(rangeNamed('this_week', '2026-11-16'), { from: '2026-11-16', to: '2026-11-16', days: 1 })
})

t.test('a day is a date, a timestamp or a keyword', async (t) => {
  const today = '2026-11-21'
  const days: Record<string, string> = {
    '2026-02-03': '2026-02-03',
    ' 2026-02-03T23:59:59Z': '2026-02-03',
    '2026-02-03t': '2026-02-03',
    Today: today,
    ' yesterday ': '2026-11-20',
    '0003-01-02': '0003-01-02',
    '9999-12-30': '9999-12-30',
  }
  for (const [text, day] of Object.entries(days)) t.equal(chooseDay('date', text, today), day, text)
  const wrong = ['', 'tomorrow', '2026-02-30', '2026-02-03 10:00', '2026-02-033', 'x2026-02-03', '0003-01-01']
  for (const text of [...wrong, '9999-12-31', '0000-01-01'])
    t.throws(
      () => chooseDay('date', text, today),
      {
        code: 'validation_failed',
        extras: {
          errors: [{ path: '/query/date', message: 'must be a day such as 2026-11-21, today or yesterday' }],
        },
      },
      text,
    )
})

t.test('days are chosen from start to end, at most a year', async (t) => {
  const today = '2026-11-21'
  const choose = (start: string, end?: string) => chooseDays({ start, ...(end && { end }) }, today)
  t.strictSame(choose('2026-11-20'), { from: '2026-11-20', to: today, days: 2 })
  t.strictSame(choose('2026-11-20', '2026-11-20'), { from: '2026-11-20', to: '2026-11-20', days: 1 })
  t.equal(choose('2024-01-01', '2024-12-31').days, 366)
  t.strictSame(
    chooseDays({ range: 'last_7_days', start: '2026-11-20' }, today),
    { from: '2026-11-20', to: today, days: 2 },
    'a start comes before a range',
  )
  for (const [start, end] of [
    ['2026-11-20', '2026-11-19'],
    ['2024-01-01', '2025-01-01'],
  ] as const)
    t.throws(() => choose(start, end), {
      code: 'invalid_range',
      message: '`start` must not be after `end`, and a range can cover at most 366 days.',
    })
  for (const [start, end, name] of [
    ['x', today, 'start'],
    [today, 'x', 'end'],
  ] as const)
    t.throws(() => choose(start, end), {
      code: 'validation_failed',
      extras: { errors: [{ path: `/query/${name}` }] },
    })
})
