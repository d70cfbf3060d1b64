import fc from 'fast-check'
import t from 'tap'
import { addDays, listDays, weekdayOf } from '../../src/platform/time/days.js'
import { bundle, load } from '../bundle.js'
import { stepsOf } from '../trend-steps.js'

type Range = { from: string; to: string }
interface Functions {
  sparkOf: (trend: number[], range: Range, today: string) => { points: number[]; words: string } | undefined
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
  /** The sums of the whole finished weeks, oldest first: the model. */
  const weeksOf = ({ from, to, today }: Case, row: number[]) => {
    const days = listDays(from, to)
    const finished = days.filter((day) => day < today)
    const last = days.length <= 31 ? finished.at(-1) : finished.findLast((day) => weekdayOf(day) === 7)
    const weeks: number[] = []
    for (let end = last; end && addDays(end, -6) >= from; end = addDays(end, -7)) {
      const start = addDays(end, -6)
      weeks.unshift(
        days.reduce(
          (sum, day, index) => sum + (day >= start && day <= (end ?? '') ? (row[index] ?? 0) : 0),
          0,
        ),
      )
    }
    return weeks
  }
  const wordOf = (weeks: number[]) => {
    const half = Math.floor(weeks.length / 2)
    const sum = (part: number[]) => part.reduce((all, value) => all + value, 0)
    const [before, after] = [
      sum(weeks.slice(weeks.length - 2 * half, weeks.length - half)),
      sum(weeks.slice(-half)),
    ]
    if (Math.abs(after / half - before / half) <= (before / half) * 0.1) return 'steady'
    return after > before ? 'rising' : 'falling'
  }
  const sumOf = (rows: number[][]) =>
    (rows[0] ?? []).map((_, index) => rows.reduce((sum, row) => sum + (row[index] ?? 0), 0))

  await t.test('a word compares the later half of the finished weeks with the earlier half', async () => {
    fc.assert(
      fc.property(cases, (one) => {
        for (const row of one.rows) {
          const weeks = weeksOf(one, row)
          const words = sparkOf(trendOf(one, row), one, one.today)?.words.split(':')[0]
          if (words !== (weeks.length < 2 ? undefined : wordOf(weeks))) return false
        }
        return true
      }),
    )
  })
  await t.test('if all rows rise, or fall, so does their sum', async () => {
    fc.assert(
      fc.property(cases, (one) => {
        const words = (row: number[]) => sparkOf(trendOf(one, row), one, one.today)?.words.split(':')[0]
        const all = new Set(one.rows.map(words))
        return all.size > 1 || all.has('steady') || all.has(words(sumOf(one.rows)))
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
        return !spark || (new Set(spark.points).size === 1 && spark.words.startsWith('steady'))
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
