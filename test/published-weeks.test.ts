import t from 'tap'
import { countNames, perCount } from '../schemas/counts.js'
import { type Rule, rules } from '../src/features/rollups/choose-shown.js'
import {
  finish,
  type PublishedWeek,
  publishWeek,
  type ShownSums,
  type Work,
} from '../src/features/rollups/published-week.js'
import { findHole, type Unknown } from './adversary.js'
import { hasProperties } from './has-properties.js'

/** Mutants are tested on fewer teams. */
const TEAMS = Number(process.env.RANDOM_TEAMS ?? 1_000)

/** Numbers from 0 to below 1, the same in every run. */
const randomOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
}

const measures = ['minutes', ...countNames] as const
const noCounts = perCount(() => 0)

const publish = (works: Work[], group: number, given: readonly Rule[] = rules): PublishedWeek => {
  const work = publishWeek(works, group, given)
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value
}

/** A week of a small team: from one in which all work alike to one in which hardly two meet. */
const makeWeek = (random: () => number): { works: Work[]; group: number } => {
  const below = (limit: number) => Math.floor(random() * limit)
  const [people, days, repos, hours] = [3 + below(7), 1 + below(4), 2 + below(4), 1 + below(3)]
  const density = [0.15, 0.4, 0.7, 0.95, 1][below(5)] ?? 1
  const withErased = random() < 0.2
  const works: Work[] = []
  for (let person = 0; person < people; person++) {
    // Some live ahead, so that their cells lie on another day than those of the others.
    const ahead = random() < 0.2 ? 24 : 0
    const ownRepo = random() < 0.3 ? below(repos) : undefined
    for (let day = 0; day < days; day++)
      for (let repo = 0; repo < repos; repo++) {
        if (random() > density || (ownRepo !== undefined && repo !== ownRepo && random() < 0.8)) continue
        const cells = Array.from({ length: hours }, (_, hour) => ({
          cell: (day * 24 + hour + ahead) % 168,
          minutes: random() < density ? 1 + below(60) : 0,
        })).filter(({ minutes }) => minutes > 0)
        works.push({
          userId: withErased && person === 0 ? null : `person-${person}`,
          day,
          repoKey: `acme/r${repo}`,
          // The adversary knows that all minutes have hours.
          minutes: cells.reduce((sum, cell) => sum + cell.minutes, 0),
          ...perCount((count) => {
            if (count === 'commits') return random() < density ? below(3) : 0
            return random() < density / 2 ? 1 : 0
          }),
          cells,
        })
      }
  }
  return { works, group: 3 + below(3) }
}

/** Fewer people than the group, of whom what is published of a measure tells. */
const attack = (works: Work[], group: number, week: PublishedWeek): string | undefined => {
  const people = [...new Set(works.map(({ userId }) => userId))].filter((userId) => userId !== null)
  for (const measure of measures) {
    type Place = { day: number; repoKey: string; cell: number | undefined }
    const parts: ((place: Place) => boolean)[] = []
    if (week[measure] !== null) parts.push(() => true)
    for (const shown of week.days) if (shown[measure] !== null) parts.push(({ day }) => day === shown.day)
    for (const shown of week.repos)
      if (shown[measure] !== null) parts.push(({ repoKey }) => repoKey === shown.repoKey)
    if (measure === 'minutes') for (const shown of week.cells) parts.push(({ cell }) => cell === shown.cell)
    const unknowns = works.flatMap(({ userId, day, repoKey, cells, ...work }): Unknown[] => {
      const unknownCells =
        measure === 'minutes' ? cells.map(({ cell }) => cell) : work[measure] > 0 ? [undefined] : []
      return unknownCells.map((cell) => ({
        person: userId === null ? null : people.indexOf(userId),
        equations: parts.flatMap((isPart, index) => (isPart({ day, repoKey, cell }) ? index : [])),
      }))
    })
    const hole = findHole(unknowns, parts.length, group)
    if (hole) return `${measure} of ${hole}`
  }
  return undefined
}

t.test('no combination of published numbers is about fewer people than the group', async (t) => {
  const shown = { totals: 0, days: 0, repos: 0, cells: 0, everything: 0 }
  for (let seed = 0; seed < TEAMS; seed++) {
    const { works, group } = makeWeek(randomOf(seed))
    const week = publish(works, group)
    const hole = attack(works, group, week)
    if (hole) return t.fail(`${hole} in team ${seed}`)
    if (week.minutes !== null) shown.totals++
    if (week.days.length > 0) shown.days++
    if (week.repos.length > 1) shown.repos++
    if (week.cells.length > 0) shown.cells++
    if (week.days.length > 0 && week.repos.length > 1 && week.cells.length > 1) shown.everything++
  }
  // A service that published nothing would pass as well.
  for (const [part, weeks] of Object.entries(shown)) t.ok(weeks > TEAMS / 20, `${part}: ${weeks}`)
})

