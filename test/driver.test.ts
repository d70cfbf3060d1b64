/**
 * The faults of the database driver that `patches/` fixes. The published driver has each of them, and each loses, mixes
 * up or invents responses, or ends the process.
 */
import { readFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t from 'tap'
import { openSession } from '../src/platform/database/dedicated-session.js'
import { createTestDatabase } from './database.js'
import { hasProperties } from './has-properties.js'
import { allDemands, type Demand, receivedPassword, startImpostor } from './impostor.js'
import { temporaryFolder } from './process.js'
import { makeCertificate } from './proxy-examples.js'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.js'

/** A rejection that no code awaits would end the service. */
const unhandled: unknown[] = []
process.on('unhandledRejection', (error) => unhandled.push(error))

interface Scope {
  teardown(work: () => unknown): void
}

const PASSWORD = 'hunter2-and-more'

const start = async (test: Scope, options: object = {}) => {
  const database = await createTestDatabase('template1')
  test.teardown(() => database.drop())
  const proxy = await startTcpProxy(test, database.url)
  const sql = postgres(proxy.url, {
    max: 1,
    connect_timeout: 30,
    backoff: () => 0.01,
    onnotice: () => {},
    ...options,
  })
  const admin = postgres(database.url, { max: 1, onnotice: () => {} })
  test.teardown(() => Promise.all([sql, admin].map((client) => client.end({ timeout: 0 }))))
  await admin`create table t (n int)`
  return {
    sql,
    admin,
    proxy,
    rows: async () => (await admin<{ n: number }[]>`select n from t order by n`).map(({ n }) => n),
  }
}

/** Resets the connection, and does `work` between the socket's `error` and `close` events. */
const betweenErrorAndClose = async <T>(proxy: TcpProxy, work: () => Promise<T>): Promise<T> => {
  const { emit } = Socket.prototype
  const { port } = new URL(proxy.url)
  const outcome = new Promise<T>((resolve, reject) => {
    Socket.prototype.emit = function (this: Socket, ...args: [string, ...unknown[]]) {
      const heard = (emit as (...args: unknown[]) => boolean).apply(this, args)
      if (args[0] === 'error' && String((this as { port?: number }).port) === port) {
        Socket.prototype.emit = emit
        work().then(resolve, reject)
      }
      return heard
    } as typeof emit
  })
  proxy.reset()
  return outcome
}

t.test('a statement sent while the connection breaks either completes or fails', async (t) => {
  const { sql, proxy, rows } = await start(t)
  await sql`select 1`
  const outcome = await betweenErrorAndClose(proxy, () =>
    sql`insert into t values (1)`.then(
      () => 'done',
      () => 'failed',
    ),
  )
  t.same(await rows(), outcome === 'done' ? [1] : [])
  t.same([...(await sql`select 42 as n`)], [{ n: 42 }])
})

t.test('a transaction begun while the connection breaks is atomic', async (t) => {
  const { sql, proxy, rows } = await start(t)
  await sql`select 1`
  const outcome = betweenErrorAndClose(proxy, () =>
    sql.begin(async (tx) => {
      await tx`insert into t values (1)`
      await tx`insert into t values (2)`
      throw new Error('roll back')
    }),
  )
  await t.rejects(outcome)
  t.same(await rows(), [])
  t.same([...(await sql`select 42 as n`)], [{ n: 42 }])
})

t.test('a transaction that has lost its connection runs no more statements', async (t) => {
  const { sql, proxy, rows } = await start(t)
  const outcome = sql.begin(async (tx) => {
    await tx`insert into t values (1)`
    proxy.reset()
    // By now the driver has another session on the same connection.
    while (proxy.connections() < 2) await sql`select 1`.catch(() => {})
    await tx`insert into t values (2)`
  })
  await t.rejects(outcome)
  t.same(await rows(), [])
  t.same([...(await sql`select 42 as n`)], [{ n: 42 }])
})

/** `begin` with the option that the patch adds. */
type Begin = (
  mode: string,
  work: (tx: postgres.TransactionSql) => Promise<unknown>,
  options: { readsFirst: boolean },
) => Promise<unknown>

t.test('a transaction whose first statement is sent with BEGIN is atomic', async (t) => {
  const { sql, rows } = await start(t)
  const begin = sql.begin as unknown as Begin
  const outcome = begin(
    '',
    async (tx) => {
      await tx`insert into t values (1)`
      await tx`insert into t values (2)`
      throw new Error('roll back')
    },
    { readsFirst: true },
  )
  await t.rejects(outcome, { message: 'roll back' })
  t.same(await rows(), [])
  await begin('', (tx) => tx`insert into t values (3)`, { readsFirst: true })
  t.same(await rows(), [3])
})

t.test('if BEGIN is rejected, only statements sent with it run', async (t) => {
  const { sql, rows } = await start(t)
  const [before] = await sql`select pg_backend_pid() as pid`
  const rejected = (sql.begin as unknown as Begin)(
    'isolation level unknown',
    async (tx) => {
      t.same([...(await tx`select 42 as n`)], [{ n: 42 }])
      await tx`insert into t values (1)`
    },
    { readsFirst: true },
  )
  await t.rejects(rejected, { code: '42601' })
  t.same(await rows(), [])
  t.same([...(await sql`select pg_backend_pid() as pid`)], [before])
})

t.test('after a statement that fails between its rows, the next one gets its own rows', async (t) => {
  const { sql } = await start(t)
  const failing = sql`select repeat('x', 1000), 1 / (100 - i) from generate_series(1, 200) i`
  const [failed, next] = await Promise.allSettled([failing, sql`select 42 as n`])
  t.hasStrict(failed, { status: 'rejected', reason: { code: '22012' } })
  t.equal(next?.status, 'fulfilled')
  t.same([...(next as PromiseFulfilledResult<postgres.RowList<postgres.Row[]>>).value], [{ n: 42 }])
  t.same([...(await sql`select i as n from generate_series(1, 3) i`)], [{ n: 1 }, { n: 2 }, { n: 3 }])
})

t.test('a connection that breaks while array types are fetched fails only that statement', async (t) => {
  const { sql, proxy } = await start(t)
  proxy.cut = (from, bytes) => from === 'client' && bytes.includes('typarray')
  await t.rejects(sql`select 1`)
  proxy.cut = undefined
  t.same([...(await sql`select array['a', 'b'] as texts`)], [{ texts: ['a', 'b'] }])
})

t.test('a parameter that can’t be serialized fails only its statement', async (t) => {
  const { sql } = await start(t, { prepare: true })
  const ask = (value: unknown) =>
    sql.unsafe('select $1::timestamptz as at', [value as never], { prepare: true })
  await ask(new Date(0))
  const outcomes = await Promise.allSettled([
    ask(new Date(1)),
    ask({ toISOString: () => 7 }),
    ask(new Date(2)),
    sql`select 42 as n`,
  ])
  hasProperties(t, outcomes[0], { status: 'fulfilled', value: [{ at: new Date(1) }] })
  hasProperties(t, outcomes[2], { status: 'fulfilled', value: [{ at: new Date(2) }] })
  hasProperties(t, outcomes[3], { status: 'fulfilled', value: [{ n: 42 }] })
})

t.test('a database that accepts connections and closes them immediately counts as unavailable', async (t) => {
  const { sql, proxy } = await start(t)
  proxy.cut = () => true
  await t.rejects(sql`select 1`)
  proxy.cut = undefined
  t.same([...(await sql`select 42 as n`)], [{ n: 42 }])
})

t.test('a missing response ends the wait and the connection', async (t) => {
  const { sql } = await start(t, { answer_timeout: 3 })
  await sql`select 1`
  await t.rejects(sql`select pg_sleep(20)`, { code: 'ANSWER_TIMEOUT' })
  t.same([...(await sql`select 42 as n`)], [{ n: 42 }])
})

t.test('a response that arrived while the process was suspended is read', async (t) => {
  const database = await createTestDatabase('template1')
  t.teardown(() => database.drop())
  const sql = postgres(database.url, { max: 1, answer_timeout: 2 } as object)
  t.teardown(() => sql.end({ timeout: 0 }))
  await sql`select 1`
  const response = sql`select 42 as n from pg_sleep(0.1)`.execute()
  // The statement is on its way, and timers come next, before sockets.
  await sleep(20)
  await immediate()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_000)
  t.same([...(await response)], [{ n: 42 }])
})

