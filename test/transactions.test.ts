import t from 'tap'
import type { Tx } from '../src/platform/database/client.js'
import { UnknownOutcome } from '../src/platform/database/failures.js'
import { codeOf } from '../src/platform/process/code-of.js'
import { type AdHocDatabase, withAdHocSql } from './ad-hoc.js'
import { createTestDatabase, openDatabase } from './database.js'

const { url, drop } = await createTestDatabase('template1')
t.teardown(drop)
const database = withAdHocSql(openDatabase(url))
t.teardown(() => database.close())
await database.write.statement('create table t (n int unique deferrable initially immediate)', [])
const empty = () => database.write.statement('delete from t', [])
const rows = async () =>
  (await database.read.statement<{ n: number }>('select n from t order by n', [])).map(({ n }) => n)

type AdHocTx = Parameters<Parameters<AdHocDatabase['transaction']>[0]>[0]
const add = (tx: AdHocTx, n: number) => tx.statement('insert into t values ($1::int)', [n])
const fail = (tx: AdHocTx) => tx.statement('select 1 / $1::int', [0])

t.test('statements that are awaited at the commit take effect', async (t) => {
  await empty()
  const response = await database.transaction(async (tx) => {
    await add(tx, 1)
    tx.awaitAtCommit(Promise.all([add(tx, 2), add(tx, 3)]))
    return 'done'
  })
  t.equal(response, 'done')
  t.same(await rows(), [1, 2, 3])
})

t.test(
  'a failed statement that is awaited at the commit fails the transaction, with the statement’s error',
  async (t) => {
    await empty()
    // The second time, the connection knows all statements, so that they and the commit are sent at once.
    for (let time = 0; time < 2; time++) {
      for (const statements of [
        (tx: AdHocTx) => [add(tx, 1), fail(tx)],
        (tx: AdHocTx) => [fail(tx), add(tx, 1)],
        (tx: AdHocTx) => [add(tx, 1), fail(tx), add(tx, 2)],
      ]) {
        const outcome = database.transaction(async (tx) => {
          await add(tx, 0)
          tx.awaitAtCommit(Promise.all(statements(tx)))
        })
        await t.rejects(outcome, { code: '22012' })
        t.same(await rows(), [])
      }
    }
  },
)

t.test('of statements sent together, the first failure’s error is reported', async (t) => {
  const heardLate = async (statement: Promise<unknown>) => {
    await Promise.all([statement])
  }
  // The second time, the connection knows all statements, so that they are sent, and answered, at once.
  for (let time = 0; time < 2; time++) {
    const outcome = database.transaction(async (tx) => {
      await add(tx, 0)
      tx.awaitAtCommit(Promise.all([heardLate(heardLate(fail(tx))), add(tx, 1), add(tx, 2)]))
    })
    await t.rejects(outcome, { code: '22012' })
  }
})

t.test(
  'a transaction ends if its connection breaks before a statement is sent that is awaited at the commit',
  async (t) => {
    await empty()
    const outcome = database.transaction(
      async (tx) => {
        const [read, end] = [
          tx.statement('select $1::int', [1]),
          tx.statement('select pg_sleep(0.1), pg_terminate_backend(pg_backend_pid())', []),
        ]
        await read
        tx.awaitAtCommit(add(tx, 1))
        await end
      },
      { readsFirst: true },
    )
    await t.rejects(outcome, { code: 'CONNECTION_CLOSED' })
    t.same(await rows(), [])
  },
)

t.test('a transaction says whether its commit was sent when its connection breaks', async (t) => {
  await empty()
  const end = (tx: AdHocTx) => tx.statement('select pg_terminate_backend(pg_backend_pid())', [])
  const failureOf = (work: (tx: AdHocTx) => Promise<unknown>): Promise<unknown> =>
    database.transaction(work).catch((error) => error)
  const before = await failureOf(async (tx) => {
    await add(tx, 1)
    await end(tx)
  })
  t.equal(before instanceof UnknownOutcome, false)
  const after = await failureOf(async (tx) => {
    await add(tx, 1)
    tx.awaitAtCommit(end(tx))
  })
  t.equal(after instanceof UnknownOutcome, true)
  const failed = await failureOf(async (tx) => tx.awaitAtCommit(fail(tx)))
  t.equal(failed instanceof UnknownOutcome, false)
  t.same(await rows(), [])
})

t.test(
  'a transaction that the server rolled back has no unknown outcome, whatever failed in it',
  async (t) => {
    await empty()
    // The second time, the connection knows all statements, so that they and the commit are sent at once.
    for (let time = 0; time < 2; time++) {
      const outcome: unknown = await database
        .transaction(async (tx) => {
          await add(tx, 1)
          await tx.statement(`set local statement_timeout = '10ms'`, [])
          tx.awaitAtCommit(tx.statement('select pg_sleep($1::int)', [60]))
        })
        .catch((error) => error)
      t.equal(outcome instanceof UnknownOutcome, false)
      t.equal(codeOf(outcome), '57014')
      t.same(await rows(), [])
    }
  },
)

t.test('a conflict in a statement that is awaited at the commit retries the transaction', async (t) => {
  await empty()
  await database.write.statement('insert into t values (1)', [])
  let next = 1
  const work = async (tx: AdHocTx) => {
    tx.awaitAtCommit(add(tx, next++))
  }
  await database.transaction(work, { rowsCanConflict: true })
  t.same(await rows(), [1, 2])
})

t.test('an existing or missing row is a conflict only if the caller declares it one', async (t) => {
  await empty()
  await database.write.statement('insert into t values (1)', [])
  await database.write.statement('create table u (n int primary key)', [])
  await database.write.statement('create table v (n int references u)', [])
  for (const [code, text] of [
    ['23505', 'insert into t values ($1::int)'],
    ['23503', 'insert into v values ($1::int)'],
  ] as const) {
    let runs = 0
    const outcome = database.transaction(async (tx) => {
      runs++
      await tx.statement(text, [1])
    })
    await t.rejects(outcome, { code })
    t.equal(runs, 1, code)
  }
  t.same(await rows(), [1])
})

t.test('a failed commit isn’t a success', async (t) => {
  await empty()
  await database.write.statement(
    `create function reject() returns trigger language plpgsql as $$ begin raise 'not today'; end $$`,
    [],
  )
  await database.write.statement(
    `create constraint trigger reject after insert on t deferrable initially deferred
      for each row execute function reject()`,
    [],
  )
  const outcome = database.transaction(async (tx) => {
    tx.awaitAtCommit(add(tx, 1))
  })
  await t.rejects(outcome, { code: 'P0001' })
  t.same(await rows(), [])
  await database.write.statement('drop function reject cascade', [])
})

t.test('statements after a transaction’s end aren’t sent', async (t) => {
  await empty()
  let ended: Tx | undefined
  await database.transaction(async (tx) => {
    ended = tx
  })
  await t.rejects(add(ended as AdHocTx, 1), { message: /after the end/ })
  t.same(await rows(), [])
})