t.test('every number shown is the plain sum of its part of the week', async (t) => {
  const sum = (works: Work[], measure: (typeof measures)[number]) =>
    works.reduce((total, work) => total + work[measure], 0)
  const peopleIn = (works: Work[]) =>
    new Set(works.flatMap(({ userId, minutes }) => (userId !== null && minutes > 0 ? [userId] : []))).size
  const sumsOf = (shown: ShownSums, works: Work[]) => ({
    minutes: shown.minutes === null ? null : sum(works, 'minutes'),
    ...perCount((count) => (shown[count] === null ? null : sum(works, count))),
    activeMembers: shown.minutes === null ? null : peopleIn(works),
  })
  const hidden = { minutes: null, ...perCount(() => null), activeMembers: null }
  for (let seed = 0; seed < 200; seed++) {
    const { works, group } = makeWeek(randomOf(seed))
    // These have minutes without an hour.
    for (const work of works) if (work.repoKey === 'acme/r1') work.minutes += 7
    const week = publish(works, group)
    const isPublished = peopleIn(works) >= group
    t.equal(week.minutes !== null, isPublished)
    if (!isPublished) {
      t.strictSame(week, { ...hidden, days: [], repos: [], cells: [] })
      continue
    }
    const ofDay = (day: number) => works.filter((work) => work.day === day)
    const ofRepo = (repoKey: string) => works.filter((work) => work.repoKey === repoKey)
    const ofCell = (cell: number) =>
      works.flatMap(({ cells }) => cells.flatMap((part) => (part.cell === cell ? part.minutes : [])))
    t.strictSame(week, {
      ...sumsOf(week, works),
      days: week.days.map((shown) => ({ day: shown.day, ...sumsOf(shown, ofDay(shown.day)) })),
      repos: week.repos.map((shown) => ({ repoKey: shown.repoKey, ...sumsOf(shown, ofRepo(shown.repoKey)) })),
      cells: week.cells.map(({ cell }) => ({
        cell,
        minutes: ofCell(cell).reduce((total, minutes) => total + minutes, 0),
      })),
    })
    t.ok(week.days.length === 0 || week.days.length === 7)
    for (const shown of [...week.days, ...week.repos])
      t.ok(
        measures.some((measure) => shown[measure] !== null),
        'nothing is listed without a number',
      )
  }
})

for (const measure of measures)
  t.test(`repositories are listed if ${measure} is the only measure that can be shown`, async (t) => {
    const nothing = { minutes: 0, ...noCounts }
    const everything = { minutes: 1, ...perCount(() => 1) }
    const works = ['ada', 'bob', 'cleo', 'dan'].flatMap((userId): Work[] => {
      const only = userId === 'ada' ? everything : nothing
      const place = { userId, day: 0, cells: [] }
      return [
        { ...place, repoKey: 'acme/main', ...everything },
        { ...place, repoKey: 'acme/docs', ...only, [measure]: 1 },
      ]
    })
    const { repos } = publish(works, 3)
    const shown = { minutes: null, ...perCount(() => null), [measure]: 4 }
    const activeMembers = measure === 'minutes' ? 4 : null
    t.strictSame(repos, [
      { repoKey: 'acme/main', ...shown, activeMembers },
      { repoKey: 'acme/docs', ...shown, activeMembers },
    ])
  })

/** Everyone's minutes in a repository, one a person, in a cell of the first day or without an hour. */
const minutesOf = (repoKey: string, people: string[], cell?: number): Work[] =>
  people.map((userId) => ({
    userId,
    day: 0,
    repoKey,
    minutes: 1,
    ...noCounts,
    cells: cell === undefined ? [] : [{ cell, minutes: 1 }],
  }))

t.test(
  'a week with as many people as the minimum group is published, and one with fewer is hidden',
  async (t) => {
    const works = minutesOf('acme/api', ['ada', 'bob', 'cleo'], 9)
    const { minutes, activeMembers, repos, days, cells } = publish(works, 3)
    t.strictSame([minutes, activeMembers, repos.length, days.length], [3, 3, 1, 7])
    t.strictSame(cells, [{ cell: 9, minutes: 3 }])
    t.strictSame(publish(works, 4).minutes, null)
  },
)