t.test(
  'wherever in the protocol a connection breaks, only acknowledged writes are stored, each once',
  async (t) => {
    const { sql, proxy, rows } = await start(t)
    const expected = new Set<number>()
    const possible = new Set<number>()
    let n = 0
    for (const from of ['server', 'client'] as const) {
      for (let passes = 0; passes < 24; passes++) {
        let left = passes
        proxy.cut = (source) => source === from && left-- === 0
        const write = ++n
        possible.add(write)
        const alone = sql`insert into t values (${write})`.then(
          () => expected.add(write),
          () => {},
        )
        const [first, second] = [++n, ++n]
        possible.add(first).add(second)
        const both = sql
          .begin(async (tx) => {
            await tx`insert into t values (${first})`
            const [seen] = await tx`select count(*)::int as total from t where n = ${first}`
            if (seen?.total !== 1) throw new Error('The transaction does not see its own row')
            await tx`insert into t values (${second})`
          })
          .then(
            () => expected.add(first).add(second),
            () => {},
          )
        const read = sql`select i from generate_series(1, 5) i`.then(
          (found) =>
            t.same(
              found.map(({ i }) => i),
              [1, 2, 3, 4, 5],
            ),
          () => {},
        )
        await Promise.all([alone, both, read])
        proxy.cut = undefined
        proxy.reset()
        // A transaction whose commit was cut off is stored as a whole or not at all.
        await sleep(1)
        const there = (await rows()).filter((row) => row === first || row === second)
        t.ok(there.length !== 1, 'no half of a transaction')
      }
    }
    const there = await rows()
    t.equal(new Set(there).size, there.length, 'nothing twice')
    t.same(
      [...expected].filter((row) => !there.includes(row)),
      [],
      'nothing acknowledged is lost',
    )
    t.same(
      there.filter((row) => !possible.has(row)),
      [],
      'nothing is invented',
    )
  },
)

