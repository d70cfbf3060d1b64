import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import {
  Counts,
  hourOf,
  hoursAround,
  Marks,
  minutesAround,
  type Owned,
  type StoredHour,
  type Timeline,
  timelineOf,
  toStored,
} from '../src/features/editors/timeline.js'

/** An hour since 1970, and its first minute. */
const HOUR = 500_000
const FIRST = HOUR * 60
/** The longest gap that counts. */
const FARTHEST = 10
const HOURS = [HOUR, HOUR + 1, HOUR + 2]

const noTimeline = (): Timeline => ({ own: new Marks(), agents: new Marks() })

/** Heartbeats as a plain list. */
class MarksModel {
  private readonly heartbeats: { minute: number; time: number; project: string }[] = []

  mark(time: number, project: string): boolean {
    const minute = Math.floor(time / 60)
    const before = this.firstOf(minute)
    this.heartbeats.push({ minute, time, project })
    const after = this.firstOf(minute)
    return before?.time !== after?.time || before?.project !== after?.project
  }

  private firstOf(minute: number) {
    return this.heartbeats
      .filter((one) => one.minute === minute)
      .sort((a, b) => a.time - b.time || (a.project < b.project ? -1 : 1))[0]
  }

  /** Each minute that has a heartbeat, or lies between two that do, in order. */
  owned(): Owned[] {
    const marked = [...new Set(this.heartbeats.map(({ minute }) => minute))].sort((a, b) => a - b)
    return Array.from({ length: 200 }, (_, index) => FIRST - 10 + index).flatMap((minute) => {
      const own = this.firstOf(minute)
      if (own) return [{ minute, project: own.project, gap: 0 }]
      const earlier = marked.findLast((other) => other < minute)
      const later = marked.find((other) => other > minute)
      if (earlier === undefined || later === undefined || later - earlier > FARTHEST) return []
      return [{ minute, project: this.firstOf(earlier)?.project ?? '', gap: later - earlier }]
    })
  }

