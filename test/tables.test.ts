/** Every table of the real database has rules for what happens to its rows, so that no table is forgotten. */
import { getTableName } from 'drizzle-orm'
import t from 'tap'
import { peopleColumns, tables } from '../src/features/tables.js'
import { columnsOf, labelOf } from '../src/platform/database/table.js'
import { type Service, startService } from './service.js'

interface Column {
  table: string
  name: string
  /** `users` or `workspaces`, where a foreign key says so. */
  references: string | null
}

/** All columns with ids: those of people and workspaces are uuids, so nothing else can reference them. */
const readIdColumns = async ({ database }: Service): Promise<Column[]> =>
  database.read.statement<{ table: string; name: string; references: string | null }>(
    `select c.relname as table, a.attname as name, (
       select k.confrelid::regclass::text from pg_constraint k
       where k.conrelid = c.oid and k.confrelid in ('users'::regclass, 'workspaces'::regclass) and a.attnum = any(k.conkey)
       limit 1
     ) as references
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and a.atttypid in ('uuid'::regtype, 'uuid[]'::regtype)
     order by 1, 2`,
    [],
  )

/**
 * Ids that name neither a person nor a workspace: those of the rows themselves, of a token, of a write, and of a key. The
 * marks of a person name workspaces, about which they say nothing.
 */
const otherIds = new Set([
  'revocations.jti',
  'overrides.revision',
  'key_secrets.key_id',
  'heartbeat_hours.counted_in',
])
const isOwnId = ({ name, references }: Column) => name === 'id' && references === null

const withRule = new Set(peopleColumns().map(({ tableName, column }) => `${tableName}.${column}`))
const purged = new Set(
  tables.flatMap(({ table }) =>
    Object.values(columnsOf(table)).includes('workspace_id') ? getTableName(table) : [],
  ),
)

/** The missing rules, in words for the author of the column. */
const findGaps = async (service: Service): Promise<string[]> => {
  const columns = await readIdColumns(service)
  const places = new Set(columns.map(({ table, name }) => `${table}.${name}`))
  const gaps = columns.flatMap((column) => {
    const { table, name, references } = column
    const place = `${table}.${name}`
    if (withRule.has(place) || otherIds.has(place) || isOwnId(column)) return []
    if (references === 'workspaces' || name === 'workspace_id') {
      if (name !== 'workspace_id') return [`${place} references workspaces: call it workspace_id`]
      if (purged.has(table)) return []
      return [
        `${place}: declare the table with table() in a tables.ts, so that it is cleared with a workspace`,
      ]
    }
    return [
      `${place}: add a rule under people in its tables.ts, which says how an account is erased and exported`,
    ]
  })
  const gone = [...withRule].filter((place) => !places.has(place))
  return [...gaps, ...gone.map((place) => `${place}: a tables.ts has a rule and the database no such column`)]
}

t.test('operators see a separate name for each table and each column that names a person', async (t) => {
  const repeated = (labels: string[]) => labels.filter((label, index) => labels.indexOf(label) !== index)
  t.same(repeated(tables.map(labelOf)), [])
  t.same(repeated(peopleColumns().map(({ label }) => label)), [], 'add a label to the rules of the columns')
})

t.test('every column with a person’s or workspace’s id has rules or is an exception', async (t) => {
  const service = await startService(t)
  t.same(await findGaps(service), [])
  await service.database.write.statement(
    `create table notes (
       id uuid primary key, workspace_id uuid not null references workspaces, origin uuid references workspaces,
       author uuid references users, reviewed_by uuid, readers uuid[]
     )`,
    [],
  )
  const people = 'add a rule under people in its tables.ts, which says how an account is erased and exported'
  t.same(await findGaps(service), [
    `notes.author: ${people}`,
    'notes.origin references workspaces: call it workspace_id',
    `notes.readers: ${people}`,
    `notes.reviewed_by: ${people}`,
    'notes.workspace_id: declare the table with table() in a tables.ts, so that it is cleared with a workspace',
  ])
})

/** Columns with the login of a person: the account itself, and the one that must not be given away while it is erased. */
const logins = ['erasures.login_key', 'users.login', 'users.login_key']

const readLoginColumns = async ({ database }: Service): Promise<string[]> => {
  const rows = await database.read.statement<{ place: string }>(
    `select c.relname || '.' || a.attname as place
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attname ~ '(^|_)logins?(_|$)'
     order by 1`,
    [],
  )
  return rows.map(({ place }) => place)
}

t.test('people are identified by id, because logins change hands', async (t) => {
  const service = await startService(t)
  t.same(await readLoginColumns(service), logins, 'refer to users with person() instead')
  await service.database.write.statement('create table notes (login text, reviewer_login text)', [])
  t.same(
    (await readLoginColumns(service)).filter((place) => !logins.includes(place)),
    ['notes.login', 'notes.reviewer_login'],
  )
})
