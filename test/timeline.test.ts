import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import {
  type Candidate,
  Counts,
  hourOf,
  hoursAround,
  type Marks,
  type StoredHour,
  Timeline,
  toStored,
} from '../src/features/editors/timeline.js'

/** An hour since 1970, and its first minute. */
const HOUR = 500_000
const FIRST = HOUR * 60
/** The longest gap that counts. */
const FARTHEST = 10

/** Marks as a plain table of minutes. */
class MarksModel {
  private readonly table = new Map<number, { first: string; last: string; lastAt: number }>()

  mark(time: number, project: string): 'new' | 'changed' | 'unchanged' {
    const minute = Math.floor(time / 60)
    const known = this.table.get(minute)
    if (!known) {
      this.table.set(minute, { first: project, last: project, lastAt: time })
      return 'new'
    }
    if (time <= known.lastAt) return 'unchanged'
    Object.assign(known, { last: project, lastAt: time })
    return 'changed'
  }

  get minutes(): number[] {
    return [...this.table.keys()].sort((a, b) => a - b)
  }

  before(minute: number): number | undefined {
    return this.minutes.findLast((other) => other < minute && minute - other <= FARTHEST)
  }

  lastOf = (minute: number | undefined) => (minute === undefined ? undefined : this.table.get(minute)?.last)

  /** Each minute of three hours that is marked, or lies between two marks, in order. */
  candidates(): (Candidate & { neighbors: number[] })[] {
    return Array.from({ length: 200 }, (_, index) => FIRST - 10 + index).flatMap((minute) => {
      const marked = this.table.get(minute)
      if (marked) return [{ minute, project: marked.first, gap: 0, neighbors: [minute] }]
      const earlier = this.minutes.findLast((other) => other < minute)
      const later = this.minutes.find((other) => other > minute)
      const project = this.lastOf(earlier)
      if (earlier === undefined || later === undefined || project === undefined) return []
      const gap = later - earlier
      return gap <= FARTHEST ? [{ minute, project, gap, neighbors: [earlier, later] }] : []
    })
  }

  hoursOf(project: string): number[] {
    const own = [...this.table].filter(([, { first, last }]) => first === project || last === project)
    return [...new Set(own.map(([minute]) => hourOf(minute)))].sort((a, b) => a - b)
  }
}

const PROJECTS = ['web', 'api', 'docs']

/** Quarters of a second have the same value in every arithmetic. */
const heartbeat = fc.record({
  minute: fc.oneof(fc.integer({ min: 0, max: 179 }), fc.integer({ min: 50, max: 70 })),
  quarter: fc.oneof(fc.integer({ min: 0, max: 239 }), fc.constantFrom(0, 1, 239)),
  project: fc.constantFrom(...PROJECTS),
  byAgent: fc.integer({ min: 0, max: 3 }).map((number) => number === 0),
})
/** Some requests, one after the other. */
const requests = fc.array(fc.array(heartbeat, { maxLength: 12 }), { minLength: 1, maxLength: 5 })

const inOrder = (candidates: Iterable<Candidate>) => [...candidates].sort((a, b) => a.minute - b.minute)
const plain = (candidates: (Candidate & { neighbors: number[] })[]) =>
  candidates.map(({ neighbors: _, ...candidate }) => candidate)

const agree = (marks: Marks, model: MarksModel) => {
  deepStrictEqual([...marks.all()], plain(model.candidates()))
  deepStrictEqual(
    [...marks.projects()].sort(),
    PROJECTS.filter((name) => model.hoursOf(name).length > 0).sort(),
  )
  for (const project of PROJECTS) deepStrictEqual(marks.hoursOf(project), model.hoursOf(project))
  for (let minute = FIRST - 1; minute < FIRST + 200; minute++)
    deepStrictEqual(marks.projectBefore(minute), model.lastOf(model.before(minute)))
}

