/** Random work of people who travel, compared with a model that knows only the local day of each minute. */
import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { DELETED_LOGIN } from '../src/features/accounts/deleted-user.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays, HOURS, listDays, mondayOf, weekdayOf } from '../src/platform/time/days.js'
import { recount, shownCells, shownRows, toLocal, toldBy, type WorkRow, wallClock } from './local-model.js'
import { type Caller, type Service, startService } from './service.js'
import { until } from './until.js'

const MIN_GROUP = 3
/** The one with the index 0 administers the workspaces. The last one deletes the account in the end. */
const PEOPLE = 5
const GONE = PEOPLE - 1
/** How many days hours are kept. */
const DETAIL_DAYS = 100
const HOUR_SECONDS = 3_600

const ZONES = [
  'UTC',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
  'Pacific/Niue',
  'Europe/Berlin',
  'America/New_York',
  'America/Los_Angeles',
]
const WAKATIME = '/api/wakatime/v1/users/current'

/** Minutes of a person in a UTC hour, or on a day without an hour. */
interface Work {
  who: number
  repo: string
  day: string
  hour?: number
  minutes: number
  zone: string
}

/** The days beside the changes of the clocks in a year, up to 40 days ago. */
const changesBefore = (today: string): string[] => {
  const offset = (zone: string, day: string) => {
    const at = wallClock(zone, Date.parse(day))
    return (Date.parse(at.day) - Date.parse(day)) / (HOUR_SECONDS * 1_000) + at.hour
  }
  return listDays(addDays(today, -350), addDays(today, -40)).filter((day) =>
    ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'].some(
      (zone) => offset(zone, day) !== offset(zone, addDays(day, 1)),
    ),
  )
}

const who = fc.nat(PEOPLE - 1)
const zone = fc.constantFrom(...ZONES)
const repo = fc.constantFrom('acme/a', 'acme/b', 'both/c', 'other/d')
const hour = fc.constantFrom(0, 3, 9, 10, 14, 18, 19, 23)
const flushes = fc.record({
  kind: fc.constant('flush' as const),
  who,
  zone: fc.option(zone, { nil: undefined }),
  isRepeated: fc.boolean(),
  entries: fc.array(
    fc.record({
      repo,
      // No hour of these days is in the future.
      back: fc.constantFrom(1, 1, 2, 8, 27),
      hours: fc.dictionary(hour.map(String), fc.integer({ min: 1, max: 12 }), { maxKeys: 4 }),
      rest: fc.nat(7),
    }),
    { maxLength: 4 },
  ),
})
const beats = fc.record({
  kind: fc.constant('beats' as const),
  who,
  zone: fc.option(fc.oneof(zone, fc.constant('Mars/Olympus')), { nil: undefined }),
  /** Each is two hours before the one before, so that nothing between them counts. */
  slots: fc.array(fc.nat(40), { minLength: 1, maxLength: 6 }),
})
const imports = fc.record({
  kind: fc.constant('import' as const),
  who,
  beats: fc.array(
    fc.record({ change: fc.nat(20), later: fc.integer({ min: -1, max: 1 }), slot: fc.nat(11) }),
    {
      minLength: 1,
      maxLength: 8,
    },
  ),
})
/** Heartbeats of agents, half an hour away from those of people. */
const agents = fc.record({
  kind: fc.constant('agents' as const),
  who,
  zone: fc.option(zone, { nil: undefined }),
  slots: fc.array(fc.nat(40), { minLength: 1, maxLength: 6 }),
})
const counts = fc.record({ kind: fc.constant('commits' as const), who, repo, back: fc.nat(3) })
const events = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: flushes },
    { weight: 3, arbitrary: beats },
    { weight: 2, arbitrary: agents },
    { weight: 1, arbitrary: imports },
    { weight: 1, arbitrary: counts },
  ),
  { minLength: 10, maxLength: 16 },
)
type Event = typeof events extends fc.Arbitrary<(infer One)[]> ? One : never

/** No workspace counts the last one. */
const REPOS_OF_SLOTS = ['acme/a', 'both/c', 'other/d', 'away/e']
const isOfTeam = (repo: string) => repo !== 'other/d' && repo !== 'away/e'
const repoOf = (slot: number) => REPOS_OF_SLOTS[slot % REPOS_OF_SLOTS.length] ?? ''

