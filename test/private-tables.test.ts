/** Only known modules read what one person does. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getTableName } from 'drizzle-orm'
import t from 'tap'
import { tables } from '../src/features/tables.js'
import { projectRoot } from '../src/platform/process/root.js'

/**
 * The modules whose SQL names each table. Each of them answers the person, or someone whom the privacy level of the workspace lets
 * see the rows. Ask the same of a module before you add it.
 */
const readers: Record<string, string[]> = {
  recordings: [
    'recording/queries/flush-target.ts',
    'recording/queries/recordings.ts',
    'operator/backup/keep-stricter.ts',
  ],
  person_repos: ['named-repos/queries.ts'],
  own_activity: [
    'own-time/queries/own-activity.ts',
    'own-time/queries/removed-minutes.ts',
    'own-time/queries/sums.ts',
    'previous/queries/rows.ts',
  ],
  agent_activity: [
    'own-time/queries/agent-activity.ts',
    'own-time/queries/removed-minutes.ts',
    'own-time/queries/sums.ts',
    'previous/queries/rows.ts',
  ],
  daily_activity: [
    'counts/queries/counts.ts',
    'counts/queries/reported-counts.ts',
    'dashboard/queries/access-log.ts',
    'dashboard/queries/days.ts',
    'dashboard/queries/filter.ts',
    'dashboard/queries/heatmap.ts',
    'dashboard/queries/members.ts',
    'dashboard/queries/own-counts.ts',
    'dashboard/queries/repos.ts',
    'dashboard/queries/sources.ts',
    'dashboard/queries/trends.ts',
    'minutes/queries/minutes.ts',
    'minutes/queries/own-minutes.ts',
    'minutes/queries/removed-minutes.ts',
    'personal-data/queries/erasures.ts',
    'personal-data/queries/row-counts.ts',
    'previous/queries/rows.ts',
    'repositories/queries/projects.ts',
    'rollups/queries/published-weeks.ts',
    'rollups/queries/rollups.ts',
  ],
  activity_people: [
    'dashboard/queries/access-log.ts',
    'dashboard/queries/own-counts.ts',
    'minutes/queries/minutes.ts',
    'minutes/queries/people.ts',
    'minutes/queries/removed-minutes.ts',
    'personal-data/queries/account-export.ts',
    'personal-data/queries/erasures.ts',
    'previous/queries/rows.ts',
  ],
  flushes: ['minutes/queries/minutes.ts'],
  activity: ['previous/queries/rows.ts'],
  agent_minutes: ['previous/queries/rows.ts'],
  personal_minutes: ['previous/queries/rows.ts'],
  activity_member_days: [],
  activity_member_months: [],
  activity_repo_days: [],
  activity_repo_people: [],
  member_days: ['dashboard/queries/members.ts', 'dashboard/queries/trends.ts', 'rollups/queries/rollups.ts'],
  member_months: ['dashboard/queries/members.ts', 'rollups/queries/rollups.ts'],
  repo_people: [
    'dashboard/queries/members.ts',
    'dashboard/queries/repos.ts',
    'dashboard/queries/trends.ts',
    'rollups/queries/rollups.ts',
  ],
  dashboard_views: ['dashboard/queries/access-log.ts'],
  heartbeat_people: ['editors/queries/marks.ts'],
  heartbeat_hours: ['editors/queries/marks.ts', 'editors/queries/projects.ts', 'previous/queries/rows.ts'],
  editor_projects: ['editors/queries/projects.ts'],
  dropped_names: ['editors/queries/projects.ts'],
  imports: ['editors/queries/imports.ts'],
  import_days: ['editors/queries/imports.ts'],
  imported_minutes: ['editors/queries/imports.ts'],
  funnel_users: ['funnel/queries.ts'],
  funnel_days: ['funnel/queries.ts'],
}

/** Tables that hold what one person does. */
const privateTables = tables.flatMap(({ table, rules: { people = {}, place, privacyRecord } }) => {
  const isOwn = typeof place === 'object' && place.spreadBy === 'user_id'
  const isActivity = ['minutes', 'hours', 'looks', 'recording'].includes(privacyRecord ?? '')
  return Object.keys(people).length > 0 && (isOwn || isActivity) ? [getTableName(table)] : []
})

/** Activity is also read through SQL that other modules share. */
const SHARED_SQL = /\$\{RAW\}/

const camelCase = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/** Whether a module has the table in SQL, or imports it for the query builder. */
const names = (text: string, table: string): boolean =>
  (table === 'daily_activity' && SHARED_SQL.test(text)) ||
  new RegExp(`\\b(from|join|into|update|using)\\s+${table}\\b`).test(text) ||
  new RegExp(`^import {[^}]*\\b${camelCase(table)}\\b[^}]*} from '[^']*tables\\.js'`, 'm').test(text)

t.test('only listed modules read one person’s activity', async (t) => {
  const folder = join(projectRoot, 'src')
  const files = (await readdir(folder, { recursive: true }))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('tables.ts'))
    .sort()
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
  t.same(Object.keys(readers).sort(), [...privateTables].sort(), 'every such table has its list')
  for (const table of privateTables)
    t.same(
      files.filter((_, n) => names(texts[n] ?? '', table)).map((name) => name.replace('features/', '')),
      readers[table],
      table,
    )
})

t.test('a module that reads such a table is detected, whether through SQL or the builder', async (t) => {
  for (const text of [
    'select sum(minutes) from agent_activity',
    'from users u\n join agent_activity a on true',
    "import { agentActivity, users } from '../tables.js'",
  ])
    t.ok(names(text, 'agent_activity'), text)
  t.notOk(names("import { agentActivity } from './agent-time.js'", 'agent_activity'))
})
