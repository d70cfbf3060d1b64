import fc from 'fast-check'
import t from 'tap'
import { addDays, listDays, weekdayOf } from '../../src/platform/time/days.js'
import { bundle, load, loadOfPage } from '../bundle.js'

type Range = { from: string; to: string }
interface Numbers {
  range: Range
  daily: { day: string; active_minutes: number }[]
  repos: { repo: string; active_minutes: number }[]
  publication: null
}
interface Standout {
  kind: 'repo' | 'day'
  name: string
  now: number
  before: number
}
interface Comparison {
  comparedRanges: (
    range: Range,
    compare: string | undefined,
    today: string,
  ) => { now: Range; before: Range } | undefined
  bothOf: (list: 'repos', responses: { now: Numbers; before: Numbers }) => Map<string, Both>
}
type Both = { now: number; before: number }
/** The component of a figure renders it: nothing, text, or elements. */
interface Element {
  props: { children?: unknown; isUp?: boolean }
}
interface Figures {
  Change: (props: {
    total: number
    now: number
    before: number
    write: (value: number) => string
  }) => Element | null
}
interface Standouts {
  standoutsOf: (now: Numbers, before: Numbers) => Standout[]
  wordsOf: (one: Standout) => string
}

/** A Monday. */
const start = '2025-01-06'

t.test('a range is compared with the same weekdays before it', async (t) => {
  const { comparedRanges } = (await load(t, await bundle('web/comparison.ts'))) as Comparison
  const thirtyDays = { from: '2026-10-26', to: '2026-11-24' }
  t.strictSame(
    comparedRanges(thirtyDays, undefined, '2026-11-24'),
    {
      now: { from: '2026-10-26', to: '2026-11-23' },
      before: { from: '2026-09-21', to: '2026-10-19' },
    },
    'today counts in neither',
  )
  t.strictSame(
    comparedRanges({ from: '2026-10-01', to: '2026-10-28' }, undefined, '2026-11-24'),
    {
      now: { from: '2026-10-01', to: '2026-10-28' },
      before: { from: '2026-09-03', to: '2026-09-30' },
    },
    'whole weeks follow each other',
  )
  t.strictSame(
    comparedRanges({ from: '2026-11-18', to: '2026-11-24' }, undefined, '2026-11-24'),
    {
      now: { from: '2026-11-17', to: '2026-11-23' },
      before: { from: '2026-11-10', to: '2026-11-16' },
    },
    'seven days that end today compare seven finished days',
  )
  t.equal(comparedRanges(thirtyDays, 'none', '2026-11-24'), undefined, 'with nothing, if asked for')
  t.equal(
    comparedRanges({ from: '2026-11-24', to: '2026-11-24' }, undefined, '2026-11-24'),
    undefined,
    'today alone has no finished day',
  )

  await t.test('weekdays line up for any range and day', async () => {
    const cases = fc.record({
      from: fc.nat(700).map((days) => addDays(start, days)),
      length: fc.integer({ min: 1, max: 366 }),
      ahead: fc.integer({ min: -366, max: 30 }),
      compare: fc.constantFrom(undefined, 'year'),
    })
    fc.assert(
      fc.property(cases, ({ from, length, ahead, compare }) => {
        const to = addDays(from, length - 1)
        const today = addDays(to, ahead)
        const compared = comparedRanges({ from, to }, compare, today)
        const first = to === today && length % 7 === 0 ? addDays(from, -1) : from
        const finished = listDays(first, to).filter((day) => day < today)
        if (!compared) return finished.length === 0
        const [now, before] = [compared.now, compared.before].map((range) => listDays(range.from, range.to))
        return (
          JSON.stringify(now) === JSON.stringify(finished) &&
          JSON.stringify(now?.map(weekdayOf)) === JSON.stringify(before?.map(weekdayOf)) &&
          (before?.at(-1) ?? '') < from
        )
      }),
    )
  })
})