t.test('a copy to the client completes, however slowly it’s read', async (t) => {
  const { sql } = await start(t)
  let lines = 0
  for await (const piece of await sql`copy (select repeat('x', 1000) from generate_series(1, 3000)) to stdout`.readable()) {
    lines += String(piece).split('\n').length - 1
    if (lines % 100 === 0) await sleep(1)
  }
  t.equal(lines, 3_000)
  t.same(await sql`select 1 as n`, [{ n: 1 }])
})

t.test('a copy that the server rejects fails, even at its end', async (t) => {
  const { sql, rows } = await start(t)
  for (const text of ['1\nx\n', `1\n${'2\n'.repeat(100_000)}x\n`]) {
    const copy = await sql`copy t from stdin`.writable()
    await t.rejects(pipeline([text], copy), /invalid input syntax for type integer/)
  }
  t.same(await rows(), [])
  t.same(await sql`select 1 as n`, [{ n: 1 }])
})

/** The end of a session with the impostor, and the messages that the impostor got. */
const meet = async (t: Scope, demand: Demand, query = '', options = {}) => {
  const impostor = await startImpostor(t, demand, options)
  const sql = openSession(`postgres://ada:${PASSWORD}@127.0.0.1:${impostor.port}/x${query}`)
  const outcome = await sql`select 1 as n`.then(
    (rows) => rows[0]?.n,
    ({ code }) => code,
  )
  await sql.end({ timeout: 0 })
  return { outcome, heard: impostor.heard, gaveAway: receivedPassword(impostor, PASSWORD) }
}

