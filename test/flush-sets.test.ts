/** Flushes of different people that arrive at the same time are written together. */
import t from 'tap'
import type { Tx } from '../src/platform/database/client.js'
import { readToday } from '../src/platform/time/clock.js'
import { runFlushModel } from './flush-model.js'
import { type Caller, startService } from './service.js'

t.test('random flushes at once count once each, whatever fails', async (t) => {
  const { wrong, faults } = await runFlushModel(t, 80)
  t.strictSame(wrong, [])
  t.ok(faults > 20)
})

t.test('what arrives while a transaction is under way goes together in the next one', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('ada')
  const people: Caller[] = []
  for (let n = 0; n < 33; n++) people.push(await service.signIn(`person-${n}`))
  await service.workspace(ada, { members: people })
  const entries = [{ repo: 'acme/api', day: await readToday(service.database), minutes: 1 }]
  const flushAll = () =>
    Promise.all(
      people.map(async (person) => (await person.post('/api/team/active-minutes', { entries })).status),
    )
  // The first flush of a person is written alone.
  await flushAll()

  const { database } = service.app
  const { transaction } = database
  let transactions = 0
  database.transaction = (work, options) => {
    transactions++
    return transaction(work, options)
  }
  t.strictSame(new Set(await flushAll()), new Set([200]))
  t.ok(transactions < people.length / 2, `${transactions} transactions`)
  const [row] = await service.database.read.statement('select sum(minutes)::int as sum from activity', [])
  t.strictSame(row, { sum: 2 * people.length })
})

t.test('a flush that comes alone takes eight statements in three round trips', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('ada')
  await service.workspace(ada)
  const entries = [{ repo: 'acme/api', day: await readToday(service.database), minutes: 1 }]
  const flush = async (flush_id: string) =>
    t.equal((await ada.post('/api/team/active-minutes', { flush_id, entries })).status, 200)
  // The first one of a day also remembers the repository.
  await flush('flush-1')

  const { database } = service.app
  const { transaction } = database
  const trips: string[][] = []
  database.transaction = (work, options) =>
    transaction((tx) => {
      const { rows } = tx
      let waiting = 0
      const counting: Tx['rows'] = async (statement, parameters) => {
        if (waiting === 0) trips.push([])
        waiting++
        trips.at(-1)?.push(statement.name)
        try {
          return await rows(statement, parameters)
        } finally {
          waiting--
        }
      }
      return work(Object.assign(tx, { rows: counting }))
    }, options)
  await flush('flush-2')
  t.strictSame(
    trips.map(({ length }) => length),
    [2, 2, 4],
    JSON.stringify(trips),
  )
})
