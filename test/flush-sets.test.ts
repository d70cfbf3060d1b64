/** Flushes of different people that arrive at the same time are written together. */
import t from 'tap'
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