  hoursOf(project: string): number[] {
    const own = this.owned().filter((one) => one.gap === 0 && one.project === project)
    return [...new Set(own.map(({ minute }) => hourOf(minute)))].sort((a, b) => a - b)
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

const ALL = Array.from({ length: 200 }, (_, index) => FIRST - 10 + index)

const agree = (marks: Marks, model: MarksModel) => {
  deepStrictEqual([...marks.ownersOf(ALL)], model.owned())
  deepStrictEqual(
    [...marks.projects()].sort(),
    PROJECTS.filter((name) => model.hoursOf(name).length > 0).sort(),
  )
  for (const project of PROJECTS)
    deepStrictEqual(
      marks.hoursOf(project).sort((a, b) => a - b),
      model.hoursOf(project),
    )
}

t.test('whose a minute is follows from the set of heartbeats, in any order of arrival', async () => {
  fc.assert(
    fc.property(requests, (requests) => {
      const stored = new Map<number, StoredHour>()
      const [own, agents] = [new MarksModel(), new MarksModel()]
      const read = () => timelineOf([...stored.values()])
      for (const request of requests) {
        const timeline = read()
        const before = timeline.own.copy()
        const changed = new Set<number>()
        const minutes: number[] = []
        const ownedBefore = new Map(own.owned().map((one) => [one.minute, one]))
        for (const { minute, quarter, project, byAgent } of request) {
          const time = (FIRST + minute) * 60 + quarter / 4
          const [marks, model] = byAgent ? [timeline.agents, agents] : [timeline.own, own]
          const isChanged = marks.mark(time, project)
          deepStrictEqual(isChanged, model.mark(time, project))
          if (!isChanged) continue
          changed.add(hourOf(FIRST + minute))
          if (!byAgent) minutes.push(FIRST + minute)
        }
        const around = minutesAround(minutes)
        for (const one of own.owned()) {
          const known = ownedBefore.get(one.minute)
          if (known?.project !== one.project || known.gap !== one.gap)
            deepStrictEqual(around.has(one.minute), true, 'only minutes nearby change')
        }
        deepStrictEqual([...before.ownersOf(ALL)], [...ownedBefore.values()], 'a copy stays as it was')
        for (const hour of toStored(timeline, new Counts([]), changed)) stored.set(hour.hour, hour)
      }
      const timeline = read()
      agree(timeline.own, own)
      agree(timeline.agents, agents)
      for (const hour of toStored(timeline, new Counts([]), stored.keys()))
        deepStrictEqual(hour, stored.get(hour.hour), 'reading changes nothing')
    }),
    { numRuns: 150 },
  )
})

t.test('an order of heartbeats and repetitions of some lead to the same marks', async () => {
  const sets = fc
    .array(heartbeat, { minLength: 1, maxLength: 30 })
    .chain((sent) => fc.tuple(fc.constant(sent), fc.shuffledSubarray([...sent, ...sent], { minLength: 0 })))
  fc.assert(
    fc.property(sets, ([sent, more]) => {
      const marksOf = (list: typeof sent) => {
        const marks = new Marks()
        for (const { minute, quarter, project } of list)
          marks.mark((FIRST + minute) * 60 + quarter / 4, project)
        return [...marks.ownersOf(ALL)]
      }
      deepStrictEqual(marksOf([...more, ...sent]), marksOf(sent))
      deepStrictEqual(marksOf([...sent.toReversed(), ...more]), marksOf(sent))
    }),
    { numRuns: 150 },
  )
})

t.test('a minute counts once in a workspace, for one owner, until it’s taken out', async () => {
  const counting = fc.record({
    minute: fc.oneof(fc.integer({ min: 0, max: 130 }), fc.constantFrom(59, 60)),
    workspaces: fc.subarray(['w1', 'w2']),
    owner: fc.constantFrom('acme/a', 'acme/b'),
    isTakenOut: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(counting, { maxLength: 60 }), fc.nat(60), (list, readAgain) => {
      let counts = new Counts([])
      const stored = () => toStored(noTimeline(), counts, HOURS)
      const places = new Map<number, Set<string>>()
      const owners = new Map<number, string>()
      const check = () => {
        for (let minute = 0; minute <= 130; minute++) {
          const at = FIRST + minute
          const own = places.get(minute) ?? new Set()
          deepStrictEqual(
            ['w1', 'w2'].map((workspace) => counts.hasCountedIn(workspace, at)),
            ['w1', 'w2'].map((workspace) => own.has(workspace)),
          )
          deepStrictEqual(counts.workspacesOf(at).sort(), [...own].sort())
          deepStrictEqual(counts.ownerOf(at), owners.get(minute))
        }
      }
      for (const [index, { minute, workspaces, owner, isTakenOut }] of list.entries()) {
        if (index === readAgain) counts = new Counts(stored())
        if (isTakenOut) {
          counts.takeOut(FIRST + minute)
          places.delete(minute)
          owners.delete(minute)
        } else {
          counts.count(FIRST + minute, owner, workspaces)
          places.set(minute, new Set([...(places.get(minute) ?? []), ...workspaces]))
          owners.set(minute, owner)
        }
      }
      check()
      counts = new Counts(stored())
      check()
    }),
    { numRuns: 60 },
  )
})

t.test('all minutes of a UTC hour count in the local hour for which the first was recorded', async (t) => {
  const counts = new Counts([])
  t.equal(counts.knownLocalHourOf(HOUR), undefined)
  t.equal(
    counts.localHourOf(FIRST + 59, (hour) => hour + 9),
    HOUR + 9,
  )
  t.equal(
    counts.localHourOf(FIRST, (hour) => hour - 8),
    HOUR + 9,
  )
  t.equal(
    counts.localHourOf(FIRST + 60, (hour) => hour - 8),
    HOUR - 7,
  )
  const read = new Counts(toStored(noTimeline(), counts, HOURS))
  t.same(
    HOURS.map((hour) => read.knownLocalHourOf(hour)),
    [HOUR + 9, HOUR - 7, undefined],
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

t.test('an hour is stored with the time of each minute’s earliest heartbeat', async (t) => {
  const timeline = noTimeline()
  timeline.own.mark((FIRST + 60) * 60, 'docs')
  timeline.own.mark(FIRST * 60 + 5, 'web')
  timeline.own.mark((FIRST + 2) * 60 + 59.5, 'api')
  timeline.own.mark((FIRST + 2) * 60 + 0.256, 'web')
  timeline.agents.mark((FIRST + 62) * 60, 'api')
  const counts = new Counts([])
  counts.count(FIRST, 'acme/web', ['w'])
  counts.count(FIRST + 1, 'acme/web', ['w'])
  counts.count(FIRST + 2, 'acme/api', ['x'])
  counts.localHourOf(FIRST, (hour) => hour + 2)
  t.strictSame(toStored(timeline, counts, [HOUR + 1, HOUR]), [
    {
      hour: HOUR,
      projects: ['web'],
      marks: [bits(0, 2)],
      firstAt: [500, 25],
      localHour: HOUR + 2,
      countedIn: ['w', 'x'],
      counted: [bits(0, 1), bits(2)],
      countedRepos: ['acme/web', 'acme/api'],
      countedFor: [bits(0, 1), bits(2)],
      agentProjects: null,
      agentMarks: null,
      agentFirstAt: null,
    },
    {
      hour: HOUR + 1,
      projects: ['docs'],
      marks: [bits(0)],
      firstAt: [0],
      localHour: null,
      countedIn: [],
      counted: [],
      countedRepos: [],
      countedFor: [],
      agentProjects: ['api'],
      agentMarks: [bits(2)],
      agentFirstAt: [0],
    },
  ])
})

t.test('nothing comes before a mark of version 1.0.0, whose time is unknown', async (t) => {
  const old: StoredHour = {
    hour: HOUR,
    projects: ['web'],
    marks: [bits(3, 4)],
    firstAt: null,
    localHour: null,
    countedIn: ['w'],
    counted: [bits(3)],
    countedRepos: null,
    countedFor: null,
    agentProjects: ['web'],
    agentMarks: [bits(3)],
    agentFirstAt: null,
  }
  // An instance of version 1.0.0 added a mark without its time.
  for (const firstAt of [null, [100]]) {
    const timeline = timelineOf([{ ...old, firstAt }])
    const counts = new Counts([{ ...old, firstAt }])
    t.equal(timeline.own.mark((FIRST + 3) * 60, 'api'), false)
    t.equal(timeline.agents.mark((FIRST + 3) * 60, 'api'), false)
    t.same(timeline.own.ownerOf(FIRST + 4), { minute: FIRST + 4, project: 'web', gap: 0 })
    t.ok(counts.hasCountedIn('w', FIRST + 3))
    t.equal(counts.ownerOf(FIRST + 3), undefined, 'for which repository is not known')
    t.notOk(counts.hasCountedIn('w', FIRST + 4))
    timeline.own.mark((FIRST + 5) * 60 + 1, 'api')
    t.strictSame(toStored(timeline, counts, [HOUR])[0]?.firstAt, [-1, -1, 100])
  }
})
