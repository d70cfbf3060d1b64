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
  recordings: ['accounts/queries/recordings.ts', 'minutes/queries/flush-target.ts'],
  person_repos: ['accounts/queries/person-repos.ts'],
  activity: [
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
    'minutes/queries/local-activity.ts',
    'minutes/queries/minutes.ts',
    'minutes/queries/own-minutes.ts',
    'minutes/queries/own-time.ts',
    'personal-data/queries/erasures.ts',
    'personal-data/queries/row-counts.ts',
    'repositories/queries/projects.ts',
    'rollups/queries/assign-local-days.ts',
    'rollups/queries/published-weeks.ts',
    'rollups/queries/rollups.ts',
  ],
  activity_other_zones: [
    'minutes/queries/local-activity.ts',
    'minutes/queries/minutes.ts',
    'minutes/queries/own-time.ts',
    'personal-data/queries/account-export.ts',
    'personal-data/queries/erasures.ts',
    'rollups/queries/assign-local-days.ts',
    'rollups/queries/published-weeks.ts',
    'rollups/queries/rollups.ts',
  ],
  activity_people: [
    'counts/queries/counts.ts',
    'dashboard/queries/access-log.ts',
    'dashboard/queries/own-counts.ts',
    'minutes/queries/minutes.ts',
    'minutes/queries/own-time.ts',
    'personal-data/queries/account-export.ts',
    'personal-data/queries/erasures.ts',
  ],
  agent_minutes: ['minutes/queries/agent-minutes.ts', 'minutes/queries/own-time.ts'],
  personal_minutes: ['minutes/queries/own-time.ts', 'minutes/queries/personal-minutes.ts'],
  flushes: ['minutes/queries/minutes.ts'],
  activity_member_days: [
    'dashboard/queries/members.ts',
    'dashboard/queries/trends.ts',
    'rollups/queries/rollups.ts',
  ],
  activity_member_months: ['dashboard/queries/members.ts', 'rollups/queries/rollups.ts'],
  activity_repo_days: [
    'dashboard/queries/days.ts',
    'dashboard/queries/heatmap.ts',
    'dashboard/queries/repos.ts',
    'dashboard/queries/trends.ts',
    'rollups/queries/rollups.ts',
  ],
  activity_repo_people: [
    'dashboard/queries/members.ts',
    'dashboard/queries/repos.ts',
    'dashboard/queries/trends.ts',
    'rollups/queries/rollups.ts',
  ],
  dashboard_views: ['dashboard/queries/access-log.ts'],
  heartbeat_people: ['editors/queries/marks.ts'],
  heartbeat_hours: ['editors/queries/marks.ts', 'editors/queries/projects.ts'],
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
const SHARED_SQL = /\b(localActivity|localHourDays|zoneHours)\(|\$\{RAW\}/

const camelCase = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/** Whether a module has the table in SQL, or imports it for the query builder. */
const names = (text: string, table: string): boolean =>
  (table === 'activity' && SHARED_SQL.test(text)) ||
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
    'select sum(minutes) from agent_minutes',
    'from users u\n join agent_minutes a on true',
    "import { agentMinutes, users } from '../tables.js'",
  ])
    t.ok(names(text, 'agent_minutes'), text)
  t.notOk(names("import { agentMinutes } from './agent-time.js'", 'agent_minutes'))
})