t.test(
  'marks and the minutes between them match a minute-by-minute model, in any order of arrival',
  async () => {
    fc.assert(
      fc.property(requests, (requests) => {
        const stored = new Map<number, StoredHour>()
        const [own, agents] = [new MarksModel(), new MarksModel()]
        const read = () => new Timeline([...stored.values()].sort((a, b) => a.hour - b.hour))
        for (const request of requests) {
          const before = read()
          const timeline = before.copy()
          const changed = new Set<number>()
          const fresh = { own: new Set<number>(), agents: new Set<number>() }
          for (const { minute, quarter, project, byAgent } of request) {
            const time = (FIRST + minute) * 60 + quarter / 4
            const [marks, model] = byAgent ? [timeline.agents, agents] : [timeline, own]
            const mark = marks.mark(time, project)
            deepStrictEqual(mark, model.mark(time, project))
            if (mark === 'new') fresh[byAgent ? 'agents' : 'own'].add(FIRST + minute)
            if (mark !== 'unchanged') changed.add(hourOf(FIRST + minute))
          }
          for (const [marks, model, minutes] of [
            [timeline, own, fresh.own],
            [timeline.agents, agents, fresh.agents],
          ] as const)
            deepStrictEqual(
              inOrder(marks.around(minutes)),
              plain(
                model.candidates().filter(({ neighbors }) => neighbors.some((other) => minutes.has(other))),
              ),
            )
          deepStrictEqual(before, read(), 'marking a copy changes only the copy')
          for (const hour of toStored(timeline, new Counts([]), changed)) stored.set(hour.hour, hour)
        }
        const timeline = read()
        agree(timeline, own)
        agree(timeline.agents, agents)
        for (const hour of toStored(timeline, new Counts([]), stored.keys()))
          deepStrictEqual(hour, stored.get(hour.hour), 'reading changes nothing')
      }),
      { numRuns: 150 },
    )
  },
)

t.test('a minute counts once in a workspace, and for one repository everywhere', async () => {
  const counting = fc.record({
    minute: fc.oneof(fc.integer({ min: 0, max: 130 }), fc.constantFrom(59, 60)),
    workspace: fc.constantFrom('w1', 'w2'),
    repo: fc.constantFrom('acme/a', 'acme/b'),
  })
  fc.assert(
    fc.property(fc.array(counting, { maxLength: 60 }), fc.integer({ min: 0, max: 60 }), (list, readAgain) => {
      const stored = new Map<number, StoredHour>()
      const store = (counts: Counts) => {
        const hours = [HOUR, HOUR + 1, HOUR + 2]
        for (const hour of toStored(new Timeline([]), counts, hours)) stored.set(hour.hour, hour)
      }
      let counts = new Counts([])
      const counted = new Map<string, string>()
      const check = () => {
        for (let minute = 0; minute <= 130; minute++) {
          const at = FIRST + minute
          const places = ['w1', 'w2'].map((workspace) => counted.get(`${workspace} ${minute}`))
          const repo = places.find((place) => place !== undefined)
          deepStrictEqual(
            ['w1', 'w2'].map((workspace) => counts.hasCounted(workspace, at)),
            places.map((place) => place !== undefined),
          )
          deepStrictEqual(counts.hasCountedAnywhere(at), repo !== undefined)
          for (const other of ['acme/a', 'acme/b'])
            deepStrictEqual(counts.canCountFor(other, at), repo === undefined || repo === other)
        }
      }
      for (const [index, { minute, workspace, repo }] of list.entries()) {
        if (index === readAgain) {
          store(counts)
          counts = new Counts([...stored.values()])
        }
        if (!counts.canCountFor(repo, FIRST + minute)) continue
        counts.count(workspace, FIRST + minute, repo)
        counted.set(`${workspace} ${minute}`, repo)
      }
      check()
      store(counts)
      counts = new Counts([...stored.values()])
      const copy = counts.copy()
      copy.count('w3', FIRST, 'acme/c')
      check()
      deepStrictEqual(counts.hasCounted('w3', FIRST), false, 'counting in a copy changes only the copy')
    }),
    { numRuns: 60 },
  )
})

