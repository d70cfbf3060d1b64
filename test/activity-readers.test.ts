/** The modules that read activity. The list is short, so that no module bypasses `features/dashboard/policies.ts`. */
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

/**
 * Activity, its rollups, their views and published weeks, in SQL. An import rule keeps other features from importing
 * the tables.
 */
const TABLES =
  /\b(from|join|using)\s+(activity|daily_activity|workspace_days|workspace_hours|member_days|member_months|repo_days|repo_months|repo_people|report_|published_)/
const OWN_QUERIES =
  /from '(\.\/|(\.\.\/)+)queries\/(sources|days|members|repos|trends|heatmap|published-weeks)\.js'/
const PUBLISHED = /\breadPublished\w+,?[^;]*from '\.\.\/rollups\/index\.js'/

const isActivity = (path: string) => /^src\/features\/(minutes|counts|rollups|dashboard)\//.test(path)

t.test(
  'outside its own features, only the export, the erasure, row counts, the copy of version 1.0.0 and lists of projects read activity',
  async (t) => {
    const sources = await readSources()
    t.same(
      pathsWith(sources, TABLES).filter((path) => !isActivity(path)),
      [
        'src/features/personal-data/queries/account-export.ts',
        'src/features/personal-data/queries/erasures.ts',
        'src/features/personal-data/queries/row-counts.ts',
        // It copies rows of version 1.0.0.
        'src/features/previous/queries/rows.ts',
        // Which repositories have activity: `list-projects.ts` asks the policy for whom and from when.
        'src/features/repositories/queries/projects.ts',
      ],
    )
  },
)

t.test('only code that checks the privacy policy reads per-person days', async (t) => {
  const sources = await readSources()
  const readers = [...pathsWith(sources, OWN_QUERIES).filter(isActivity), ...pathsWith(sources, PUBLISHED)]
  t.same([...new Set(readers)].sort(), [
    // Uses only the snapshot. It reads the caller's own agent time.
    'src/features/dashboard/add-agent-minutes.ts',
    // Imports only types.
    'src/features/dashboard/policies.ts',
    'src/features/dashboard/read-dashboard-csv.ts',
    'src/features/dashboard/read-dashboard.ts',
    'src/features/dashboard/read-heatmap.ts',
    // One snapshot for the caller's own time.
    'src/features/dashboard/read-own-time.ts',
    'src/features/dashboard/read-published.ts',
    'src/features/dashboard/read-recorded.ts',
    // For other features.
    'src/features/rollups/index.ts',
    'src/features/rollups/publish-weeks.ts',
  ])
  t.match(
    sources.get('src/features/dashboard/policies.ts'),
    /^import type \{ NamedDays \} from '\.\/queries\/sources\.js'$/m,
  )
})

t.test('only the policy decides which days are shown by name', async (t) => {
  t.same(pathsWith(await readSources(), /as (unknown as )?NamedDays/), ['src/features/dashboard/policies.ts'])
})

t.test('a new activity query is detected, however it’s written', async (t) => {
  for (const text of [
    'const READ = `select sum(minutes) from member_days where workspace_id = $1::uuid`',
    'const READ = `select 1 from members m join daily_activity a using (user_id)`',
    'const READ = `select * from report_member_days`',
  ])
    t.same(pathsWith(new Map([['src/new.ts', text]]), TABLES), ['src/new.ts'], text)
})
