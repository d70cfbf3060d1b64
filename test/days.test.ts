import t from 'tap'
import {
  addDays,
  bucketsOf,
  countDays,
  isDay,
  LAST_DAY,
  lengthOfMonth,
  listDays,
  mondayOf,
  monthOf,
  resolveRange,
  sundayOf,
  weekdayOf,
} from '../src/platform/time/days.js'

/** The Gregorian calendar, counted without a Date. */
const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
const monthLengths = (year: number) => [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const dayText = (year: number, month: number, date: number) =>
  `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(date).padStart(2, '0')}`
const yearOfDays = (year: number): string[] =>
  monthLengths(year).flatMap((length, index) =>
    Array.from({ length }, (_, date) => dayText(year, index + 1, date + 1)),
  )

/** Years in which centuries, leap days and the ends of the calendar meet. */
const years = [3, 4, 99, 100, 400, 1899, 1900, 1970, 1999, 2000, 2024, 2026, 2100, 9998, 9999]

t.test('each day is followed by the next calendar day', async (t) => {
  for (const year of years) {
    const days = yearOfDays(year)
    t.strictSame(listDays(dayText(year, 1, 1), dayText(year, 12, 31)), days)
    t.equal(countDays(dayText(year, 1, 1), dayText(year, 12, 31)), days.length)
    t.strictSame(
      days.slice(1).map((day) => addDays(day, -1)),
      days.slice(0, -1),
    )
    t.ok(days.every(isDay))
    t.ok(days.every((day) => lengthOfMonth(day) === monthLengths(year)[Number(day.slice(5, 7)) - 1]))
    t.ok(days.every((day) => monthOf(day) === `${day.slice(0, 7)}-01`))
  }
})

t.test('days continue into the next year, and a range that ends before it begins has none', async (t) => {
  t.strictSame(listDays('2025-12-31', '2026-01-01'), ['2025-12-31', '2026-01-01'])
  t.strictSame(listDays('2026-01-02', '2026-01-01'), [])
})

t.test('text that isn’t a date isn’t parsed as a day', async (t) => {
  const dates = ['2026-02-28', '2024-02-29', '0001-01-01', '9999-12-31']
  const none = [
    ['2026-02-29', '2026-02-30', '2026-04-31', '2026-13-01', '2026-00-10', '2026-01-00', '2026-01-32'],
    [
      '0000-01-01',
      '2026-1-1',
      '2026-01-1',
      '+002026-01-01',
      '-002026-01-01',
      '+012026-01-01',
      '12026-01-01',
      '2026-01-011',
    ],
    ['', 'today', '2026', '2026-01', '2026-01-01T00:00', ' 2026-01-01', '2026/01/01', '20260101'],
  ]
  t.strictSame([...dates, ...none.flat()].filter(isDay), dates)
})

t.test('a week begins on Monday and ends on Sunday, or at the calendar’s limits', async (t) => {
  const week = listDays('2026-11-23', '2026-11-29')
  t.strictSame(week.map(weekdayOf), [1, 2, 3, 4, 5, 6, 7])
  for (const day of week) {
    t.equal(mondayOf(day), '2026-11-23')
    t.equal(sundayOf(day), '2026-11-29')
  }
  t.strictSame(listDays('9999-12-25', LAST_DAY).map(sundayOf), [
    '9999-12-26',
    '9999-12-26',
    ...Array(5).fill(LAST_DAY),
  ])
})

t.test('an omitted end is the default length after the start, or today', async (t) => {
  const lengths = { defaultDays: 28, maxDays: 366 }
  const resolve = (from?: string, to?: string) => resolveRange({ from, to }, '2026-11-21', lengths)
  const range = (from: string, to: string, days: number) => ({ from, to, days })
  t.strictSame(resolve(), range('2026-10-25', '2026-11-21', 28))
  t.strictSame(resolve('2026-11-01'), range('2026-11-01', '2026-11-28', 28))
  t.strictSame(resolve(undefined, '2026-03-01'), range('2026-02-02', '2026-03-01', 28))
  t.strictSame(resolve('2026-11-21', '2026-11-21'), range('2026-11-21', '2026-11-21', 1))
})

t.test('a range has at least one day, at most the maximum, and stays within the calendar', async (t) => {
  const lengths = { defaultDays: 28, maxDays: 366 }
  const resolve = (from?: string, to?: string) => resolveRange({ from, to }, '2026-11-21', lengths)
  t.equal(resolve('2026-11-21', '2026-11-20'), undefined)
  t.equal(resolve('2024-01-01', '2024-12-31')?.days, 366)
  t.equal(resolve('2024-01-01', '2025-01-01'), undefined)
  t.equal(resolve('0003-01-01', '0003-01-01')?.days, 1)
  t.equal(resolve('0002-12-31', '0003-01-01'), undefined)
  t.equal(resolve('0002-12-31'), undefined)
  t.equal(resolve(undefined, '0003-01-27'), undefined, 'its first day would be before the calendar')
  t.equal(resolve(undefined, '0003-01-28')?.from, '0003-01-01')
  t.equal(resolve('9999-12-05'), undefined, 'its last day would be after the calendar')
  t.equal(resolve('9999-12-04')?.to, LAST_DAY)
  t.equal(resolve(undefined, LAST_DAY)?.to, LAST_DAY)
  t.equal(resolve('2026-01-01', '+010000-01-01'), undefined)
})

t.test('a short range has one bucket per day, and a long one has one per week', async (t) => {
  t.strictSame(bucketsOf({ from: '2026-11-18', to: '2026-11-24', days: 7 }, 7), {
    start: '2026-11-18',
    length: 1,
    count: 7,
  })
  // From a Wednesday to the Wednesday of the next week.
  t.strictSame(bucketsOf({ from: '2026-11-18', to: '2026-11-25', days: 8 }, 7), {
    start: '2026-11-16',
    length: 7,
    count: 2,
  })
  t.strictSame(bucketsOf({ from: '2026-11-16', to: '2026-11-29', days: 14 }, 7), {
    start: '2026-11-16',
    length: 7,
    count: 2,
  })
  t.strictSame(bucketsOf({ from: '2026-11-16', to: '2026-11-30', days: 15 }, 7), {
    start: '2026-11-16',
    length: 7,
    count: 3,
  })
})
