/** The range of days that an address chooses, the nearest one to an invalid address, and the address of a range. */
import t from 'tap'
import { loadOfPage } from '../bundle.js'

type Range = { from: string; to: string }
type Days = readonly [from: string, to: string]
interface Functions {
  rangeOf: (query: Record<string, string | undefined>) => { range: Range; problem?: string }
  shiftRange: (range: Range, by: 1 | -1) => Range
  linkTo: (range: Range, isWeekly: boolean) => string
  calendarRanges: () => [name: string, range: Range][]
}

const toRange = ([from, to]: Days): Range => ({ from, to })

t.test('ranges of days on Wednesday, 25 November 2026', async (t) => {
  const { rangeOf, shiftRange, linkTo, calendarRanges } = (await loadOfPage(t, 'web/query.ts')) as Functions
  const { TZ } = process.env
  process.env.TZ = 'UTC'
  const now = Date.parse('2026-11-25T12:00:00Z')
  t.intercept(Date, 'now', { value: () => now })
  t.teardown(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })
  const thirtyDays = toRange(['2026-10-27', '2026-11-25'])

  t.test('an invalid range has a reason and the nearest valid range', async (t) => {
    const [missing, reversed] = ['One of the dates doesn’t exist.', 'The end is before the start.']
    const cases: [asked: Days, problem: string, nearest: Days][] = [
      [['2026-02-31', '2026-03-08'], missing, ['2026-02-28', '2026-03-08']],
      [['2026-03-08', '2026-03-02'], reversed, ['2026-03-02', '2026-03-08']],
      [['2020-01-01', '2026-01-01'], 'A range has at most 366 days.', ['2025-01-01', '2026-01-01']],
      [['soon', '2026-01-30'], missing, ['2026-01-01', '2026-01-30']],
      [['2026-01-01', 'soon'], missing, ['2026-01-01', '2026-01-30']],
      [['2026-1-1', '2026-01-30'], missing, ['2026-01-01', '2026-01-30']],
      [['2025-13-01', '2025-12-00'], missing, ['2025-12-01', '2025-12-01']],
      [['0999-01-01', '2026-01-30'], missing, ['2026-01-01', '2026-01-30']],
      [['2026-03-40', '2026-02-31'], missing, ['2026-02-28', '2026-03-31']],
      [['9999-01-01', '9999-01-30'], 'These days are in the future.', ['2026-10-27', '2026-11-25']],
    ]
    for (const [asked, problem, nearest] of cases)
      t.strictSame(rangeOf(toRange(asked)), { range: toRange(nearest), problem }, asked.join(' to '))
  })

  t.test('without dates, the URL’s named range is shown, or else the last 30 days', async (t) => {
    for (const query of [{}, { range: '30d' }, { from: '', to: '' }])
      t.strictSame(rangeOf(query), { range: thirtyDays })
    t.strictSame(rangeOf({ range: '7d' }), { range: toRange(['2026-11-19', '2026-11-25']) })
    for (const range of ['constructor', '__proto__', '8d', '30D'])
      t.strictSame(rangeOf({ range }), { range: thirtyDays, problem: 'This range doesn’t exist.' }, range)
  })

  t.test('chosen days are shown until today', async (t) => {
    const shown = (query: Partial<Range>, days: Days) =>
      t.strictSame(rangeOf(query), { range: toRange(days) }, JSON.stringify(query))
    shown({ from: '2026-03-02', to: '2026-03-08' }, ['2026-03-02', '2026-03-08'])
    shown({ from: '2025-01-01', to: '2026-01-01' }, ['2025-01-01', '2026-01-01'])
    shown({ from: '2026-01-01' }, ['2026-01-01', '2026-01-30'])
    shown({ to: '2026-01-30' }, ['2026-01-01', '2026-01-30'])
    shown({ from: '2026-11-22', to: '2026-12-25' }, ['2026-11-22', '2026-11-25'])
  })

  t.test('the next and the previous range are as long, and months and this week stay whole', async (t) => {
    const cases: [range: Days, previous: Days, next: Days][] = [
      [
        ['2026-02-01', '2026-02-28'],
        ['2026-01-01', '2026-01-31'],
        ['2026-03-01', '2026-03-31'],
      ],
      [
        ['2025-04-01', '2025-06-30'],
        ['2025-01-01', '2025-03-31'],
        ['2025-07-01', '2025-09-30'],
      ],
      [
        ['2024-01-01', '2024-12-31'],
        ['2023-01-01', '2023-12-31'],
        ['2025-01-01', '2025-12-31'],
      ],
      [
        ['2026-03-02', '2026-03-08'],
        ['2026-02-23', '2026-03-01'],
        ['2026-03-09', '2026-03-15'],
      ],
      [
        ['2026-11-16', '2026-11-22'],
        ['2026-11-09', '2026-11-15'],
        ['2026-11-23', '2026-11-25'],
      ],
      [
        ['2026-11-23', '2026-11-25'],
        ['2026-11-16', '2026-11-22'],
        ['2026-11-30', '2026-12-06'],
      ],
      [
        ['2026-10-01', '2026-10-31'],
        ['2026-09-01', '2026-09-30'],
        ['2026-11-01', '2026-11-25'],
      ],
      [
        ['2026-11-01', '2026-11-25'],
        ['2026-10-01', '2026-10-31'],
        ['2026-12-01', '2026-12-31'],
      ],
    ]
    for (const [range, previous, next] of cases) {
      t.strictSame(shiftRange(toRange(range), -1), toRange(previous), `before ${range}`)
      t.strictSame(shiftRange(toRange(range), 1), toRange(next), `after ${range}`)
    }
  })

  t.test('a link to a named range moves with the days, and one to chosen days doesn’t', async (t) => {
    t.teardown(() => Reflect.deleteProperty(globalThis, 'location'))
    const copied = (asked: string, range: Range): string => {
      Object.assign(globalThis, { location: { href: `https://example.com/w/1${asked}` } })
      return linkTo(range, false)
    }
    const cases: [asked: string, link: string][] = [
      ['', '?range=30d'],
      ['?range=7d', '?range=7d'],
      ['?range=last-month&compare=none', '?compare=none&range=last-month'],
      ['?from=2026-03-02&to=2026-03-08', '?from=2026-03-02&to=2026-03-08'],
      ['?from=2026-10-01&to=2026-10-31&repo=acme%2Fweb', '?repo=acme%2Fweb&range=last-month'],
    ]
    for (const [asked, link] of cases) {
      const { range } = rangeOf(Object.fromEntries(new URLSearchParams(asked)))
      t.equal(copied(asked, range), `https://example.com/w/1${link}`)
    }
    const named: Record<string, Days> = {
      'this-week': ['2026-11-23', '2026-11-25'],
      'last-week': ['2026-11-16', '2026-11-22'],
      'this-month': ['2026-11-01', '2026-11-25'],
      'last-month': ['2026-10-01', '2026-10-31'],
      'this-quarter': ['2026-10-01', '2026-11-25'],
      'last-quarter': ['2026-07-01', '2026-09-30'],
    }
    t.equal(calendarRanges().length, Object.keys(named).length)
    for (const [range, days] of Object.entries(named)) {
      t.strictSame(rangeOf({ range }), { range: toRange(days) }, range)
      t.equal(copied('', toRange(days)), `https://example.com/w/1?range=${range}`)
    }
    // Links with these names have been shared.
    for (const [range, named] of [
      ['thisw', 'this-week'],
      ['lastw', 'last-week'],
    ] as const)
      t.strictSame(rangeOf({ range }), rangeOf({ range: named }), range)
  })
})
