/** Who reads what people did: a list that is short on purpose, so that nothing shows it past `features/activity/policies.ts`. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../src/platform/process/root.js'

/** Sources by their paths. */
const readSources = async (): Promise<Map<string, string>> => {
  const paths = await readdir(join(projectRoot, 'src'), { recursive: true })
  const sources = paths.filter((path) => path.endsWith('.ts')).map((path) => join('src', path))
  return new Map(
    await Promise.all(
      sources.map(async (path) => [path, await readFile(join(projectRoot, path), 'utf8')] as const),
    ),
  )
}

const pathsWith = (sources: Map<string, string>, pattern: RegExp) =>
  [...sources].flatMap(([path, text]) => (pattern.test(text) ? path : [])).sort()

/** Activity, its rollups, the views of them and what is published: in SQL, or by the names of `platform/database/tables.ts`. */
const TABLES =
  /\b(from|join|using)\s+(activity|report_|published_)|\b(activity|published)[A-Z]?\w*\b[^;]*from '\.\.\/db\/tables\.js'/
const QUERIES = /from '(\.\.\/)+queries\/(dashboard|heatmap|published-weeks)\.js'/

const readers = {
  'src/platform/database/tables.ts': 'the views for reports, which are the operator’s',
  'src/features/personal-data/queries/account-export.ts': 'the caller’s own',
  'src/features/activity/queries/minutes.ts': 'the caller’s own minutes, and what flushes count on',
  'src/features/activity/queries/counts.ts': 'what uploads of counts change',
  'src/features/activity/queries/dashboard.ts': 'days that may be shown by name',
  'src/features/personal-data/queries/erasures.ts': 'hands over, and shows nothing',
  'src/features/activity/queries/heatmap.ts':
    'hours of days that may be shown by name, for features/activity/read-heatmap.ts to withhold some',
  'src/features/workspaces/queries/members.ts':
    'the last active day, from the first day on that may be shown by name',
  'src/features/activity/queries/published-weeks.ts': 'what is published, and what it is made of',
  'src/features/workspaces/queries/purge.ts': 'deletes only',
  'src/features/activity/queries/rollups.ts': 'makes rollups',
  'src/features/activity/queries/access-log.ts': 'whether the caller was in what somebody looked at',
}

/** Of the three files that show it. */
const callers = {
  'src/features/activity/publish-weeks.ts': 'publishes',
  'src/features/activity/read-dashboard.ts': 'reads what a view allows',
  'src/features/activity/read-heatmap.ts': 'reads the hours of days that a view allows',
  'src/features/activity/policies.ts': 'types only',
  'src/features/activity/routes/dashboard.ts': 'finds the person of a filter',
}

t.test('only known queries read what people did', async (t) => {
  const sources = await readSources()
  t.same(pathsWith(sources, TABLES), Object.keys(readers).sort())
  t.same(pathsWith(sources, QUERIES), Object.keys(callers).sort())
  t.ok(
    sources
      .get('src/features/activity/routes/dashboard.ts')
      ?.split('\n')
      .includes("import { type Filter, findPerson, UNKNOWN_PERSON } from '../../queries/dashboard.js'"),
  )
  t.ok(
    sources
      .get('src/features/activity/policies.ts')
      ?.split('\n')
      .includes("import type { Filter, NamedDays } from '../queries/dashboard.js'"),
  )
})

t.test('only the policy says which days may be shown by name', async (t) => {
  t.same(pathsWith(await readSources(), /as (unknown as )?NamedDays/), ['src/features/activity/policies.ts'])
})

t.test('a new query of activity is noticed, however it is written', async (t) => {
  for (const text of [
    'const READ = `select sum(minutes) from activity_member_days where workspace_id = $1::uuid`',
    "import { members, activityMemberMonths } from '../db/tables.js'",
    'const READ = `select 1 from members m join activity a using (user_id)`',
    'const READ = `select * from report_member_days`',
  ])
    t.same(pathsWith(new Map([['src/queries/new.ts', text]]), TABLES), ['src/queries/new.ts'], text)
})
