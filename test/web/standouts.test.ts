import fc from 'fast-check'
import t from 'tap'
import { addDays, listDays, weekdayOf } from '../../src/platform/time/days.js'
import { bundle, load } from '../bundle.js'

interface Numbers {
  range: { from: string; to: string }
  daily: { day: string; active_minutes: number | null }[]
  repos: { repo: string | null; active_minutes: number | null }[]
  publication: unknown
}
interface Standout {
  kind: 'repo' | 'day'
  name: string
  now: number
  before: number
}
interface Functions {
  standoutsOf: (now: Numbers, before: Numbers) => Standout[]
}

t.test('only significant changes are listed', async (t) => {
  const { standoutsOf } = (await load(t, await bundle('web/standouts.ts'))) as Functions
  const monday = '2026-03-02'

  /** A range in which every repository has the same minutes on every day, and other days have their own. */
  const numbers = (
    from: string,
    length: number,
    repos: Record<string, number>,
    days: Record<string, number> = {},
  ): Numbers => {
    const to = addDays(from, length - 1)
    const perDay = Object.values(repos).reduce((sum, minutes) => sum + minutes, 0)
    return {
      range: { from, to },
      daily: listDays(from, to).map((day) => ({ day, active_minutes: days[day] ?? perDay })),
      repos: Object.entries(repos).map(([repo, minutes]) => ({ repo, active_minutes: minutes * length })),
      publication: null,
    }
  }
  const later = addDays(monday, 28)

  t.strictSame(
    standoutsOf(
      numbers(
        later,
        28,
        { 'acme/web': 300, 'acme/api': 100, 'acme/docs': 60, 'acme/new': 40 },
        { [addDays(later, 9)]: 1_500 },
      ),
      numbers(monday, 28, { 'acme/web': 200, 'acme/api': 140, 'acme/docs': 50, 'acme/old': 30 }),
    ),
    [
      { kind: 'repo', name: 'acme/web', now: 2_100, before: 1_400 },
      { kind: 'repo', name: 'acme/new', now: 280, before: 0 },
      { kind: 'repo', name: 'acme/old', now: 0, before: 210 },
      // Three others have 500, and four 420.
      { kind: 'day', name: addDays(later, 9), now: 1_500, before: 420 },
    ],
    'the largest differences, and not what changed by less than half',
  )

  t.strictSame(
    standoutsOf(
      { ...numbers(later, 28, { 'acme/web': 300 }), repos: [{ repo: null, active_minutes: 8_400 }] },
      numbers(monday, 28, { 'acme/web': 300 }),
    ),
    [],
    'a repository may be in the row of all others',
  )
  t.strictSame(
    standoutsOf(
      { ...numbers(later, 28, {}), publication: {}, daily: [] },
      { ...numbers(monday, 28, { 'acme/web': 300 }), publication: {}, daily: [] },
    ),
    [],
    'a repository may be hidden',
  )
  t.strictSame(
    standoutsOf(numbers(later, 3, { 'acme/web': 900 }), numbers(monday, 3, { 'acme/web': 100 })),
    [],
    'less than a week is not compared',
  )

  t.strictSame(
    standoutsOf(
      numbers(later, 28, { 'acme/web': 600 }, { [addDays(later, 9)]: 0 }),
      numbers(monday, 28, { 'acme/web': 600 }),
    ),
    [],
    'a public holiday is no news',
  )
  const weekends = (from: string) =>
    Object.fromEntries(
      listDays(from, addDays(from, 27)).flatMap((day) => (weekdayOf(day) > 5 ? [[day, 30]] : [])),
    )
  t.strictSame(
    standoutsOf(
      numbers(later, 28, { 'acme/web': 600 }, { ...weekends(later), [addDays(later, 5)]: 1_200 }),
      numbers(monday, 28, { 'acme/web': 600 }, weekends(monday)),
    ),
    [],
    'work on a weekend is no news',
  )
  t.strictSame(
    standoutsOf(numbers(later, 28, {}, { [later]: 600, [addDays(later, 7)]: 600 }), numbers(monday, 28, {})),
    [],
    'nor are the first days of a team',
  )

  const minutes = fc.nat(2_000)
  const cases = fc
    .record({
      length: fc.integer({ min: 1, max: 366 }),
      now: fc.dictionary(fc.constantFrom('a/a', 'a/b', 'a/c', 'a/d', 'a/e', 'a/f'), minutes),
      before: fc.dictionary(fc.constantFrom('a/a', 'a/b', 'a/c', 'a/d', 'a/e', 'a/f'), minutes),
    })
    .chain((one) =>
      fc.record({
        one: fc.constant(one),
        days: fc.array(fc.option(minutes), { minLength: 2 * one.length, maxLength: 2 * one.length }),
      }),
    )
    .map(({ one: { length, now, before }, days }) => {
      const from = addDays(monday, length)
      const withDays = (numbers: Numbers, skip: number) => ({
        ...numbers,
        daily: numbers.daily.map(({ day }, index) => ({ day, active_minutes: days[skip + index] ?? null })),
      })
      return {
        now: withDays(numbers(from, length, now), 0),
        before: withDays(numbers(monday, length, before), length),
      }
    })

  await t.test('every difference is large and agrees with the dashboard’s numbers', async () => {
    fc.assert(
      fc.property(cases, ({ now, before }) => {
        const all = standoutsOf(now, before)
        const inRange = new Map(now.daily.map(({ day, active_minutes }) => [day, active_minutes]))
        const sumOf = ({ repos }: Numbers, name: string) =>
          repos.find(({ repo }) => repo === name)?.active_minutes ?? 0
        return (
          all.length <= 4 &&
          new Set(all.map(({ name }) => name)).size === all.length &&
          all.every((one) => {
            // Rounding to whole minutes of a week moves the factor a little.
            const isLarge = one.now * 1 >= one.before * 1.5 - 2 || one.now * 1.5 <= one.before + 2
            if (!isLarge || one.now === one.before) return false
            if (one.kind === 'day') {
              const others = [...before.daily, ...now.daily].filter(
                ({ day, active_minutes }) =>
                  day !== one.name && active_minutes !== null && weekdayOf(day) === weekdayOf(one.name),
              )
              const below = others.filter(({ active_minutes }) => (active_minutes ?? 0) <= one.before)
              return (
                one.now > one.before &&
                inRange.get(one.name) === one.now &&
                one.before > 0 &&
                others.length >= 3 &&
                below.length >= others.length / 2 - 1
              )
            }
            const [sum, sumBefore] = [sumOf(now, one.name), sumOf(before, one.name)]
            const days = before.daily.length
            return (
              one.before === Math.round((sumBefore / days) * 7) &&
              one.now === Math.round((sum / days) * 7) &&
              (one.now === 0) === (sum === 0)
            )
          })
        )
      }),
    )
  })
  await t.test('a number that is the same in both ranges never stands out', async () => {
    fc.assert(
      fc.property(cases, ({ before }) => {
        const length = before.daily.length
        const level = Object.fromEntries(
          before.repos.map(({ repo, active_minutes }) => [repo ?? '', (active_minutes ?? 0) / length]),
        )
        const from = addDays(monday, length)
        return standoutsOf(numbers(from, length, level), numbers(monday, length, level)).length === 0
      }),
    )
  })
})