const placeOf = (time: number) => {
  const at = new Date(time * 1_000)
  return { day: at.toISOString().slice(0, 10), hour: at.getUTCHours() }
}

const localHour = (zone: string, day: string, hour: number): string => {
  const at = wallClock(zone, Date.parse(day) + hour * HOUR_SECONDS * 1_000)
  return `${at.day} ${at.hour}`
}

/** People, their work, and the numbers that it must lead to. */
class World {
  readonly work: Work[] = []
  readonly ofAgents: Work[] = []
  readonly commits: { who: number; repo: string; day: string }[] = []
  private readonly stored = new Map<number, string>()
  private readonly moments = new Set<string>()
  private readonly imported = new Set<string>()
  private next = 0
  isGone = false
  areHoursOld = false

  constructor(
    readonly people: Caller[],
    readonly workspace: string,
    private readonly today: string,
    private readonly changes: string[],
  ) {}

  private zoneOf(who: number, given: string | undefined): string {
    const isNamed = given !== undefined && given !== 'Mars/Olympus'
    if (isNamed && !(given === 'UTC' && this.stored.has(who))) this.stored.set(who, given)
    return this.stored.get(who) ?? 'UTC'
  }

  private personOf(who: number): Caller {
    const person = this.people[who]
    if (!person) throw new Error(`There is no person ${who}`)
    return person
  }

  /** Whether the local hour, which all repositories share, has room. */
  private fits({ who, day, hour = 0, minutes, zone }: Work): boolean {
    const place = localHour(zone, day, hour)
    const others = this.work.filter(
      (one) => one.who === who && one.hour !== undefined && localHour(one.zone, one.day, one.hour) === place,
    )
    return others.reduce((sum, one) => sum + one.minutes, minutes) <= 60
  }

  private async accepted(call: Promise<{ status: number; text: string }>) {
    const { status, text } = await call
    if (status >= 300) throw new Error(text)
  }

  async happen(event: Event): Promise<void> {
    const person = this.personOf(event.who)
    if (event.kind === 'flush') await this.flush(person, event)
    else if (event.kind === 'beats') await this.beat(person, event)
    else if (event.kind === 'agents') await this.runAgents(person, event)
    else if (event.kind === 'import') await this.import(person, event)
    else await this.count(event)
  }

  private async flush(person: Caller, { who, zone: given, isRepeated, entries }: Event & { kind: 'flush' }) {
    const zone = this.zoneOf(who, given)
    const sent = entries.flatMap(({ repo, back, hours, rest }) => {
      const day = addDays(this.today, -back)
      const fitting = Object.entries(hours).filter(([hour, minutes]) => {
        const work = { who, repo, day, hour: Number(hour), minutes, zone }
        const isFitting = this.fits(work)
        if (isFitting) this.work.push(work)
        return isFitting
      })
      if (rest > 0) this.work.push({ who, repo, day, minutes: rest, zone })
      const minutes = fitting.reduce((sum, [, minutes]) => sum + minutes, rest)
      return minutes > 0 ? [{ repo, day, minutes, hours: Object.fromEntries(fitting) }] : []
    })
    const body = { flush_id: `flush-${this.next++}`, entries: sent, ...(given && { timezone: given }) }
    await this.accepted(person.post('/api/team/active-minutes', body))
    if (isRepeated) await this.accepted(person.post('/api/team/active-minutes', body))
  }

  private async beat(person: Caller, { who, zone: given, slots }: Event & { kind: 'beats' }) {
    const zone = this.zoneOf(who, given)
    const newest = Date.parse(this.today) / 1_000 - HOUR_SECONDS
    const heartbeats = slots.map((slot) => ({
      time: newest - slot * 2 * HOUR_SECONDS,
      project: repoOf(slot),
    }))
    for (const { time, project } of heartbeats) this.addBeat(who, time, project, zone)
    const headers: Record<string, string> = given === undefined ? {} : { Timezone: given }
    await this.accepted(person.request('POST', `${WAKATIME}/heartbeats.bulk`, { body: heartbeats, headers }))
  }

