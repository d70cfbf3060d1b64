/** Checks docs/privacy.md and `GET /api/privacy`, and what they claim. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getTableName } from 'drizzle-orm'
import t from 'tap'
import { AccountExport } from '../schemas/account.js'
import { tables } from '../src/features/tables.js'
import { withPrivacy } from '../src/operator/config-docs.js'
import { projectRoot } from '../src/platform/process/root.js'
import { hasProperties } from './has-properties.js'
import { startService } from './service.js'

const read = (name: string) => readFile(join(projectRoot, name), 'utf8')

const service = await startService(t, {
  env: { ACTIVITY_PRIVACY_FLOOR: 'team', ACTIVITY_MIN_GROUP: '8', ACTIVITY_DETAIL_DAYS: '90' },
})
const today = new Date().toISOString().slice(0, 10)

t.test('anyone can read what is recorded, with the running service’s numbers', async (t) => {
  const { status, body } = await service.request('GET', '/api/privacy')
  t.equal(status, 200)
  t.hasStrict(body, { activity_privacy_floor: 'team', activity_min_group: 8, activity_detail_days: 90 })
  const hours = body.records.find(({ name }: { name: string }) => name === 'hours')
  hasProperties(t, hours, { fields: ['hours'], kept_days: 90, kept: /^90 days/ })
  t.match(JSON.stringify(body.shown), /where 8 or more people/)
  t.hasStrict((await startServiceByDefault()).body, {
    activity_privacy_floor: 'named',
    activity_min_group: 5,
  })
})

const startServiceByDefault = async () =>
  (await startService(t, { beside: service })).request('GET', '/api/privacy')

t.test('the tables in docs/privacy.md match the code', async (t) => {
  const page = await read('docs/privacy.md')
  t.equal(page, withPrivacy(page), 'run `npm run openapi`')
})

t.test('every database table is declared, and described if it contains personal data', async (t) => {
  const found = await service.database.hot.statement<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE'`,
    [],
  )
  t.strictSame(found.map(({ name }) => name).sort(), tables.map(({ table }) => getTableName(table)).sort())
  const { body } = await service.request('GET', '/api/privacy')
  const records = body.records.map(({ name }: { name: string }) => name)
  for (const { table, rules } of tables) {
    if (rules.privacyRecord !== null)
      t.ok(records.includes(rules.privacyRecord), `${getTableName(table)}: ${rules.privacyRecord}`)
  }
})

t.test('every column that identifies a person is in the export, or has a reason not to be', async (t) => {
  const lists = Object.keys(AccountExport.properties)
  for (const { table, rules } of tables) {
    for (const [column, rule] of Object.entries(rules.people ?? {})) {
      const { export: list } = rule ?? {}
      if (typeof list === 'string') t.ok(lists.includes(list), `${getTableName(table)}.${column}: ${list}`)
    }
  }
})

t.test('a flush accepts only documented properties', async (t) => {
  const ada = await service.signIn('ada')
  const entry = { repo: 'acme/api', day: today, minutes: 1 }
  for (const body of [
    { entries: [{ ...entry, file: 'src/app.ts' }] },
    { entries: [{ ...entry, hours: { '9:30': 1 } }] },
    { entries: [entry], host: 'laptop' },
  ]) {
    t.equal((await ada.post('/api/team/active-minutes', body)).status, 400)
  }
})

t.test('data that the page rules out is stored nowhere', async (t) => {
  const ada = await service.signIn('careful')
  await service.workspace(ada)
  await ada.put('/api/me/recording', { paused: true, repos_off: [], hours: null })
  await ada.post('/api/team/active-minutes', {
    entries: [{ repo: 'acme/left-out', day: today, minutes: 17, hours: { 9: 17 } }],
    flush_id: 'paused',
  })
  for (const { table: declared } of tables) {
    const table = getTableName(declared)
    const rows = await service.database.hot.statement(
      `select from ${table} where ${table}::text like '%left-out%'`,
      [],
    )
    t.equal(rows.length, 0, table)
  }
})

t.test('no log line names a person, a repository or an address', async (t) => {
  const ada = await service.signIn('somebody-special')
  const { id } = await service.workspace(ada)
  await ada.post('/api/team/active-minutes', {
    entries: [{ repo: 'acme/special-repo', day: today, minutes: 1 }],
  })
  await ada.get(`/api/team/dashboard?workspace=${id}&member=somebody-special&repo=acme/special-repo`)
  await ada.delete(`/api/team/workspaces/${id}/members?login=somebody-special`)
  await ada.get('/api/settings/acme/special-repo')
  await ada.get('/api/setting/acme/special-repo')
  await ada.get('/special-repo')
  // One line names the service's own address.
  const lines = service.logs.filter((line) => !line.includes('Server listening')).join('')
  t.match(lines, /"route":"\/api\/team\/dashboard"/)
  t.notMatch(lines, /special|127\.0\.0\.1/)
})

t.test('flush responses are deleted after 32 days', async (t) => {
  const ada = await service.signIn('ada')
  const flush = () =>
    ada.post('/api/team/active-minutes', {
      entries: [{ repo: 'acme/api', day: today, minutes: 1 }],
      flush_id: 'once',
    })
  const age = async (days: number) => {
    await service.database.read.statement(
      `update flushes set created_at = now() - make_interval(days => $1::int) where flush_id = 'once'`,
      [days],
    )
    await service.app.housekeeping.run()
  }
  await flush()
  await age(31)
  t.match((await flush()).body, { duplicate: true })
  await age(33)
  t.match((await flush()).body, { duplicate: false })
})