t.test('words and signs agree with each weekday’s numbers for random teams', async (t) => {
  const { comparedRanges, bothOf } = (await load(t, await bundle('web/comparison.ts'))) as Comparison
  const { standoutsOf, wordsOf } = (await load(t, await bundle('web/standouts.ts'))) as Standouts
  const week = fc.array(fc.nat(600), { minLength: 7, maxLength: 7 })
  const team = fc.record({
    from: fc.nat(300).map((days) => addDays(start, 400 + days)),
    length: fc.integer({ min: 8, max: 120 }),
    /** Minutes by weekday of each repository, in the range and in all weeks before. */
    repos: fc.array(fc.record({ now: week, before: week }), { minLength: 1, maxLength: 5 }),
    /** Today's minutes so far change nothing. */
    soFar: fc.nat(5_000),
  })
  type Team = typeof team extends fc.Arbitrary<infer T> ? T : never

  /** The dashboard of a range, as the service would answer it. */
  const dashboard = (one: Team, range: Range, first: string, today: string): Numbers => {
    const minutesOn = (day: string, { now, before }: Team['repos'][number]) =>
      day === today ? one.soFar : ((day < first ? before : now)[weekdayOf(day) - 1] ?? 0)
    const days = listDays(range.from, range.to)
    const sum = (values: number[]) => values.reduce((all, value) => all + value, 0)
    return {
      range,
      daily: days.map((day) => ({ day, active_minutes: sum(one.repos.map((repo) => minutesOn(day, repo))) })),
      repos: one.repos.map((repo, index) => ({
        repo: `acme/${index}`,
        active_minutes: sum(days.map((day) => minutesOn(day, repo))),
      })),
      publication: null,
    }
  }
  const compared = (one: Team) => {
    const to = addDays(one.from, one.length - 1)
    const ranges = comparedRanges({ from: one.from, to }, undefined, to)
    if (!ranges) throw new Error('A range of more than a day has finished days')
    const { from: first } = ranges.now
    return { now: dashboard(one, ranges.now, first, to), before: dashboard(one, ranges.before, first, to) }
  }
  const total = ({ daily }: Numbers) => daily.reduce((sum, { active_minutes }) => sum + active_minutes, 0)

  await t.test('a team that works the same on every weekday shows no change', async () => {
    fc.assert(
      fc.property(team, (one) => {
        const { now, before } = compared({ ...one, repos: one.repos.map((r) => ({ ...r, now: r.before })) })
        return total(now) === total(before) && standoutsOf(now, before).length === 0
      }),
    )
  })
  await t.test('more on every weekday is more in total', async () => {
    fc.assert(
      fc.property(team, (one) => {
        const more = one.repos.map(({ before }) => ({ before, now: before.map((minutes) => minutes + 1) }))
        const { now, before } = compared({ ...one, repos: more })
        return total(now) > total(before)
      }),
    )
  })
  await t.test('a repository’s sentence reflects its weekdays', async () => {
    fc.assert(
      fc.property(team, (one) => {
        const { now, before } = compared(one)
        return standoutsOf(now, before)
          .filter(({ kind }) => kind === 'repo')
          .every((standout) => {
            const repo = one.repos[Number(standout.name.slice('acme/'.length))]
            const sumOf = (week: number[] | undefined) =>
              listDays(now.range.from, now.range.to).reduce(
                (sum, day) => sum + (week?.[weekdayOf(day) - 1] ?? 0),
                0,
              )
            const factor = sumOf(repo?.now) / sumOf(repo?.before)
            const words = wordsOf(standout)
            // The sentence is written from minutes of a mean week, which are whole.
            if (words.startsWith('more than doubled')) return factor > 1.95
            if (words.startsWith('fell by more than half')) return factor < 0.55
            if (words.startsWith('started')) return factor > 20
            if (words.startsWith('stopped')) return factor < 0.05
            const [, percent = ''] = / by (\d+)%/.exec(words) ?? []
            const change = factor - 1
            return (
              words.startsWith(change > 0 ? 'grew by' : 'fell by') &&
              Math.abs(Math.abs(change) * 100 - Number(percent)) < 5
            )
          })
      }),
    )
  })
  await t.test('a day stands out only against the same weekday', async () => {
    fc.assert(
      fc.property(team, fc.nat(119), fc.nat(5_000), (one, index, more) => {
        const { now, before } = compared(one)
        const busy = now.daily[index % now.daily.length]
        if (busy) busy.active_minutes += more
        return standoutsOf(now, before)
          .filter(({ kind }) => kind === 'day')
          .every((standout) => {
            const minutes = now.daily.find(({ day }) => day === standout.name)?.active_minutes ?? 0
            const others = [...before.daily, ...now.daily].filter(
              ({ day }) => day !== standout.name && weekdayOf(day) === weekdayOf(standout.name),
            )
            const less = others.filter(({ active_minutes }) => active_minutes < minutes)
            return (
              standout.now === minutes &&
              standout.before > 0 &&
              2 * less.length >= others.length &&
              wordsOf(standout).startsWith('was busier than usual: ')
            )
          })
      }),
    )
  })

  await t.test('sums and figures agree with each weekday’s numbers', async (t) => {
    const { Change } = (await loadOfPage(t, 'web/ui.tsx')) as Figures
    /** The minutes of a repository in the finished days, or in as many of the same weekdays before. */
    const minutesIn = (range: Range, week: number[]) =>
      listDays(range.from, range.to).reduce((sum, day) => sum + (week[weekdayOf(day) - 1] ?? 0), 0)
    const signOf = (props: Parameters<Figures['Change']>[0]) => {
      const shown = Change(props)
      const arrow = [shown?.props.children]
        .flat()
        .find((one) => (one as Element | null)?.props?.isUp !== undefined)
      return arrow === undefined ? 0 : (arrow as Element).props.isUp ? 1 : -1
    }
    fc.assert(
      fc.property(team, (one) => {
        const { now, before } = compared(one)
        const sums = bothOf('repos', { now, before })
        const expected = one.repos.map((repo) => ({
          now: minutesIn(now.range, repo.now),
          before: minutesIn(now.range, repo.before),
        }))
        const sum = (name: 'now' | 'before') => expected.reduce((all, both) => all + both[name], 0)
        const figure = {
          total: sum('now') + one.soFar,
          now: total(now),
          before: total(before),
          write: String,
        }
        const isSigned = figure.before === 0 || signOf(figure) === Math.sign(sum('now') - sum('before'))
        return (
          isSigned &&
          expected.every((both, index) => JSON.stringify(sums.get(`acme/${index}`)) === JSON.stringify(both))
        )
      }),
    )
  })
})