  private async runAgents(person: Caller, { who, zone: given, slots }: Event & { kind: 'agents' }) {
    const zone = this.zoneOf(who, given)
    const newest = Date.parse(this.today) / 1_000 - HOUR_SECONDS * 1.5
    const heartbeats = slots.map((slot) => ({
      time: newest - slot * 2 * HOUR_SECONDS,
      project: repoOf(slot),
      category: 'ai coding',
    }))
    for (const { time, project } of heartbeats) {
      const key = `agent of ${who} ${time}`
      if (this.moments.has(key) || project === 'away/e') continue
      this.moments.add(key)
      this.ofAgents.push({ who, repo: project, ...placeOf(time), minutes: 1, zone })
    }
    const headers: Record<string, string> = given === undefined ? {} : { Timezone: given }
    await this.accepted(person.request('POST', `${WAKATIME}/heartbeats.bulk`, { body: heartbeats, headers }))
  }

  private addBeat(who: number, time: number, repo: string, zone: string) {
    const key = `${who} ${time}`
    if (this.moments.has(key)) return
    this.moments.add(key)
    this.work.push({ who, repo, ...placeOf(time), minutes: 1, zone })
  }

  private async import(person: Caller, { who, beats }: Event & { kind: 'import' }) {
    const zone = this.zoneOf(who, undefined)
    const found = beats.map(({ change, later, slot }) => {
      const day = addDays(this.changes[change % this.changes.length] ?? '', later)
      return { day, time: Date.parse(day) / 1_000 + slot * 2 * HOUR_SECONDS, project: repoOf(slot) }
    })
    // A second file counts only what it has more of on a day in a repository.
    const keyOf = ({ day, project }: { day: string; project: string }) => `${who} ${day} ${project}`
    const heartbeats = found.filter((one) => !this.imported.has(keyOf(one)))
    for (const one of found) this.imported.add(keyOf(one))
    for (const { time, project } of heartbeats) this.addBeat(who, time, project, zone)
    if (heartbeats.length === 0) return
    const dump = {
      days: [{ date: this.today, heartbeats: heartbeats.map(({ time, project }) => ({ time, project })) }],
    }
    await this.accepted(person.post(`${WAKATIME}/import`, dump))
    const state = async () => (await person.get(`${WAKATIME}/import`)).body.state
    await until(async () => (await state()) !== 'running', 'the import ends')
    if ((await state()) !== 'done') throw new Error('The import has failed')
  }

  private async count({ who, repo, back }: Event & { kind: 'commits' }) {
    if (repo === 'other/d') return
    const day = addDays(this.today, -back)
    const isNew = !this.commits.some((one) => one.who === who && one.repo === repo && one.day === day)
    if (isNew) this.commits.push({ who, repo, day })
    const members = [{ login: this.personOf(who).login, repos: [{ repo, count: 1 }] }]
    await this.accepted(
      this.personOf(0).post('/api/team/commits', { workspace: this.workspace, day, members }),
    )
  }

  /** Whether the hour is still kept. */
  hasHour({ day, hour }: { day: string; hour?: number | undefined }): boolean {
    return hour !== undefined && !(this.areHoursOld && day < addDays(this.today, -DETAIL_DAYS))
  }

  /** By local day. */
  rows(repos: (repo: string) => boolean): WorkRow[] {
    const nameOf = (who: number) => (this.isGone && who === GONE ? null : this.personOf(who).login)
    const nothing = { minutes: 0, commits: 0, issues: 0, hours: null, timezone: 'UTC' }
    const done = this.work.flatMap(({ who, repo, day, hour, minutes, zone }) => {
      const hours = Array.from({ length: HOURS }, (_, index) => (index === hour ? minutes : 0))
      const login = nameOf(who)
      const row = {
        ...nothing,
        login,
        day,
        repo,
        minutes,
        timezone: zone,
        hours: hour === undefined ? null : hours,
      }
      const keepsHours = login !== null && this.hasHour({ day, hour })
      return toLocal([row]).map((local) => ({
        ...local,
        timezone: 'UTC',
        ...(!keepsHours && { hours: null }),
      }))
    })
    const counted = this.commits.map(({ who, repo, day }) => ({
      ...nothing,
      login: nameOf(who),
      day,
      repo,
      commits: 1,
    }))
    return toLocal([...done, ...counted].filter(({ repo }) => repos(repo)))
  }
}

