import fc from 'fast-check'
import t from 'tap'
import { addTo, capMinutes, type Minutes, noMinutes } from '../src/features/minutes/caps.js'

const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0)

const minutesIn = (parts: Iterable<{ minutes: number }>) => sum(Array.from(parts, ({ minutes }) => minutes))

/** A day's minutes so far, and those that are added to them, by repository. */
const newDay = (total = noMinutes()) => ({ total, added: new Map<string, Minutes>() })
type Day = ReturnType<typeof newDay>

const add = (day: Day, repo: string, minutes: number, byHour: Record<string, number> = {}) => {
  const hours = Array.from({ length: 24 }, (_, hour) => byHour[hour] ?? 0)
  const { counted, cut } = capMinutes(day.total, minutes, hours)
  addTo(day.total, counted.minutes, counted.hours)
  if (counted.minutes > 0) {
    const known = day.added.get(repo) ?? noMinutes()
    addTo(known, counted.minutes, counted.hours)
    day.added.set(repo, known)
  }
  return cut
}

const entry = fc
  .record({
    repo: fc.constantFrom('acme/a', 'acme/b', 'acme/c'),
    hours: fc.dictionary(fc.integer({ min: 0, max: 23 }).map(String), fc.integer({ min: 0, max: 60 }), {
      maxKeys: 24,
    }),
    unplaced: fc.integer({ min: 0, max: 700 }),
  })
  .map(({ repo, hours, unplaced }) => ({
    repo,
    hours: { ...hours },
    minutes: Math.max(sum(Object.values(hours)), Math.min(1_440, sum(Object.values(hours)) + unplaced)),
  }))

/** The caps, applied minute by minute. Each minute checks whether its hour and its day are full. */
const minuteByMinute = (entries: { repo: string; minutes: number; hours: Record<string, number> }[]) => {
  const hourTotals = new Map<string, number>()
  const repos: Record<string, { minutes: number; hours: number[] }> = {}
  let total = 0
  for (const { repo, minutes, hours } of entries) {
    // The earliest hours have the first claim on what is left of the day, minutes without an hour the last.
    const kept: (string | undefined)[] = []
    for (const hour of Object.keys(hours).sort((a, b) => Number(a) - Number(b))) {
      for (let minute = 0; minute < (hours[hour] ?? 0); minute++) {
        const inHour = hourTotals.get(hour) ?? 0
        if (inHour >= 60 || total + kept.length >= 1_440) continue
        hourTotals.set(hour, inHour + 1)
        kept.push(hour)
      }
    }
    for (let minute = sum(Object.values(hours)); minute < minutes; minute++) {
      if (total + kept.length < 1_440) kept.push(undefined)
    }
    if (kept.length === 0) continue
    repos[repo] ??= { minutes: 0, hours: new Array(24).fill(0) }
    const counted = repos[repo]
    counted.minutes += kept.length
    for (const hour of kept) {
      if (hour !== undefined) counted.hours[Number(hour)] = (counted.hours[Number(hour)] ?? 0) + 1
    }
    total += kept.length
  }
  return repos
}

t.test('the caps cut the same minutes as a minute-by-minute count', async () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 30 }), (entries) => {
      const day = newDay()
      const cuts = entries.map(({ repo, minutes, hours }) => add(day, repo, minutes, hours))
      const [total, asked] = [minutesIn(day.added.values()), minutesIn(entries)]
      const counted = Object.fromEntries(
        [...day.added].map(([repo, { minutes, hours }]) => [repo, { minutes, hours: [...hours] }]),
      )
      const model = minuteByMinute(entries)
      const sorted = (repos: object) =>
        JSON.stringify(Object.entries(repos).sort(([a], [b]) => (a < b ? -1 : 1)))
      return sorted(counted) === sorted(model) && cuts.some((cut) => cut !== 'none') === total < asked
    }),
    { numRuns: 300 },
  )
})

t.test('a cut entry says which cap cut it, and names the hourly cap if both did', async (t) => {
  const day = newDay()
  t.equal(add(day, 'acme/a', 60, { 9: 60 }), 'none')
  t.equal(add(day, 'acme/a', 1, { 9: 1 }), 'hour_full')
  t.equal(add(day, 'acme/b', 1_380), 'none')
  t.equal(add(day, 'acme/b', 1), 'day_full')
  t.equal(add(day, 'acme/b', 2, { 9: 1 }), 'hour_full')
})

/** The minutes of some repositories together. */
const inAll = (repos: Iterable<Minutes>): Minutes => {
  const total = noMinutes()
  for (const { minutes, hours } of repos) {
    total.minutes += minutes
    total.hours = total.hours.map((sum, hour) => sum + (hours[hour] ?? 0))
  }
  return total
}

t.test('a stored and reloaded day equals one that stayed in memory', async () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 12 }), fc.array(entry, { maxLength: 12 }), (first, second) => {
      const whole = newDay()
      for (const { repo, minutes, hours } of [...first, ...second]) add(whole, repo, minutes, hours)
      const begun = newDay()
      for (const { repo, minutes, hours } of first) add(begun, repo, minutes, hours)
      const continued = newDay(inAll(begun.added.values()))
      for (const { repo, minutes, hours } of second) add(continued, repo, minutes, hours)
      return [...whole.added].every(([repo, expected]) => {
        const parts = [begun, continued].flatMap(({ added }) => added.get(repo) ?? [])
        return JSON.stringify(inAll(parts)) === JSON.stringify(expected)
      })
    }),
  )
})
