/** Compares the declarations of all SQL with a migrated database. */
import postgres from 'postgres'
import t from 'tap'
import * as kinds from '../src/platform/database/statement.js'
import { createTestDatabase, openDatabase } from './database.js'
import { collectQueries } from './query-texts.js'

const queries = await collectQueries()

/** A column of a result, as the server describes it. */
interface Described {
  name: string
  type: number
  table: number
  number: number
}

const { url, drop } = await createTestDatabase()
t.teardown(drop)
const sql = postgres(url, { max: 1, onnotice: () => {} })
t.teardown(() => sql.end({ timeout: 0 }))

const types = await sql<{ oid: number; typname: string }[]>`select oid, typname from pg_type`
const nameOf = new Map(types.map(({ oid, typname }) => [oid, typname]))

const attributes = await sql<{ table: string; tableId: number; number: number; name: string }[]>`
  select attrelid::regclass::text as table, attrelid::int as "tableId", attnum as number, attname as name
  from pg_attribute where attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)`
const columnAt = new Map(attributes.map((column) => [`${column.tableId}.${column.number}`, column]))
const columnNames = new Set(attributes.map(({ table, name }) => `${table}.${name}`))

/** The server's own description of the columns; fails as the statement itself would. */
const describe = async (text: string) => {
  // The types of the driver omit the table and the number of the column that a result is read from.
  const { columns } = (await sql.unsafe(text).describe()) as unknown as { columns: Described[] }
  return columns.map(({ name, type, table, number }) => ({
    name,
    type: nameOf.get(type) ?? `${type}`,
    source: columnAt.get(`${table}.${number}`),
  }))
}

/** Results that are read from another column than the one of their name, in a table that has both. */
const confusedIn = async (text: string) =>
  (await describe(text)).flatMap(({ name, source }) => {
    const own = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const isConfused = source && source.name !== own && columnNames.has(`${source.table}.${own}`)
    return isConfused ? [`${name} is read from ${source.table}.${source.name}`] : []
  })

/** The problem of a declaration. Undefined if there is none. */
const problemOf = async ({ columns, text }: Pick<kinds.Statement<unknown>, 'columns' | 'text'>) => {
  const declared = Object.entries(columns)
  try {
    const found = await describe(text)
    if (declared.length === 0) return undefined
    const fits =
      declared.length === found.length &&
      declared.every(
        ([name, { types }], index) => found[index]?.name === name && types.includes(found[index]?.type ?? ''),
      )
    return fits ? undefined : `returns ${found.map(({ name, type }) => `${name} ${type}`).join(', ')}`
  } catch (error) {
    return (error as Error).message
  }
}

t.test('every statement returns the columns it declares', async (t) => {
  t.ok(queries.declared.length > 0)
  for (const statement of queries.declared) {
    const problem = await problemOf(statement)
    t.ok(problem === undefined, `${statement.name}: ${problem ?? 'as declared'}`)
  }
})

t.test('no result is read from a different column with the same type', async (t) => {
  for (const { name, text } of queries.declared) t.strictSame(await confusedIn(text), [], name)
  t.strictSame(await confusedIn('select id, timezone as login, login as "createdBy" from users'), [
    'login is read from users.timezone',
  ])
  t.strictSame(
    await confusedIn('with m as (select joined_at, user_id as "workspaceId" from members) select * from m'),
    ['workspaceId is read from members.user_id'],
  )
})

t.test('the database accepts everything the builder generates', async (t) => {
  t.ok(queries.built.length > 0)
  for (const { name, texts } of queries.built) {
    for (const text of texts) {
      const problem = await problemOf({ columns: {}, text })
      t.ok(problem === undefined, `${name}: ${problem ?? 'understood'}`)
    }
  }
})

t.test('wrong columns and invalid SQL are detected', async (t) => {
  const text = 'select id, login from users'
  const columns = { id: kinds.uuid, login: kinds.text }
  t.equal(await problemOf({ columns, text }), undefined)
  const mistakes: kinds.Columns[] = [
    { id: kinds.uuid, name: kinds.text },
    { id: kinds.text, login: kinds.text },
    { id: kinds.uuid },
    { ...columns, timezone: kinds.text },
    { login: kinds.text, id: kinds.uuid },
  ]
  for (const wrong of mistakes)
    t.equal(await problemOf({ columns: wrong, text }), 'returns id uuid, login text')
  t.match(await problemOf({ columns, text: 'select id, logn from users' }), /"logn" does not exist/)
  t.match(await problemOf({ columns: {}, text: 'selekt 1' }), /syntax error/)
})

t.test('the driver returns the declared type for each kind of column', async (t) => {
  const database = openDatabase(url)
  t.teardown(() => database.close())
  const { text, textOf, uuid, date, moment, integer, double, bool, integers, texts, uuids, json, orNull } =
    kinds
  const id = '01939f6e-0000-7000-8000-000000000000'
  const everything = {
    name: 'one of each',
    columns: {
      text,
      word: textOf<'a'>(),
      uuid,
      date,
      moment,
      integer,
      double,
      bool,
      integers,
      texts,
      uuids,
      json: json<{ a: number }>(),
      nothing: orNull(text),
    },
    text: `
      select 'a'::text as text, 'a'::text as word, '${id}'::uuid as uuid, '2026-11-21'::date as date,
        '2026-11-21 09:30:00.12+00'::timestamptz as moment, 1::int2 as integer, 2::float8 as double, true as bool,
        array[1, 2] as integers, array['a', 'b'] as texts, array['${id}'::uuid] as uuids, '{"a":1}'::jsonb as json,
        null::text as nothing`,
  }
  t.equal(await problemOf(everything), undefined)
  t.strictSame(
    (await database.read.rows(everything, [])).map((row) => ({ ...(row as object) })),
    [
      {
        text: 'a',
        word: 'a',
        uuid: id,
        date: '2026-11-21',
        moment: '2026-11-21 09:30:00.12+00',
        integer: 1,
        double: 2,
        bool: true,
        integers: [1, 2],
        texts: ['a', 'b'],
        uuids: [id],
        json: { a: 1 },
        nothing: null,
      },
    ],
  )
})

t.test('every query function that uses the builder has a sample', async (t) => {
  for (const name of queries.missing) t.fail(`add a call of ${name} to test/query-samples.ts`)
})

t.test('the builder generates no joins (decision 4)', (t) => {
  for (const { name, texts } of queries.built) {
    t.same(
      texts.filter((text) => / join "/.test(text)),
      [],
      `${name} reads one table, or is a declared statement`,
    )
  }
  t.end()
})
