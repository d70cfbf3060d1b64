import t from 'tap'
import { type Rule, rules } from '../src/features/rollups/choose-shown.js'
import { type PublishedWeek, publishWeek, type Work } from '../src/features/rollups/published-week.js'
import { findHole, type Unknown } from './adversary.js'
import { hasMembers } from './has-members.js'

/** Numbers from 0 to below 1, the same in every run. */
const randomOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
}

const measures = ['minutes', 'commits', 'closedIssues'] as const

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
          commits: random() < density ? below(3) : 0,
          closedIssues: random() < density / 2 ? 1 : 0,
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
      const cellsOfUnknowns =
        measure === 'minutes' ? cells.map(({ cell }) => cell) : work[measure] > 0 ? [undefined] : []
      return cellsOfUnknowns.map((cell) => ({
        person: userId === null ? null : people.indexOf(userId),
        equations: parts.flatMap((isPart, index) => (isPart({ day, repoKey, cell }) ? index : [])),
      }))
    })
    const hole = findHole(unknowns, parts.length, group)
    if (hole) return `${measure} of ${hole}`
  }
  return undefined
}

t.test('no combination of what is published is about fewer people than the group', async (t) => {
  const shown = { totals: 0, days: 0, repos: 0, cells: 0, everything: 0 }
  for (let seed = 0; seed < 10_000; seed++) {
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
  for (const [part, weeks] of Object.entries(shown)) t.ok(weeks > 500, `${part}: ${weeks}`)
})

t.test('commits that an admin uploads for all but one tell nothing of that one', (t) => {
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
          commits: counted.includes(userId) ? 1 : 0,
          closedIssues: 0,
          cells: [],
        }))
        .filter(({ minutes, commits }) => minutes + commits > 0),
      3,
    )
  const week = weekWithout('ada')
  hasMembers(t, week.repos, [{ repoKey: 'acme/api', minutes: 40, commits: 4 }])
  t.strictSame(weekWithout('bob'), week)
  t.end()
})

for (const rule of rules)
  t.test(`without the rule “${rule}” an adversary succeeds`, async (t) => {
    const others = rules.filter((other) => other !== rule)
    for (let seed = 0; seed < 10_000; seed++) {
      const { works, group } = makeWeek(randomOf(seed))
      if (attack(works, group, publish(works, group, others))) return t.pass()
    }
    t.fail('no team was found')
  })