t.test('the repository with the fewest people is hidden first, then the last by name', async (t) => {
  const people = ['ada', 'bob', 'cleo', 'dan', 'eve']
  const few = minutesOf('acme/few', people.slice(0, 2))
  const [large, small] = [minutesOf('acme/z', people), minutesOf('acme/a', people.slice(1))]
  const [first, last] = [minutesOf('acme/a', people.slice(0, 4)), minutesOf('acme/b', people.slice(1))]
  const shown = (...repos: Work[][]) =>
    publish([...few, ...repos.flat()], 3).repos.map(({ repoKey }) => repoKey)
  t.strictSame([shown(large, small), shown(small, large)], [['acme/z'], ['acme/z']])
  t.strictSame([shown(first, last), shown(last, first)], [['acme/a'], ['acme/a']])
})

t.test('cells linked to the rest by too few people are hidden, and others aren’t', async (t) => {
  const people = ['ada', 'bob', 'cleo']
  const { cells, days } = publish(
    [
      ...minutesOf('acme/api', people, 10),
      ...minutesOf('acme/api', people),
      ...['dan', 'eve', 'fay'].flatMap((userId) => minutesOf(`${userId}/own`, [userId], 11)),
      ...minutesOf('acme/api', ['dan'], 11),
    ],
    3,
  )
  t.strictSame(cells, [{ cell: 10, minutes: 3 }])
  t.equal(days.length, 7)
})

t.test('a large week is computed with pauses in which other requests run', async (t) => {
  const works = Array.from({ length: 12_000 }, (_, index): Work => {
    const [person, day, repo] = [index % 40, index % 7, index % 13]
    const sums = { minutes: 2, ...perCount(() => 1), cells: [{ cell: day * 24, minutes: 1 }] }
    return { userId: `person-${person}`, day, repoKey: `acme/r${repo}`, ...sums }
  })
  let pauses = 0
  const week = await finish(publishWeek(works, 5), async () => pauses++)
  t.strictSame(week, publish(works, 5))
  t.ok(pauses > 50 && pauses < 500, `${pauses} pauses`)
})

t.test('commits that an admin uploads for everyone but one person reveal nothing about that person', (t) => {
  const people = ['ada', 'bob', 'cleo', 'dan', 'eve']
  const counted = people.slice(1)
  const weekWithout = (absent: string) =>
    publish(
      people
        .map((userId) => ({
          userId,
          day: 0,
          repoKey: 'acme/api',
          minutes: userId === absent ? 0 : 10,
          ...noCounts,
          commits: counted.includes(userId) ? 1 : 0,
          cells: [],
        }))
        .filter(({ minutes, commits }) => minutes + commits > 0),
      3,
    )
  const week = weekWithout('ada')
  hasProperties(t, week.repos, [{ repoKey: 'acme/api', minutes: 40, commits: 4 }])
  t.strictSame(weekWithout('bob'), week)
  t.end()
})

t.test('commits uploaded for others don’t reveal whether a few people worked in a repository', async (t) => {
  const repoKey = 'acme/probed'
  let listed = 0
  for (let seed = 0; seed < TEAMS; seed++) {
    const random = randomOf(seed)
    const { works, group } = makeWeek(random)
    const below = (limit: number) => Math.floor(random() * limit)
    const people = Array.from({ length: 2 + group }, (_, n) => `person-${n}`)
    // Each number of uploads beside each number of workers that's too small to show.
    const uploads = people
      .slice(0, below(people.length + 1))
      .map((userId): Work => ({ userId, day: 0, repoKey, minutes: 0, ...noCounts, commits: 1, cells: [] }))
    const workers = people.slice(below(people.length - group)).slice(0, 1 + below(group - 1))
    const entryWith = (more: Work[]) =>
      publish([...works, ...uploads, ...more], group).repos.find((repo) => repo.repoKey === repoKey)
    const entries = [entryWith([]), entryWith(minutesOf(repoKey, workers))].filter((entry) => entry)
    for (const entry of entries)
      t.hasStrict(entry, { minutes: null, activeMembers: null, closed_issues: null })
    for (const entry of entries) t.equal(entry?.commits, uploads.length)
    listed += entries.length
  }
  t.ok(listed > TEAMS / 20, `${listed}`)
})

for (const rule of rules)
  t.test(`without the rule “${rule}”, an adversary succeeds`, async (t) => {
    const others = rules.filter((other) => other !== rule)
    for (let seed = 0; seed < TEAMS; seed++) {
      const { works, group } = makeWeek(randomOf(seed))
      if (attack(works, group, publish(works, group, others))) return t.pass()
    }
    t.fail('no team was found')
  })