const equal = (found: unknown, expected: unknown, what: string) => {
  try {
    deepStrictEqual(found, expected)
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`)
  }
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

type Timed = { name: string; total_seconds: number }
const minutesOf = (projects: Timed[]) =>
  Object.fromEntries(projects.map(({ name, total_seconds }) => [name, total_seconds / 60]))
const byRepo = (rows: WorkRow[]) => {
  const minutes: Record<string, number> = {}
  for (const row of rows) if (row.minutes > 0) minutes[row.repo] = (minutes[row.repo] ?? 0) + row.minutes
  return minutes
}

/** The day on the caller's calendar. */
const todayOf = async (caller: Caller) => {
  const { timezone } = (await caller.get('/api/me')).body
  return wallClock(timezone ?? 'UTC', Date.now()).day
}

/** Every figure that a team reads. */
const checkTeam = async (world: World, today: string, changes: string[]) => {
  const { people, workspace } = world
  const all = world.rows(isOfTeam)
  const ada = people[0]?.login
  const present = people.slice(0, world.isGone ? GONE : PEOPLE)
  const admin = present[0] as Caller
  const logins = present.map(({ login }) => login)
  const change = changes[0] ?? today
  const own = await todayOf(admin)
  const ranges = [
    { from: addDays(today, -3), to: addDays(today, 1) },
    { from: addDays(today, -364), to: addDays(today, 1) },
    { from: addDays(change, -2), to: addDays(change, 2) },
    { from: mondayOf(addDays(today, -28)), to: addDays(today, -1) },
  ]
  for (const range of ranges)
    for (const filter of [{}, { repo: 'both/c' }, { login: logins.at(-1) }]) {
      const { login, repo } = filter as { login?: string; repo?: string }
      const query = `&from=${range.from}&to=${range.to}${repo ? `&repo=${repo}` : ''}`
      const url = `/api/team/dashboard?workspace=${workspace}${query}${login ? `&member=${login}` : ''}`
      const { body } = await admin.get(`${url}&trends=true`)
      const asked = { ...range, login, repo, today: own }
      equal(toldBy(body), recount(all, asked, logins), url)
      const cells = login === undefined ? shownCells(shownRows(all, asked), ada, MIN_GROUP) : null
      equal(body.heatmap, cells, `heatmap of ${url}`)
      for (const name of ['active_minutes', 'commits'] as const)
        for (const part of ['daily', 'members', 'repos'] as const)
          equal(
            sum(body[part].map((row: Record<string, number>) => row[name])),
            body.totals[name],
            `${part} of ${url}`,
          )
      const csv = (await admin.get(`${url}&format=csv`)).text.trim().split('\n').slice(1)
      const lines = new Map<string, [day: string, login: string, minutes: number, commits: number]>()
      for (const row of shownRows(all, asked)) {
        const name = row.login ?? DELETED_LOGIN
        const line = lines.get(`${row.day} ${name}`) ?? [row.day, name, 0, 0]
        lines.set(`${row.day} ${name}`, line)
        line[2] += row.minutes
        line[3] += row.commits
      }
      equal(csv.sort(), [...lines.values()].map((line) => `${line.join()},0`).sort(), `CSV of ${url}`)
    }
  const members = (await admin.get(`/api/team/workspaces/${workspace}/members`)).body.members
  const told = members.map((one: Record<string, unknown>) => [one.login, one.last_active_day]).sort()
  const lastDayOf = (login: string) =>
    all
      .flatMap((row) => (row.login === login && row.minutes > 0 ? [row.day] : []))
      .sort()
      .at(-1) ?? null
  equal(told, logins.map((login) => [login, lastDayOf(login)]).sort(), 'the last active days of members')
}

/** Every figure that a person reads. */
const checkPerson = async (world: World, index: number, today: string, change: string, reader: string) => {
  const person = world.people[index] as Caller
  const { login } = person
  const all = world.rows(isOfTeam)
  for (const [from, to] of [
    [addDays(today, -6), addDays(today, 1)],
    [addDays(today, -364), addDays(today, 1)],
  ] as const) {
    const url = `/api/team/dashboard/mine?workspace=${world.workspace}&from=${from}&to=${to}`
    const { body } = await person.get(`${url}&trends=true`)
    const asked = { from, to, login, today: await todayOf(person) }
    const rows = shownRows(all, asked)
    // The others are those in which only agents worked.
    const repos = body.repos.filter(({ members }: { members: number }) => members > 0)
    equal(toldBy({ ...body, repos }), recount(all, asked, []), url)
    equal(body.heatmap, shownCells(rows, undefined, 0), `heatmap of ${url}`)
    for (let weekday = 1; weekday <= 7; weekday++) {
      const cells = body.heatmap.filter((cell: { weekday: number }) => cell.weekday === weekday)
      const ofDay = rows.filter(({ day }) => weekdayOf(day) === weekday)
      equal(
        sum(cells.map(({ minutes }: { minutes: number }) => minutes)),
        sum(ofDay.map(({ hours }) => sum(hours ?? []))),
        `the cells of ${url} on weekday ${weekday}`,
      )
    }
  }

  const own = toLocal(world.rows(() => true).filter((row) => row.login === login))
  const range = `from=${addDays(today, -6)}&to=${addDays(today, 1)}`
  const ofAgents = world.ofAgents.filter(({ who }) => who === index)
  for (const [asked, isCounted] of [
    [`workspace=${world.workspace}&`, isOfTeam],
    ['', () => true],
  ] as const) {
    const url = `/api/team/dashboard/mine?${asked}${range}`
    const { body } = await person.get(url)
    const expected: Record<string, number> = {}
    for (const { day, hour = 0, zone, repo, minutes } of ofAgents) {
      if (!isCounted(repo)) continue
      const local = wallClock(zone, Date.parse(day) + hour * HOUR_SECONDS * 1_000).day
      expected[local] = (expected[local] ?? 0) + minutes
    }
    const told = body.daily.flatMap(({ day, agent_minutes }: { day: string; agent_minutes: number }) =>
      agent_minutes > 0 ? [[day, agent_minutes]] : [],
    )
    equal(told, Object.entries(expected).sort(), `agents in ${url}`)
  }
  const headers = { Timezone: reader }
  for (const [start, end] of [
    [addDays(today, -9), addDays(today, 1)],
    [addDays(change, -2), addDays(change, 2)],
  ] as const) {
    const { body } = await person.get(`${WAKATIME}/summaries?start=${start}&end=${end}`, headers)
    const told = body.data.map((one: { grand_total: Timed; projects: Timed[]; range: { date: string } }) => ({
      day: one.range.date,
      minutes: one.grand_total.total_seconds / 60,
      projects: minutesOf(one.projects),
    }))
    const expected = listDays(start, end).map((day) => {
      const projects = byRepo(own.filter((row) => row.day === day))
      return { day, minutes: sum(Object.values(projects)), projects }
    })
    equal(told, expected, `summaries of ${login} from ${start}`)
  }
  const totals = byRepo(own)
  const everything = (await person.get(`${WAKATIME}/stats/all_time`, headers)).body.data
  equal(everything.total_seconds / 60, sum(Object.values(totals)), `all time of ${login}`)
  equal(minutesOf(everything.projects), totals, `all projects of ${login}`)
  const days = [...new Set(own.flatMap(({ day, minutes }) => (minutes > 0 ? [day] : [])))].sort()
  equal(everything.days_minus_holidays, days.length, `active days of ${login}`)
  const since = (await person.get(`${WAKATIME}/all_time_since_today`, headers)).body.data
  equal(since.total_seconds / 60, sum(Object.values(totals)), `all time since today of ${login}`)
  if (days[0] !== undefined) equal(since.range.start_date, days[0], `the first day of ${login}`)
  const stats = (await person.get(`${WAKATIME}/stats/last_30_days`, headers)).body.data
  const to = wallClock(reader, Date.now()).day
  const last = byRepo(own.filter(({ day }) => day <= to && day >= addDays(to, -29)))
  equal(minutesOf(stats.projects), last, `30 days of ${login}`)
  equal(stats.total_seconds / 60, sum(Object.values(last)), `total of 30 days of ${login}`)
  const projects = (await person.get(`${WAKATIME}/projects`)).body.data
  equal(
    Object.fromEntries(
      projects.map(({ name, created_at, last_heartbeat_at }: Record<string, string>) => [
        name,
        [created_at, last_heartbeat_at].map((moment) => moment?.slice(0, 10)),
      ]),
    ),
    Object.fromEntries(
      Object.keys(totals).map((repo) => {
        const ofRepo = own.flatMap((row) => (row.repo === repo && row.minutes > 0 ? [row.day] : [])).sort()
        return [repo, [ofRepo[0], ofRepo.at(-1)]]
      }),
    ),
    `the projects of ${login}`,
  )
  for (const day of days.slice(-3)) {
    const slices = (await person.get(`${WAKATIME}/durations?date=${day}`, headers)).body
    const minutes: Record<string, number> = {}
    for (const { project, duration } of slices.data)
      minutes[project] = (minutes[project] ?? 0) + duration / 60
    equal(minutes, byRepo(own.filter((row) => row.day === day)), `the durations of ${login} on ${day}`)
  }

  // A row on which the zone has changed can be a day beside its own in UTC, so only the sum is exact.
  const ofTeam = own.filter(({ repo, minutes }) => isOfTeam(repo) && minutes > 0)
  const year = `from=${addDays(today, -364)}&to=${addDays(today, 1)}`
  const listed = (await person.get(`/api/team/active-minutes?${year}`)).body.days
  type Listed = { workspaces: { workspace_id: string; minutes: number }[] }
  const ofWorkspace = (listed as Listed[]).flatMap(({ workspaces }) =>
    workspaces.flatMap(({ workspace_id, minutes }) => (workspace_id === world.workspace ? minutes : [])),
  )
  equal(sum(ofWorkspace), sum(ofTeam.map(({ minutes }) => minutes)), `the UTC days of ${login}`)
  const sumByDay = (rows: { day: string; minutes: number }[]) => {
    const sums = new Map<string, number>()
    for (const { day, minutes } of rows) sums.set(day, (sums.get(day) ?? 0) + minutes)
    return [...sums].sort()
  }
  type Exported = { workspace_id: string; day: string; minutes: number }
  const exported: Exported[] = (await person.get('/api/me/export')).body.activity
  equal(
    sumByDay(exported.filter(({ workspace_id, minutes }) => workspace_id === world.workspace && minutes > 0)),
    sumByDay(ofTeam),
    `the export of ${login}`,
  )
}

const finishErasures = ({ app, database }: Service) =>
  until(async () => {
    await database.write.statement(`update erasures set started_at = '2026-01-01'::timestamptz`, [])
    await app.jobs.erasures.run()
    return (await database.read.statement('select from erasures', [])).length === 0
  }, 'nothing is left to erase')

t.test('every number in every response belongs to the local day of its minutes', async (t) => {
  const env = { ACTIVITY_MIN_GROUP: String(MIN_GROUP), ACTIVITY_DETAIL_DAYS: String(DETAIL_DAYS) }
  const service = await startService(t, { env })
  const today = await readToday(service.database)
  const changes = changesBefore(today)
  const change = changes[0] ?? today
  let run = 0
  await fc.assert(
    fc.asyncProperty(events, events, zone, async (first, later, reader) => {
      run++
      const people: Caller[] = []
      for (let n = 0; n < PEOPLE; n++) people.push(await service.signIn(`p-${run}-${n}`))
      const [ada, ...others] = people as [Caller, ...Caller[]]
      const { id } = await service.workspace(ada, { patterns: ['acme/*', 'both/*'], members: others })
      // Minutes that count in both count once.
      await service.workspace(ada, { patterns: ['both/*', 'other/*'], members: others })
      await service.database.write.statement(`update members set joined_at = now() - interval '400 days'`, [])
      const world = new World(people, id, today, changes)
      const check = async () => {
        await checkTeam(world, today, changes)
        for (const index of [0, 1, 2]) await checkPerson(world, index, today, change, reader)
      }
      for (const event of first) await world.happen(event)
      await check()
      await service.app.jobs.rollups.run()
      await check()
      for (const event of later) await world.happen(event)
      await check()
      const gone = people[GONE] as Caller
      equal(
        (await gone.request('DELETE', '/api/me', { body: { confirm: gone.login } })).status < 300,
        true,
        'gone',
      )
      await finishErasures(service)
      // Hours are read from the rollups.
      await service.app.jobs.rollups.run()
      await service.app.jobs.rollups.retire()
      world.isGone = true
      world.areHoursOld = true
      await check()
      t.pass(`run ${run}`)
    }),
    // Smaller examples take as long as the first.
    { numRuns: 2, endOnFailure: true },
  )
})
