/**
 * Random flushes and heartbeats of many people at once, with failures in between, compared with a model of the expected
 * counts.
 */
import type { Tx } from '../src/platform/database/client.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays, HOURS } from '../src/platform/time/days.js'
import { type Caller, startService } from './service.js'

type Test = Parameters<typeof startService>[0]

const PEOPLE = 10
const MINUTES = '/api/team/active-minutes'
const HEARTBEATS = '/api/wakatime/v1/users/current/heartbeats.bulk'
/** Seconds from one heartbeat to the next, so that nothing between them counts. */
const FAR_APART = 2 * 3_600
/** Around midnight. */
const TIMES = [22, 23, 0, 1]
const REPOS = ['acme/a', 'acme/B', 'both/c', 'other/d', 'nobody/e']

interface Entry {
  repo: string
  day: string
  minutes: number
  hours: Record<string, number>
}
interface Flush {
  flush_id?: string
  entries: Entry[]
}

/** Numbers below `end`, the same ones for a seed. */
const randomOf = (seed: number) => {
  let state = seed
  return (end: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * end)
  }
}

/** Runs instead of a statement. */
const FAULTS = {
  error: 'select 1 / 0',
  cut: 'select pg_terminate_backend(pg_backend_pid())',
}

/** @returns what is wrong, and how many faults there were */
export const runFlushModel = async (t: Test, rounds: number, seed = 1) => {
  const wrong: string[] = []
  const equal = (actual: unknown, expected: unknown, what: string) => {
    const [found, wanted] = [actual, expected].map((value) => JSON.stringify(value))
    if (found !== wanted) wrong.push(`${what}: ${found} instead of ${wanted}`)
  }
  const random = randomOf(seed)
  const service = await startService(t)
  const { database } = service.app
  const owner = await service.signIn('owner')
  const people: Caller[] = []
  for (let n = 0; n < PEOPLE; n++) people.push(await service.signIn(`person-${n}`))
  const today = await readToday(database)
  // No hour is in the future.
  const days = [addDays(today, -1), addDays(today, -2)]
  const places: { id: string; owners: string[]; members: Set<Caller>; code: string }[] = []
  const addPlace = async (owners: string[]) => {
    const patterns = owners.map((name) => `${name}/*`)
    const { id, code } = await service.workspace(owner, { name: owners.join(), patterns, members: people })
    places.push({ id, owners, members: new Set(people), code })
  }
  await addPlace(['acme', 'both'])
  await addPlace(['other', 'both'])

  /** Minutes by hour of a workspace, person and day. */
  const expected = new Map<string, number[]>()
  const counted = new Set<string>()
  const paused = new Set<Caller>()
  const ids = new Map<Caller, string>()
  for (const person of people) ids.set(person, (await person.get('/api/me')).body.id)
  const add = (id: string, person: Caller, day: string, hour: number, minutes: number) => {
    const place = `${id} ${ids.get(person)} ${day}`
    const sums = expected.get(place) ?? new Array<number>(HOURS).fill(0)
    expected.set(place, sums)
    sums[hour] = Math.min(60, (sums[hour] ?? 0) + minutes)
  }
  const expect = (person: Caller, { flush_id, entries }: Flush) => {
    const key = `${ids.get(person)} ${flush_id}`
    if (flush_id !== undefined && counted.has(key)) return
    counted.add(key)
    if (paused.has(person)) return
    for (const { repo, day, hours } of entries) {
      for (const { id, owners, members } of places) {
        if (!members.has(person) || !owners.includes(repo.split('/')[0] ?? '')) continue
        for (const [hour, minutes] of Object.entries(hours)) add(id, person, day, Number(hour), minutes)
      }
    }
  }

  /** Ends the n-th statement of sets from now on. What is written alone has no fault, because then its flush fails. */
  let fault: { after: number; text: string } | undefined
  let faults = 0
  const { transaction } = database
  database.transaction = (work, options) => {
    const isSet = options?.readsFirst === true && !options.rowsCanConflict && !options.background
    return transaction((tx) => {
      const { rows } = tx
      const faulty: Tx['rows'] = (statement, parameters) => {
        if (!fault || !isSet || fault.after-- > 0) return rows(statement, parameters)
        const { text } = fault
        fault = undefined
        faults++
        return rows({ ...statement, text }, [])
      }
      return work(Object.assign(tx, { rows: faulty }))
    }, options)
  }

  let flushes = 0
  const earlier: [Caller, Flush][] = []
  const newFlush = (withId: boolean): Flush => ({
    ...(withId && { flush_id: `flush-${random(1e9)}-${flushes}` }),
    entries: Array.from({ length: 1 + random(3) }, () => {
      const minutes = 1 + random(9)
      return {
        repo: REPOS[random(REPOS.length)] ?? '',
        day: days[random(days.length)] ?? '',
        minutes,
        hours: { [TIMES[random(TIMES.length)] ?? 0]: minutes },
      }
    }),
  })
  const send = async (person: Caller, flush: Flush): Promise<void> => {
    flushes++
    expect(person, flush)
    const { status, body } = await person.post(MINUTES, flush)
    equal(status, 200, `a flush, ${JSON.stringify(body)}`)
  }

  const marked = new Map<Caller, Set<number>>()
  const beat = async (person: Caller): Promise<void> => {
    const newest = Math.floor(Date.parse(today) / 1_000) - FAR_APART
    // A minute always has the same project, because two in a minute would depend on their names.
    const heartbeats = Array.from({ length: 1 + random(3) }, () => random(40)).map((slot) => ({
      time: newest - slot * FAR_APART,
      project: REPOS[slot % REPOS.length] ?? '',
    }))
    const own = marked.get(person) ?? new Set()
    marked.set(person, own)
    // The service takes them in the order of their times.
    for (const { time, project } of paused.has(person)
      ? []
      : heartbeats.toSorted((a, b) => a.time - b.time)) {
      const matching = places.filter(
        ({ members, owners }) => members.has(person) && owners.includes(project.split('/')[0] ?? ''),
      )
      if (matching.length === 0 || own.has(time)) continue
      own.add(time)
      const at = new Date(time * 1_000)
      for (const { id } of matching) add(id, person, at.toISOString().slice(0, 10), at.getUTCHours(), 1)
    }
    const { status, body } = await person.post(HEARTBEATS, heartbeats)
    equal(status, 202, `heartbeats, ${JSON.stringify(body)}`)
  }

  for (let round = 0; round < rounds; round++) {
    const change = random(12)
    const person = people[random(PEOPLE)] as Caller
    const place = places[random(places.length)]
    if (change === 0) {
      const isPaused = !paused.has(person)
      const recording = { paused: isPaused, repos_off: [], hours: null }
      equal((await person.put('/api/me/recording', recording)).status, 200, 'recording')
      if (isPaused) paused.add(person)
      else paused.delete(person)
    } else if (change === 1 && place) {
      const isMember = place.members.has(person)
      const { status } = isMember
        ? await person.post(`/api/team/workspaces/${place.id}/leave`)
        : await person.post('/api/team/workspaces/join', { code: place.code })
      equal(status, 200, 'a membership')
      if (isMember) place.members.delete(person)
      else place.members.add(person)
    } else if (change === 2 && random(4) === 0 && place) {
      const gone = places.splice(places.indexOf(place), 1)[0]
      equal((await owner.delete(`/api/team/workspaces/${gone?.id}`)).status, 200, 'a deletion')
      for (const key of expected.keys()) if (key.startsWith(`${gone?.id}`)) expected.delete(key)
      await addPlace(gone?.owners ?? [])
    }
    const kind = random(4)
    if (kind < 2) fault = { after: random(8), text: kind === 0 ? FAULTS.error : FAULTS.cut }
    // Not everyone can know whether a flush without an id was counted when a connection breaks.
    const mayBeWithoutId = kind !== 1
    const calls: Promise<unknown>[] = []
    const known = earlier.length
    for (const one of people.toSorted(() => random(3) - 1).slice(0, 2 + random(PEOPLE - 2))) {
      const flush = newFlush(!mayBeWithoutId || random(3) > 0)
      calls.push(send(one, flush))
      if (random(2) === 0) calls.push(beat(one))
      if (flush.flush_id === undefined) continue
      const repeated = random(6)
      if (repeated === 0) calls.push(send(one, flush))
      if (repeated === 1) calls.push(send(one, newFlush(true)))
      const [who, past] = earlier[random(known)] ?? []
      if (repeated === 2 && who && past)
        calls.push(
          who.post(MINUTES, past).then(({ body }) => equal(body.duplicate, true, 'a retry')),
          who
            .post(MINUTES, { ...past, entries: [...past.entries, ...past.entries] })
            .then(({ body }) => equal(body.code, 'flush_id_reused', 'another body')),
        )
      if (repeated === 3) earlier.push([one, flush])
    }
    await Promise.all(calls)
    fault = undefined
  }

  const rows = await service.database.read.statement<{ place: string; minutes: number; hours: number[] }>(
    `select concat_ws(' ', workspace_id, user_id, day::text) as place, sum(minutes)::int as minutes,
      array[${Array.from({ length: HOURS }, (_, hour) => `sum(hours[${hour + 1}])::int`)}] as hours
    from daily_activity
    where minutes > 0 and workspace_id in (select id from workspaces where deleted_at is null)
    group by workspace_id, user_id, day`,
    [],
  )
  const found = new Map(rows.map(({ place, hours }) => [place, hours]))
  const sorted = (sums: Map<string, number[]>) => [...sums].sort(([a], [b]) => (a < b ? -1 : 1))
  equal(sorted(found), sorted(expected), 'minutes by workspace, person, day and hour')
  for (const { place, minutes, hours } of rows)
    equal(
      minutes,
      hours.reduce((sum, inHour) => sum + inHour, 0),
      `the minutes of ${place}`,
    )
  return { wrong, flushes, faults }
}