t.test('only hours with a minute at most ten minutes away are read', async () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 600 }), { maxLength: 5 }), (minutes) => {
      const near = new Set<number>()
      for (const minute of minutes)
        for (let other = minute - FARTHEST; other <= minute + FARTHEST; other++)
          near.add(hourOf(FIRST + other))
      deepStrictEqual(
        hoursAround(minutes.map((minute) => FIRST + minute)),
        [...near].sort((a, b) => a - b),
      )
    }),
  )
})

const bits = (...minutes: number[]) =>
  Array.from({ length: 60 }, (_, minute) => (minutes.includes(minute) ? '1' : '0')).join('')

t.test('an hour is stored in a format that earlier versions can read', async (t) => {
  const timeline = new Timeline([])
  timeline.mark((FIRST + 60) * 60, 'docs')
  timeline.mark(FIRST * 60 + 5, 'web')
  timeline.mark((FIRST + 2) * 60 + 0.256, 'web')
  timeline.mark((FIRST + 2) * 60 + 59.5, 'api')
  timeline.agents.mark((FIRST + 62) * 60, 'api')
  const counts = new Counts([])
  counts.count('w', FIRST, 'acme/web')
  counts.count('w', FIRST + 1, 'acme/web')
  counts.count('x', FIRST + 2, 'acme/api')
  t.strictSame(toStored(timeline, counts, [HOUR + 1, HOUR]), [
    {
      hour: HOUR,
      projects: ['web', 'api'],
      marks: [bits(0, 2), bits()],
      lastMarks: [bits(0), bits(2)],
      lastAt: [500, 5_950],
      countedIn: ['w', 'x'],
      counted: [bits(0, 1), bits(2)],
      countedRepos: ['acme/web', 'acme/api'],
      countedFor: [bits(0, 1), bits(2)],
      agentProjects: null,
      agentMarks: null,
      agentLastMarks: null,
      agentLastAt: null,
    },
    {
      hour: HOUR + 1,
      projects: ['docs'],
      marks: [bits(0)],
      lastMarks: null,
      lastAt: [0],
      countedIn: [],
      counted: [],
      countedRepos: [],
      countedFor: [],
      agentProjects: ['api'],
      agentMarks: [bits(2)],
      agentLastMarks: null,
      agentLastAt: [0],
    },
  ])
})

t.test(
  'in an hour that an earlier version stored, nothing is added after a mark whose time is unknown',
  async (t) => {
    const old: StoredHour = {
      hour: HOUR,
      projects: ['web'],
      marks: [bits(3, 4)],
      lastMarks: null,
      lastAt: null,
      countedIn: ['w'],
      counted: [bits(3)],
      countedRepos: null,
      countedFor: null,
      agentProjects: ['web'],
      agentMarks: [bits(3)],
      agentLastMarks: null,
      agentLastAt: null,
    }
    // An instance of an earlier version added a mark without its time.
    for (const lastAt of [null, [100]]) {
      const timeline = new Timeline([{ ...old, lastAt }])
      const counts = new Counts([{ ...old, lastAt }])
      t.equal(timeline.mark((FIRST + 3) * 60 + 59.99, 'api'), 'unchanged')
      t.equal(timeline.agents.mark((FIRST + 3) * 60 + 59.99, 'api'), 'unchanged')
      t.equal(timeline.projectBefore(FIRST + 4), 'web')
      t.ok(counts.hasCounted('w', FIRST + 3))
      t.ok(counts.canCountFor('acme/any', FIRST + 3), 'for which repository is not known')
      t.notOk(counts.hasCounted('w', FIRST + 4))
      timeline.mark((FIRST + 5) * 60, 'api')
      t.strictSame(toStored(timeline, counts, [HOUR])[0]?.lastAt, [6_000, 6_000, 0])
    }
  },
)
