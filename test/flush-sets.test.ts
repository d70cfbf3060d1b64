/** Flushes, and heartbeats, of different people that arrive at the same time are written together. */
import t, { type Test } from 'tap'
import { limits } from '../schemas/limits.js'
import type { Tx } from '../src/platform/database/client.js'
import { readToday } from '../src/platform/time/clock.js'
import { runFlushModel } from './flush-model.js'
import { type Caller, type Service, type ServiceOptions, startService } from './service.js'
import { until } from './until.js'

const HEARTBEATS = '/api/wakatime/v1/users/current/heartbeats.bulk'

t.test('random concurrent flushes and heartbeats count exactly once, whatever fails', async (t) => {
  const { wrong, faults } = await runFlushModel(t, 20)
  t.strictSame(wrong, [])
  t.ok(faults > 0, `${faults} faults`)
})

t.test('writes that arrive during a transaction are batched into the next one', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('ada')
  const people: Caller[] = []
  for (let n = 0; n < 33; n++) people.push(await service.signIn(`person-${n}`))
  await service.workspace(ada, { members: people })
  const day = await readToday(service.database)
  let time = Date.parse(day) / 1_000
  // With this many workspaces, this person's flush would change too many rows.
  const busy = await service.signIn('busy')
  await joinWorkspaces(service, busy, limits.flush_rows / 50 + 1)
  const reposOf = (person: Caller) =>
    Array.from({ length: person === busy ? 50 : 1 }, (_, n) => `acme/api-${n}`)
  const flush = (person: Caller) =>
    person.post('/api/team/active-minutes', {
      entries: reposOf(person).map((repo) => ({ repo, day, minutes: 1 })),
    })
  const beat = (person: Caller) =>
    person.post(
      HEARTBEATS,
      reposOf(person).map((project, n) => ({ time: time + 60 * n, project })),
    )
  const { database } = service.app
  const { transaction } = database
  let transactions = 0
  database.transaction = (work, options) => {
    transactions++
    return transaction(work, options)
  }
  for (const [send, status] of [
    [flush, 200],
    [beat, 202],
  ] as const) {
    const sendAll = async () =>
      new Set(await Promise.all([...people, busy].map(async (person) => (await send(person)).status)))
    // The first minutes of a person are written alone.
    await sendAll()
    transactions = 0
    time -= 86_400
    t.strictSame(await sendAll(), new Set([status, 413]))
    t.ok(transactions < people.length / 2, `${transactions} transactions`)
  }
  const [row] = await service.database.read.statement(
    'select sum(minutes)::int as sum from daily_activity',
    [],
  )
  t.strictSame(row, { sum: 4 * people.length })
})

/** Makes someone an admin of further workspaces, which match `acme`. */
const joinWorkspaces = async ({ database }: Service, { login }: Caller, number: number) => {
  await database.hot.statement(
    `with made as (
      insert into workspaces (id, name, idle_window_minutes)
      select gen_random_uuid(), 'Team', 15 from generate_series(1, $1::int) returning id
    ), joined as (
      insert into members (workspace_id, user_id, role)
      select made.id, users.id, 'admin' from made, users where login = $2::text
    )
    insert into patterns (workspace_id, owner_key, repo_key, position, pattern, exact, literal_length, repo_like)
    select id, 'acme', '*', 0, 'acme/*', false, 5, '%' from made`,
    [number, login],
  )
}

/** People who flush twice at the same time, and what happens to the first transaction for several of them. */
const startPairs = async (
  t: Test,
  fail: (work: () => Promise<unknown>) => Promise<unknown>,
  options?: ServiceOptions,
) => {
  const service = await startService(t, options)
  const ada = await service.signIn('ada')
  const people: Caller[] = []
  for (let n = 0; n < 12; n++) people.push(await service.signIn(`person-${n}`))
  await service.workspace(ada, { members: people })
  const entries = [{ repo: 'acme/api', day: await readToday(service.database), minutes: 1 }]
  const statuses: number[] = []
  const flush = async (person: Caller) => {
    statuses.push((await person.post('/api/team/active-minutes', { entries })).status)
  }
  const { database } = service.app
  const { transaction } = database
  let isFirst = true
  database.transaction = (work, options) => {
    const isSet = options?.readsFirst === true && !options.rowsCanConflict
    if (!isSet || !isFirst) return transaction(work, options)
    isFirst = false
    return fail(() => transaction(work, options)) as ReturnType<typeof transaction<never>>
  }
  const flushAll = () => Promise.all([...people, ...people].map(flush))
  /** All have arrived, and some wait for the first set. */
  const arrived = () =>
    until(
      () => service.app.lifecycle.requestsUnderWay() + statuses.length === 2 * people.length,
      'all have arrived',
    )
  return { people, statuses, flushAll, arrived }
}

