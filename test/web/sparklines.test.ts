import fc from 'fast-check'
import t from 'tap'
import { addDays, listDays, weekdayOf } from '../../src/platform/time/days.js'
import { bundle, load } from '../bundle.js'
import { stepsOf } from '../trend-steps.js'

type Range = { from: string; to: string }
interface Functions {
  sparkOf: (
    trend: number[],
    range: Range,
    today: string,
    both?: { now: number; before: number },
  ) => { points: number[]; word: string; words: string } | undefined
  weekdayCounts: (range: Range) => number[]
}

t.test('words and lines of trends agree with the numbers', async (t) => {
  const { sparkOf, weekdayCounts } = (await load(t, await bundle('web/spark.ts'))) as Functions
  const monday = '2026-01-05'
  /** A range, the first day that isn't over, and minutes of each day of some rows. */
  const cases = fc
    .record({
      start: fc.nat(400),
      length: fc.integer({ min: 1, max: 366 }),
      ahead: fc.integer({ min: -30, max: 3 }),
    })
    .chain(({ start, length, ahead }) => {
      const from = addDays(monday, start)
      const to = addDays(from, length - 1)
      const row = fc.array(fc.nat(600), { minLength: length, maxLength: length })
      return fc.record({
        from: fc.constant(from),
        to: fc.constant(to),
        today: fc.constant(addDays(to, ahead)),
        rows: fc.array(row, { minLength: 1, maxLength: 4 }),
      })
    })
  type Case = { from: string; to: string; today: string; rows: number[][] }
  const trendOf = ({ from, to }: Case, row: number[]) => {
    const minutes = new Map(listDays(from, to).map((day, index) => [day, row[index] ?? 0]))
    return stepsOf(from, to).map((days) => days.reduce((sum, day) => sum + (minutes.get(day) ?? 0), 0))
  }
  const both = fc.record({ now: fc.nat(9_000), before: fc.nat(9_000) })

  await t.test('a word compares the finished days with those before, and the words have both', async () => {
    fc.assert(
      fc.property(cases, both, (one, sums) => {
        for (const row of one.rows) {
          const spark = sparkOf(trendOf(one, row), one, one.today, sums)
          if (!spark) continue
          const { now, before } = sums
          const isSteady = 10 * Math.abs(now - before) <= before
          const expected = isSteady ? 'steady' : now > before ? 'rising' : 'falling'
          if (spark.word !== expected || !spark.words.startsWith(`${expected}: from `)) return false
        }
        return true
      }),
    )
  })
  await t.test('where nothing is compared, there is no word, and a line has two weeks or more', async () => {
    fc.assert(
      fc.property(cases, (one) => {
        const finished = listDays(one.from, one.to).filter((day) => day < one.today)
        return one.rows.every((row) => {
          const spark = sparkOf(trendOf(one, row), one, one.today)
          if (!spark) return finished.length < 28
          return finished.length >= 14 && spark.word === '' && spark.words.startsWith('between ')
        })
      }),
    )
  })
  await t.test('days that are not over change nothing', async () => {
    fc.assert(
      fc.property(cases, fc.nat(600), (one, more) => {
        const [row = []] = one.rows
        const days = listDays(one.from, one.to)
        const later = row.map((minutes, index) =>
          (days[index] ?? '') < one.today ? minutes : minutes + more,
        )
        const read = (values: number[]) => JSON.stringify(sparkOf(trendOf(one, values), one, one.today))
        return read(row) === read(later)
      }),
    )
  })
  await t.test('the same week again and again is a level line', async () => {
    fc.assert(
      fc.property(cases, fc.array(fc.nat(600), { minLength: 7, maxLength: 7 }), (one, week) => {
        const row = listDays(one.from, one.to).map((day) => week[weekdayOf(day) - 1] ?? 0)
        const spark = sparkOf(trendOf(one, row), one, one.today)
        return !spark || new Set(spark.points).size === 1
      }),
    )
  })
  await t.test('a mean week divides each weekday by how often it occurs', async () => {
    fc.assert(
      fc.property(cases, ({ from, to }) => {
        const days = listDays(from, to).map(weekdayOf)
        const expected = [1, 2, 3, 4, 5, 6, 7].map((weekday) => days.filter((one) => one === weekday).length)
        return JSON.stringify(weekdayCounts({ from, to })) === JSON.stringify(expected)
      }),
    )
  })
})