t.test('without TLS, a wrong server gets no password and isn’t trusted', async (t) => {
  const rejected = {
    'clear text': ['REFUSED_PASSWORD', ''],
    'clear text, and answers without waiting': ['REFUSED_PASSWORD', ''],
    'clear text, and lets the client in': ['REFUSED_PASSWORD', ''],
    MD5: ['REFUSED_MD5', ''],
    'MD5, and lets the client in': ['REFUSED_MD5', ''],
    'SCRAM with a wrong proof': ['SASL_SIGNATURE_MISMATCH', 'pp'],
    'SCRAM without a proof': ['SASL_SIGNATURE_MISMATCH', 'pp'],
    'SCRAM with the nonce of another session': ['PROTOCOL_VIOLATION', 'p'],
    'SCRAM with endless iterations': ['SASL_ITERATIONS', 'p'],
    'SCRAM twice': ['PROTOCOL_VIOLATION', 'p'],
    'no password': ['REFUSED_NONE', ''],
    'nothing, and answers as if it had': ['PROTOCOL_VIOLATION', ''],
    'nothing, with a message without end': ['PROTOCOL_VIOLATION', ''],
  }
  const outcomes = allDemands.map(async (demand) => {
    // Without the option, a server may ask for no password, because PostgreSQL can trust everyone.
    const query = demand === 'no password' ? '?require_auth=scram-sha-256' : ''
    return [demand, await meet(t, demand, query)] as const
  })
  t.strictSame(
    Object.fromEntries(await Promise.all(outcomes)),
    Object.fromEntries(
      Object.entries(rejected).map(([demand, [outcome, heard]]) => [
        demand,
        { outcome, heard, gaveAway: false },
      ]),
    ),
  )
})

t.test('with require_auth, a server without TLS can only use the listed methods', async (t) => {
  const [clearText, md5] = ['clear text, and lets the client in', 'MD5, and lets the client in'] as const
  for (const [demand, listed, outcome] of [
    [clearText, 'password', 1],
    [clearText, 'md5,scram-sha-256', 'REFUSED_PASSWORD'],
    [md5, 'md5', 1],
    [md5, 'scram-sha-256,%20md5', 1],
    [md5, 'password', 'REFUSED_MD5'],
    ['no password', 'none', 1],
    ['SCRAM with a wrong proof', 'password,md5,none', 'REFUSED_SCRAM-SHA-256'],
  ] as const) {
    const met = await meet(t, demand, `?require_auth=${listed}`)
    t.equal(met.outcome, outcome, `${demand}, with ${listed}`)
    t.equal(met.gaveAway, outcome === 1 && demand !== 'no password')
  }
})

t.test('over TLS a server may ask for the password, unless TLS was only preferred', async (t) => {
  const files = await makeCertificate(await temporaryFolder(t))
  const certificate = {
    key: await readFile(files.key, 'utf8'),
    cert: await readFile(files.certificate, 'utf8'),
  }
  const demand = 'clear text, and lets the client in'
  t.hasStrict(await meet(t, demand, '?sslmode=require', { certificate }), { outcome: 1, gaveAway: true })
  t.hasStrict(await meet(t, demand, '?sslmode=prefer', { certificate }), { outcome: 1, gaveAway: true })
  for (const query of ['?sslmode=prefer', '?sslmode=require&require_auth=scram-sha-256'])
    t.hasStrict(await meet(t, demand, query), { gaveAway: false, heard: '' })
  t.hasStrict(await meet(t, demand, '?sslmode=verify-full', { certificate }), { gaveAway: false, heard: '' })
})

t.test('these tests left no rejection unhandled', async (t) => {
  t.same(unhandled, [])
})