const failure = (code: string) => Object.assign(new Error('The transaction failed'), { code })

t.test('a batch that takes too long is retried one by one', async (t) => {
  const pairs = await startPairs(t, async () => {
    await pairs.arrived()
    throw failure('57014')
  })
  await pairs.flushAll()
  t.strictSame(new Set(pairs.statuses), new Set([200]))
})

t.test('a failed batch doesn’t fail the requests that are waiting for the next one', async (t) => {
  let inSet = 0
  const pairs = await startPairs(t, async () => {
    await pairs.arrived()
    inSet = pairs.people.length
    throw failure('ANSWER_TIMEOUT')
  })
  await pairs.flushAll()
  const refused = pairs.statuses.filter((status) => status === 503).length
  t.ok(refused > 0 && refused <= inSet, `${refused} were in the set`)
  t.equal(pairs.statuses.filter((status) => status === 200).length, pairs.statuses.length - refused)
})

t.test('only the request that waits too long is rejected', async (t) => {
  const goesOn = async (work: () => Promise<unknown>) => {
    await until(() => pairs.statuses.includes(503), 'someone has given up')
    return work()
  }
  const pairs = await startPairs(t, goesOn, { timeoutFactor: 1 })
  await pairs.flushAll()
  const written = pairs.statuses.filter((status) => status === 200).length
  t.ok(written >= pairs.people.length, `${written} of ${pairs.statuses.length}`)
})

/** Calls. @returns the names of the statements of each round trip of its transactions */
const tripsOf = async ({ app: { database } }: Service, call: () => Promise<unknown>): Promise<string[][]> => {
  const { transaction } = database
  const roundTrips: string[][] = []
  database.transaction = (work, options) =>
    transaction((tx) => {
      const { rows } = tx
      let waiting = 0
      const counting: Tx['rows'] = async (statement, parameters) => {
        if (waiting === 0) roundTrips.push([])
        waiting++
        roundTrips.at(-1)?.push(statement.name)
        try {
          return await rows(statement, parameters)
        } finally {
          waiting--
        }
      }
      return work(Object.assign(tx, { rows: counting }))
    }, options)
  await call()
  database.transaction = transaction
  return roundTrips
}

t.test('a single write takes few statements and few round trips', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('ada')
  await service.workspace(ada)
  const day = await readToday(service.database)
  const flush = async (flush_id: string) => {
    const entries = [{ repo: 'acme/api', day, minutes: 1 }]
    t.equal((await ada.post('/api/team/active-minutes', { flush_id, entries })).status, 200)
  }
  const beat = async (project: string, minute: number) => {
    const time = Date.parse(day) / 1_000 + 60 * minute
    t.equal((await ada.post(HEARTBEATS, [{ time, project }])).status, 202)
  }
  const equal = (roundTrips: string[][], lengths: number[]) =>
    t.strictSame(
      roundTrips.map(({ length }) => length),
      lengths,
      JSON.stringify(roundTrips),
    )
  // The first flush of a day also stores the repository.
  await flush('flush-1')
  equal(await tripsOf(service, () => flush('flush-2')), [3, 2, 4])
  await beat('acme/api', 0)
  equal(await tripsOf(service, () => beat('acme/api', 2)), [3, 1, 2, 5])
  // Now it has a repository.
  await beat('api', 4)
  equal(await tripsOf(service, () => beat('api', 6)), [3, 1, 2, 6])
})

t.test('a set reads targets once, even if one is too large for a set', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('ada')
  const people: Caller[] = []
  for (let n = 0; n < 12; n++) people.push(await service.signIn(`person-${n}`))
  await service.workspace(ada, { members: people })
  // Comparing this many patterns takes too long for a set, and not too long for a single write.
  const busy = await service.signIn('busy')
  await joinWorkspaces(service, busy, 2_000)
  const time = Date.parse(await readToday(service.database)) / 1_000
  const project = `acme/${'a'.repeat(90)}`
  const { database } = service.app
  const { transaction } = database
  const reads: number[] = []
  database.transaction = (work, options) => {
    if (options?.rowsCanConflict !== false) return transaction(work, options)
    const set = reads.push(0) - 1
    return transaction((tx) => {
      const { rows } = tx
      const counting: Tx['rows'] = (statement, parameters) => {
        if (statement.name === 'read flush targets') reads[set] = (reads[set] ?? 0) + 1
        return rows(statement, parameters)
      }
      return work(Object.assign(tx, { rows: counting }))
    }, options)
  }
  const answers = await Promise.all(
    [...people, busy].map((person) => person.post(HEARTBEATS, [{ time, project }])),
  )
  t.strictSame(new Set(answers.map(({ status }) => status)), new Set([202]))
  t.strictSame(new Set(reads), new Set([1]))
})
