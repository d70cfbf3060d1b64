import fc from 'fast-check'
import t from 'tap'
import { addDays, listDays, weekdayOf } from '../../src/platform/time/days.js'
import { bundle, load } from '../bundle.js'
import { stepsOf } from '../trend-steps.js'

type Range = { from: string; to: string }
interface Row {
  range: Range
  trend: number[]
}
interface Functions {
  sparkOf: (row: Row, today: string, earlier?: Row) => { points: number[]; before: number[] } | undefined
  weekdayCounts: (range: Range) => number[]
}

t.test('trend lines agree with the numbers', async (t) => {
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
  const rowOf = (one: Case, row: number[]): Row => ({ range: one, trend: trendOf(one, row) })

  await t.test('a line covers two finished weeks or more', async () => {
    fc.assert(
      fc.property(cases, (one) => {
        const finished = listDays(one.from, one.to).filter((day) => day < one.today)
        return one.rows.every((row) => {
          const spark = sparkOf(rowOf(one, row), one.today)
          return spark ? finished.length >= 14 && spark.before.length === 0 : finished.length < 28
        })
      }),
    )
  })
  await t.test('identical ranges are drawn identically', async () => {
    fc.assert(
      fc.property(cases, (one) => {
        const [row = []] = one.rows
        const [whole, later] = [rowOf(one, row), addDays(one.to, 1)]
        const spark = sparkOf(whole, later, whole)
        return !spark || JSON.stringify(spark.before) === JSON.stringify(spark.points)
      }),
    )
  })
  await t.test('unfinished days change nothing', async () => {
    fc.assert(
      fc.property(cases, fc.nat(600), (one, more) => {
        const [row = []] = one.rows
        const days = listDays(one.from, one.to)
        const later = row.map((minutes, index) =>
          (days[index] ?? '') < one.today ? minutes : minutes + more,
        )
        const read = (values: number[]) => JSON.stringify(sparkOf(rowOf(one, values), one.today))
        return read(row) === read(later)
      }),
    )
  })
  await t.test('a repeated week is a level line', async () => {
    fc.assert(
      fc.property(cases, fc.array(fc.nat(600), { minLength: 7, maxLength: 7 }), (one, week) => {
        const row = listDays(one.from, one.to).map((day) => week[weekdayOf(day) - 1] ?? 0)
        const spark = sparkOf(rowOf(one, row), one.today)
        return !spark || new Set(spark.points).size === 1
      }),
    )
  })
  await t.test('an average week divides each weekday by how often it occurs', async () => {
    fc.assert(
      fc.property(cases, ({ from, to }) => {
        const days = listDays(from, to).map(weekdayOf)
        const expected = [1, 2, 3, 4, 5, 6, 7].map((weekday) => days.filter((one) => one === weekday).length)
        return JSON.stringify(weekdayCounts({ from, to })) === JSON.stringify(expected)
      }),
    )
  })
})
